/** Working with the Travel Desk, which asks the user for whatever it has to know. */
import type { Conversation, Rule, ToolOutcome } from '../../src/models/scripted/script.ts';
import { toolRule } from '../../src/models/scripted/tool-rule.ts';
import { nameOf } from './tracker.ts';

export const travelAbility = [
  'Book a trip to Lisbon.',
  'Close #2, and book a trip to Lisbon.',
  'Plan an offsite.',
  'Pay the deposit.',
  'List my trips.',
];

const aTrip = /\b(?:book|arrange|organi[sz]e|reserve)\b.*\b(?:trip|journey|flight|travel|tickets?)\b/is;

const book = toolRule({
  when: /\b(?:book|arrange|organi[sz]e|reserve)\b.*\b(?:trip|journey|flight|travel|tickets?)\b.*?\bto (\p{L}[\p{L}' -]*?)(?=[^\p{L}' -]|\s+(?:for|on|in|from|next|with|please|tomorrow)\b|$)/isu,
  calls: ([, destination = '']) => [
    { tool: 'travel__book_trip', input: { destination: destination.trim() } },
  ],
  answer: ([outcome]) => booked(outcome),
});

/** Two servers at once: both of their questions are open together. */
export const closeAndBook = toolRule({
  when: /\bclose #?(\d+),? and book a trip to (\p{L}[\p{L}' -]*)/iu,
  calls: ([, id, destination = '']) => [
    { tool: 'tracker__close_issue', input: { id: Number(id) } },
    { tool: 'travel__book_trip', input: { destination: destination.trim() } },
  ],
  answer: ([closed, trip]) => `${nameOf(closed)} is closed. ${booked(trip)}`,
});

const bookWhere: Rule = ({ userText }) =>
  aTrip.test(userText) ? { say: 'Gladly. Where to? Say, for example: Book a trip to Lisbon.' } : null;

const offsite = toolRule({
  when: /\boff-?site\b/i,
  calls: () => [{ tool: 'travel__plan_offsite', input: {} }],
  answer: ([outcome]) => planned(outcome),
});

const list = { tool: 'travel__list_trips', input: {} };
const aDeposit = /\bdeposit\b|\bpay\b.*\b(?:trip|journey|T-\d+)\b/i;

/** Which trip is meant, the Travel Desk knows: the first step looks, the second pays. */
const pay: Rule = (conversation) => {
  if (!aDeposit.test(conversation.userText)) return null;
  const named = /\bT-\d+\b/i.exec(conversation.userText)?.[0].toUpperCase();
  if (named !== undefined) return payFor(named, conversation);
  const trips = conversation.outcomes.find(({ tool, ok }) => tool === list.tool && ok);
  if (!trips) return look(conversation);
  const due = tripsIn(trips).findLast(({ deposit }) => deposit !== 'deposit paid');
  return due ? payFor(due.id, conversation) : { say: 'All deposits are paid; there is nothing to do.' };
};

const look = toolRule({ when: aDeposit, calls: () => [list], answer: () => '' });

function payFor(trip: string, conversation: Conversation) {
  return toolRule({
    when: aDeposit,
    calls: () => [{ tool: 'travel__pay_deposit', input: { trip } }],
    answer: ([outcome]) => paid(outcome),
  })(conversation);
}

const listTrips = toolRule({
  when: /\b(?:trips?|journeys?|travels?)\b/i,
  calls: () => [list],
  answer: ([outcome]) => listed(outcome),
});

export const travelRules: Rule[] = [book, bookWhere, offsite, pay, listTrips];

/* ---- reading the Travel Desk --------------------------------------------------------------------------- */

function booked(outcome: ToolOutcome | undefined): string {
  const [trip] = tripsIn(outcome);
  if (!trip) return undone(outcome, 'booked');
  return `Your trip to **${trip.destination}** is booked: **${trip.id}**, ${trip.departure}, ${trip.nights}, for ${trip.traveller}.\n\nThere is a ${trip.deposit}; say “Pay the deposit” whenever you like.`;
}

function planned(outcome: ToolOutcome | undefined): string {
  const [, id, draft, what] =
    /^(O-\d+): (?:Reserved |(Kept as a draft).*?: )(.+?)\.(?=\n|$)/s.exec(outcome?.text ?? '') ?? [];
  if (id === undefined) return undone(outcome, 'reserved');
  return draft === undefined
    ? `The offsite is reserved: **${id}**, ${what}.`
    : `I kept the offsite as a draft, **${id}**: ${what}. Nothing is reserved.`;
}

function paid(outcome: ToolOutcome | undefined): string {
  const text = outcome?.text ?? '';
  const [, amount, trip, destination] = /deposit of (.+) for trip (T-\d+) to (.+) is paid/.exec(text) ?? [];
  if (amount !== undefined)
    return `Thank you: the deposit of **${amount}** for **${trip}** to ${destination} is paid.`;
  if (/not paid in time/.test(text))
    return 'The deposit has not arrived, so I stopped waiting. It is still due: say “Pay the deposit” to try again.';
  return `${undone(outcome, 'paid')} The deposit is still due.`;
}

/** A user who said no hears less about it than one who just closed the question. */
function undone(outcome: ToolOutcome | undefined, what: string): string {
  const { text = '' } = outcome ?? {};
  if (/\bnobody answered\b/.test(text))
    return `Nobody answered in time, so nothing was ${what}. Ask me again when it suits you.`;
  if (/\bdecided (?:against|not)\b/.test(text)) return `All right, nothing was ${what}.`;
  return /\bwithout deciding\b/.test(text)
    ? `The question was closed without an answer, so nothing was ${what}. Ask me again when it suits you.`
    : text;
}

interface Trip {
  id: string;
  destination: string;
  departure: string;
  nights: string;
  traveller: string;
  deposit: string;
}

/** The desk writes a trip as `T-1001 Porto, 2027-01-20, 5 nights, Alice Adams (deposit of 180 € due)`. */
function tripsIn(outcome: ToolOutcome | undefined): Trip[] {
  const lines =
    outcome?.text.matchAll(/\b(T-\d+) (.+), (\d{4}-\d\d-\d\d), (\d+ nights?), (.+) \((deposit.*?)\)$/gm) ??
    [];
  return [...lines].map(
    ([, id = '', destination = '', departure = '', nights = '', traveller = '', deposit = '']) => ({
      id,
      destination,
      departure,
      nights,
      traveller,
      deposit,
    }),
  );
}

function listed(outcome: ToolOutcome | undefined): string {
  const trips = tripsIn(outcome);
  if (trips.length === 0) return 'No trips are booked. Say, for example: Book a trip to Lisbon.';
  const lines = trips.map(
    ({ id, destination, departure, nights, traveller, deposit }) =>
      `- **${id}** ${destination}, ${departure}, ${nights}, ${traveller}: ${deposit}`,
  );
  const count = `**${trips.length} trip${trips.length === 1 ? '' : 's'}**`;
  return `The Travel Desk has ${count}:\n\n${lines.join('\n')}`;
}
