/** Turns that wait for their person, one of every kind: how each is begun, answered, and what it has done by its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { ElicitationRequest } from '../../src/contract/elicitation.ts';
import { doneFor } from '../e2e/bookings.ts';
import { questionsIn, say, textOf } from '../e2e/watch.ts';
import type { Watched } from '../e2e/watch.ts';
import { connectAccount } from '../service/connect-account.ts';
import { createCaller } from '../service/user.ts';
import type { Reply } from '../service/user.ts';
import type { Installation } from './installation.ts';

/** Of turns that are begun by a chat client. */
export const chatKinds = ['account', 'form', 'round', 'held', 'approval', 'tool', 'delegate'] as const;
export type ChatKind = (typeof chatKinds)[number];

export interface WaitingTurn {
  kind: ChatKind;
  /** Nothing else is done about this city. */
  city: string;
  turn: Watched;
  question(): Promise<ElicitationRequest>;
  /** As its person would, at one of the APIs. */
  answer(place?: 0 | 1): Promise<Reply>;
  end(): Promise<Ended>;
}

export interface Ended {
  status: string;
  said: string;
  questions: string[];
  /** What was done about the city, wherever. */
  done: string[];
}

interface KindOfTurn {
  text(city: string): string;
  /** With the answer of `answer`. */
  said(city: string): string;
  /** What is done about the city then, once. */
  deed(city: string): string;
  done(at: Installation, city: string): string[];
  content: Record<string, unknown> | undefined;
}

const nights = 3;
const booking = (city: string) => `${city} for ${nights}`;
const call = (tool: string, city: string) => `call ${tool} ${JSON.stringify({ city })}`;

const kindsOfTurns: Record<ChatKind, KindOfTurn> = {
  account: {
    text: (city) => `create an issue called ${city}`,
    said: () => 'Created.',
    deed: (city) => city,
    done: ({ deployment }, city) =>
      deployment.tracker.issues
        .list({ state: 'all', assignee: null })
        .flatMap(({ title }) => (title === city ? city : [])),
    content: undefined,
  },
  // A server of the old era whose stream can be taken up again.
  form: {
    text: (city) => call('streams__book', city),
    said: (city) => `book: ${booking(city)}`,
    deed: (city) => `book ${booking(city)}`,
    done: ({ desks }, city) => doneFor(desks.streams, city),
    content: { nights },
  },
  round: {
    text: (city) => call('rounds__book', city),
    said: (city) => `book: ${booking(city)}`,
    deed: (city) => `book ${booking(city)}`,
    done: ({ desks }, city) => doneFor(desks.rounds, city),
    content: { nights },
  },
  // Its server holds the connection; when that is lost, it may be called again.
  held: {
    text: (city) => call('held__plan', city),
    said: (city) => `plan: ${booking(city)}`,
    deed: (city) => `plan ${booking(city)}`,
    done: ({ desks }, city) => doneFor(desks.held, city),
    content: { nights },
  },
  approval: {
    text: (city) => call('plain__visit', city),
    said: (city) => `visit: ${city}`,
    deed: (city) => city,
    done: ({ plain }, city) => plain.done.filter((done) => done === city),
    content: undefined,
  },
  tool: {
    text: (city) => call('stay', city),
    said: (city) => `stay: ${booking(city)}`,
    deed: (city) => booking(city),
    done: ({ booked }, city) => booked.filter((done) => done === booking(city)),
    content: { nights },
  },
  delegate: {
    text: (city) => `ask the researcher to ${call('rounds__book', city)}`,
    said: (city) => `I was told: book: ${booking(city)}`,
    deed: (city) => `book ${booking(city)}`,
    done: ({ desks }, city) => doneFor(desks.rounds, city),
    content: { nights },
  },
};

export function beginTurn(
  at: Installation,
  kind: ChatKind,
  city: string,
  client: Client = at.client(),
): WaitingTurn {
  const { text, done, content } = kindsOfTurns[kind];
  const turn = say(client, text(city));
  const question = async () => {
    const [found] = questionsIn(await turn.until((view) => questionsIn(view).length > 0));
    if (!found) throw new Error('it was there');
    return found;
  };
  return {
    kind,
    city,
    turn,
    question,
    async answer(place = 0) {
      const asked = await question();
      if (asked.mode === 'url') await connectAccount('alice', asked.url);
      const caller = createCaller(at.apiUrls[place], await at.deployment.token('alice'));
      const { conversationId } = turn.message;
      const { elicitationId } = asked;
      return caller.answer({ conversationId, elicitationId, action: 'accept', ...(content && { content }) });
    },
    async end() {
      const view = await turn.end();
      const questions = questionsIn(view).map(({ status }) => status);
      return { status: view.status, said: textOf(view), questions, done: done(at, city) };
    },
  };
}

/** How it ends when nothing was lost: asked once, answered, done once. */
export function completed({ kind, city }: WaitingTurn): Ended {
  const { said, deed } = kindsOfTurns[kind];
  return { status: 'completed', said: said(city), questions: ['accept'], done: [deed(city)] };
}

/** Resolves after this time; rejects as soon as one of them has ended. */
export async function expectOpen(turns: WaitingTurn[], forMs: number): Promise<void> {
  for (const until = performance.now() + forMs; performance.now() < until; await sleep(250)) {
    const ended = turns.filter(({ turn }) => (turn.views.at(-1)?.status ?? 'running') !== 'running');
    expect(ended.map(({ city, turn }) => `${city}: ${turn.views.at(-1)?.status}`)).toEqual([]);
  }
}
