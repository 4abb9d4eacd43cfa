/** Three booking servers, one of each kind, and turns that book cities there. */
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import type { Client } from '@interlude-ai/client/client.ts';
import type { ElicitationReceipt, ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { kinds, startBookingServer } from '../servers/booking-server.ts';
import type { BookingServer, Kind } from '../servers/booking-server.ts';
import { callsIn, expectOneStory, failuresIn, questionsIn, say, textOf } from './watch.ts';
import type { Watched } from './watch.ts';

export type Desks = Record<Kind, BookingServer>;

/** An agent that has all three, as `rounds`, `streams` and `held`. */
const bookingAgents = fileURLToPath(new URL('../fixtures/booking-agents.yaml', import.meta.url));

export async function startDesks(): Promise<Desks> {
  const [rounds, streams, held] = await Promise.all(kinds.map((kind) => startBookingServer(kind)));
  if (!rounds || !streams || !held) throw new Error('there are three kinds');
  return { rounds, streams, held };
}

export function envOf(urls: Record<Kind, string>): Record<string, string> {
  return {
    INTERLUDE_CONFIG: bookingAgents,
    ROUNDS_URL: urls.rounds,
    STREAMS_URL: urls.streams,
    HELD_URL: urls.held,
  };
}

export const urlsOf = ({ rounds, streams, held }: Desks): Record<Kind, string> => ({
  rounds: rounds.config.url,
  streams: streams.config.url,
  held: held.config.url,
});

export interface Booking {
  kind: Kind;
  tool: 'book' | 'plan';
  city: string;
  turn: Watched;
  /** The question, once it is there. */
  card(): Promise<ElicitationRequest>;
  answer(nights: number): Promise<ElicitationReceipt>;
  end(): Promise<End>;
}

/** What the person saw, and the tool errors that the model got. */
export interface End {
  status: string;
  said: string;
  failures: string[];
  calls: string[];
  cards: { status: string; because?: unknown }[];
}

/** `book` must not be repeated, `plan` may be. */
export function begin(client: Client, kind: Kind, tool: Booking['tool'], city: string): Booking {
  const turn = say(client, `call ${kind}__${tool} ${JSON.stringify({ city })}`);
  return {
    kind,
    tool,
    city,
    turn,
    card: () => card(turn, `How many nights in ${city}?`),
    answer: async (nights) => answer(client, turn, await card(turn, `How many nights in ${city}?`), nights),
    end: () => endOf(turn),
  };
}

export async function card(turn: Watched, message: string, n = 0): Promise<ElicitationRequest> {
  const matching = (view: Parameters<typeof questionsIn>[0]) =>
    questionsIn(view).filter((question) => question.message === message);
  const found = matching(await turn.until((view) => matching(view).length > n))[n];
  if (!found) throw new Error('it was there');
  return found;
}

export function answer(
  client: Client,
  turn: Watched,
  { elicitationId }: ElicitationRequest,
  nights: number,
): Promise<ElicitationReceipt> {
  const { conversationId } = turn.message;
  return client.answer({ conversationId, elicitationId, action: 'accept', content: { nights } });
}

export async function endOf(turn: Watched): Promise<End> {
  const view = await turn.end();
  return {
    status: view.status,
    said: textOf(view),
    failures: failuresIn(view),
    calls: callsIn(view),
    cards: questionsIn(view).map(({ status, because }) => ({
      status,
      ...(because !== undefined && { because }),
    })),
  };
}

/** What the server has really done about this city. */
export function doneFor(desk: Pick<BookingServer, 'done'>, city: string): string[] {
  return desk.done.filter((words) => words.includes(city));
}

/** Counted by the servers themselves; whose process it was does not matter. */
type Counted = Record<Kind, Pick<BookingServer, 'done'>>;

/** One card, one answer, and what was asked for; nothing else was done about this city. */
export async function expectBooked(
  desks: Counted,
  { kind, tool, city, turn, end }: Booking,
  nights: number,
): Promise<void> {
  const words = `${city} for ${nights}`;
  expect(await end()).toEqual({
    status: 'completed',
    said: `${tool}: ${words}`,
    failures: [],
    calls: [`${kind}__${tool}: done`],
    cards: [{ status: 'accept' }],
  });
  expectOneStory(turn);
  expect(new Set(doneFor(desks[kind], city))).toEqual(new Set([`${tool} ${words}`]));
}

/** One card with this end, and a model that was told that the outcome is unknown. */
export async function expectUnknown(
  desks: Counted,
  { kind, tool, city, turn, end }: Booking,
  asked: End['cards'][number],
  done: string[],
): Promise<void> {
  expect(await end()).toEqual({
    status: 'completed',
    said: expect.any(String),
    failures: [expect.stringContaining('unknown whether the action took place')],
    calls: [`${kind}__${tool}: failed`],
    cards: [asked],
  });
  expectOneStory(turn);
  expect(doneFor(desks[kind], city)).toEqual(done);
}

/** Longer than an idle connection is kept. */
const afterwardsMs = 15_000;

/** No socket, and no session in which a call could still wait. */
export async function expectNothingHeld(desks: Desks): Promise<void> {
  await vi.waitFor(
    async () => {
      const left = await Promise.all(
        kinds.map(async (kind) => ({
          kind,
          connections: await desks[kind].connections(),
          sessions: [...desks[kind].sessions].map((id) => said(desks[kind], id)),
        })),
      );
      expect(left).toEqual(kinds.map((kind) => ({ kind, connections: 0, sessions: [] })));
    },
    { timeout: afterwardsMs, interval: 200 },
  );
}

/** What came in this session, for when it is left. */
function said({ requests }: BookingServer, session: string): string[] {
  return requests
    .filter(({ headers }) => headers['mcp-session-id'] === session)
    .map(({ http, body }) => `${http} ${JSON.stringify(body ?? '')}`);
}
