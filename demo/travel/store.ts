/** What the travel desk has on its books: trips with their deposits, and offsites. Kept in one JSON file. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { openJsonFile } from '../tracker/json-file.ts';

/** What the traveller filled in. */
export interface TripDetails {
  traveller: string;
  email: string;
  departure: string;
  pickUp: string;
  nights: number;
  budget: number;
  class: string;
  meals: string;
  windowSeat?: boolean;
  extras?: string[];
  loyaltyNumber?: string;
}

export interface Trip extends TripDetails {
  id: string;
  destination: string;
  deposit: { euros: number; paidAt: string | null };
  /** Names the payment page; nobody can guess it. */
  payment: string;
}

export interface Offsite {
  id: string;
  city: string;
  start: string;
  people: string[];
  status: 'reserved' | 'draft';
}

export interface TravelStore {
  /** Signs what is handed to clients between two rounds of a call. */
  readonly stateKey: string;
  readonly trips: readonly Trip[];
  readonly offsites: readonly Offsite[];
  /** The same booking again is the same trip: an answer that arrives twice books once. */
  book(booking: string, destination: string, details: TripDetails): Trip;
  plan(booking: string, offsite: Omit<Offsite, 'id'>): Offsite;
  tripOf(payment: string): Trip | undefined;
  pay(trip: Trip): void;
  /** Resolves when it is paid, when the time is up or when the signal aborts: true when paid. */
  untilPaid(trip: Trip, withinMs: number, signal: AbortSignal): Promise<boolean>;
}

interface Books {
  stateKey: string;
  trips: Trip[];
  offsites: Offsite[];
  /** Which booking became which trip or offsite. */
  bookings: Record<string, string>;
}

const dayMs = 86_400_000;
/** The first number on fresh books. */
const firstNumber = 1001;

export function openTravelStore(dataDir: string): TravelStore {
  const file = openJsonFile<Books>(path.join(dataDir, 'travel.json'), freshBooks);
  const { stateKey, trips, offsites, bookings } = file.data;
  const waiting = new Set<() => void>();
  file.save();

  function enter<T extends { id: string }>(booking: string, list: T[], create: () => T): T {
    const known = list.find(({ id }) => id === bookings[booking]);
    if (known) return known;
    const entry = create();
    list.push(entry);
    bookings[booking] = entry.id;
    file.save();
    return entry;
  }

  return {
    stateKey,
    trips,
    offsites,
    book: (booking, destination, details) =>
      enter(booking, trips, () => newTrip(`T-${firstNumber + trips.length}`, destination, details)),
    plan: (booking, offsite) =>
      enter(booking, offsites, () => ({ ...offsite, id: `O-${firstNumber + offsites.length}` })),
    tripOf: (payment) => trips.find((trip) => trip.payment === payment),
    pay({ deposit }) {
      deposit.paidAt ??= new Date().toISOString();
      file.save();
      for (const look of waiting) look();
    },
    untilPaid: ({ deposit }, withinMs, signal) =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          waiting.delete(look);
          signal.removeEventListener('abort', end);
          resolve(deposit.paidAt !== null);
        };
        const look = () => deposit.paidAt !== null && end();
        const timer = setTimeout(end, withinMs);
        waiting.add(look);
        signal.addEventListener('abort', end);
        if (signal.aborted) end();
        else look();
      }),
  };
}

/** With one trip on them, so that there is a deposit to pay from the start. */
function freshBooks(): Books {
  const departure = new Date(Date.now() + 60 * dayMs).toISOString().slice(0, 10);
  const details: TripDetails = {
    traveller: 'Alice Adams',
    email: 'alice@example.com',
    departure,
    pickUp: `${departure}T06:30:00Z`,
    nights: 5,
    budget: 1_800,
    class: 'economy',
    meals: 'vegetarian',
    windowSeat: true,
  };
  return {
    stateKey: randomBytes(32).toString('base64url'),
    trips: [newTrip(`T-${firstNumber}`, 'Porto', details)],
    offsites: [],
    bookings: {},
  };
}

function newTrip(id: string, destination: string, details: TripDetails): Trip {
  return {
    id,
    destination,
    ...details,
    deposit: { euros: Math.ceil(details.budget / 10), paidAt: null },
    payment: randomBytes(12).toString('base64url'),
  };
}
