/** `book_trip`: one form with a field of every kind. */
import { randomUUID } from 'node:crypto';
import { inputRequired } from '@modelcontextprotocol/server';
import type { CallToolResult, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import { defineForm } from './form.ts';
import { notDone, said } from './result.ts';
import type { Rounds } from './rounds.ts';
import type { TravelStore, TripDetails } from './store.ts';
import { euros, inOneLine } from './wording.ts';

const form = defineForm<TripDetails>({
  type: 'object',
  properties: {
    traveller: {
      type: 'string',
      title: 'Traveller',
      description: 'First and last name, as in the passport',
      minLength: 3,
      maxLength: 60,
    },
    email: {
      type: 'string',
      format: 'email',
      title: 'Email',
      description: 'The confirmation and the tickets go there',
    },
    departure: { type: 'string', format: 'date', title: 'Day of departure' },
    pickUp: {
      type: 'string',
      format: 'date-time',
      title: 'Taxi',
      description: 'When it picks you up: on the day of departure or the day before',
    },
    nights: { type: 'integer', title: 'Nights', minimum: 1, maximum: 30, default: 3 },
    budget: {
      type: 'number',
      title: 'Budget',
      description: 'In euros, for everything; a tenth of it is the deposit',
      minimum: 100,
      maximum: 20_000,
    },
    windowSeat: { type: 'boolean', title: 'Window seat', default: true },
    class: {
      type: 'string',
      title: 'Class',
      oneOf: [
        { const: 'economy', title: 'Economy' },
        { const: 'premium', title: 'Premium economy' },
        { const: 'business', title: 'Business' },
      ],
      default: 'economy',
    },
    meals: {
      type: 'string',
      title: 'Meals on board',
      enum: ['standard', 'vegetarian', 'vegan', 'none'],
      default: 'standard',
    },
    extras: {
      type: 'array',
      title: 'Extras',
      description: 'Included in the price',
      items: {
        anyOf: [
          { const: 'suitcase', title: 'A second suitcase' },
          { const: 'lounge', title: 'Airport lounge' },
          { const: 'insurance', title: 'Cancellation insurance' },
          { const: 'train', title: 'Train to the airport' },
        ],
      },
      maxItems: 2,
    },
    loyaltyNumber: {
      type: 'string',
      title: 'Loyalty number',
      description: 'Of the airline, where you have one',
      minLength: 6,
      maxLength: 20,
    },
  },
  required: ['traveller', 'email', 'departure', 'pickUp', 'nights', 'budget', 'class', 'meals'],
});

/** A form that is still wrong after that many corrections is not going to be right. */
const mostAttempts = 5;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

interface Booking {
  id: string;
  attempt: number;
}

export async function bookTrip(
  store: TravelStore,
  rounds: Rounds,
  destination: string,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const call = { tool: 'book_trip', about: destination };
  const booking = rounds.read<Booking>(call, context) ?? { id: randomUUID(), attempt: 0 };
  const filled = await form.read(context, 'trip');

  const ask = async (message: string, entered = {}): Promise<InputRequiredResult> =>
    inputRequired({
      inputRequests: { trip: form.ask(message, entered) },
      requestState: await rounds.write<Booking>(call, { id: booking.id, attempt: booking.attempt + 1 }),
    });
  const askAgain = (problems: string[], entered: object) =>
    booking.attempt < mostAttempts
      ? ask(`Please check your trip to ${destination}: ${problems.join('; ')}.`, entered)
      : notDone(
          `The details of the trip to ${destination} were wrong ${mostAttempts} times. Nothing was booked.`,
        );

  switch (filled.kind) {
    case 'unasked':
      return ask(`Your trip to ${destination}: what should we book?`);
    case 'declined':
      return said(
        'declined',
        `The user decided against booking a trip to ${destination}. Nothing was booked.`,
      );
    case 'dismissed':
      return said(
        'dismissed',
        `The user closed the form for the trip to ${destination} without deciding. Nothing was booked; it can be asked for again.`,
      );
    case 'wrong':
      return askAgain(filled.problems, filled.content);
    case 'filled': {
      const problems = conflictsIn(filled.content);
      if (problems.length > 0) return askAgain(problems, filled.content);
      const trip = store.book(booking.id, destination, filled.content);
      return said(
        'booked',
        `Booked ${inOneLine(trip)}\nA deposit of ${euros(trip.deposit.euros)} is due; pay_deposit takes it.`,
        { trip: trip.id },
      );
    }
    default:
      return filled satisfies never;
  }
}

/** What a schema cannot say. */
function conflictsIn({ departure, pickUp }: TripDetails): string[] {
  // Twelve hours behind UTC it is still that day when it is long over elsewhere.
  const isOver = Date.parse(departure) + dayMs + 12 * hourMs < Date.now();
  if (isOver) return ['the day of departure is over'];
  const dayBefore = new Date(Date.parse(departure) - dayMs).toISOString().slice(0, 10);
  const isFitting = [departure, dayBefore].includes(pickUp.slice(0, 10));
  return isFitting ? [] : [`the taxi has to come on ${departure} or the day before`];
}
