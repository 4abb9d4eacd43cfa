/** Turns that wait for their person, one of every kind: how each is begun, answered, and what it has done by its end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { doneFor } from '../e2e/bookings.ts';
import { expectOneStory, questionsIn, say, textOf } from '../e2e/watch.ts';
import type { Watched } from '../e2e/watch.ts';
import { connectAccount } from '../service/connect-account.ts';
import { createCaller } from '../service/user.ts';
import type { Reply } from '../service/user.ts';
import type { Installation } from './installation.ts';

/** Of turns that a chat client begins. */
export const chatKinds = ['account', 'form', 'round', 'held', 'approval', 'tool', 'delegate'] as const;
export type ChatKind = (typeof chatKinds)[number];
export type Kind = ChatKind | 'slack' | 'a2a' | 'mcp' | 'openai' | 'ag-ui';
export type Action = 'accept' | 'decline';

export interface WaitingTurn {
  kind: Kind;
  /** Nothing else is done about this city. */
  city: string;
  /** Resolves once its person has been asked. */
  asked(): Promise<unknown>;
  /** As its person would, at one of the APIs; accepts unless another action is given. */
  answer(place?: 0 | 1, action?: Action): Promise<Reply>;
  ended(): Promise<Ended>;
}

export interface ChatTurn extends WaitingTurn {
  turn: Watched;
  /** A reader comes back, at this API. */
  rejoin(place: 0 | 1): void;
}

export interface Ended {
  status: string;
  said: string;
  questions: string[];
  /** What was done about the city, wherever. */
  done: string[];
}

export const nights = 3;
const booking = (city: string) => `${city} for ${nights}`;
const call = (tool: string, city: string) => `call ${tool} ${JSON.stringify({ city })}`;

interface KindOfTurn {
  text(city: string): string;
  /** What its user reads after `answer`. */
  said(city: string): string;
  /** What is done about the city then, once. */
  deed(city: string): string;
  done(at: Installation, city: string): string[];
  content?: Record<string, unknown>;
}

const round: KindOfTurn = {
  text: (city) => call('rounds__book', city),
  said: (city) => `book: ${booking(city)}`,
  deed: (city) => `book ${booking(city)}`,
  done: ({ desks }, city) => doneFor(desks.rounds, ` ${city} `),
  content: { nights },
};

const kindsOfTurns: Record<Kind, KindOfTurn> = {
  account: {
    text: (city) => `create an issue called ${city}`,
    said: () => 'Created.',
    deed: (city) => city,
    done: ({ deployment }, city) =>
      deployment.tracker.issues
        .list({ state: 'all', assignee: null })
        .flatMap(({ title }) => (title === city ? city : [])),
  },
  // A server of the old era whose stream can be taken up again.
  form: {
    ...round,
    text: (city) => call('streams__book', city),
    done: ({ desks }, city) => doneFor(desks.streams, ` ${city} `),
  },
  round,
  // Its server holds the connection; when that is lost, it may be called again.
  held: {
    ...round,
    text: (city) => call('held__plan', city),
    said: (city) => `plan: ${booking(city)}`,
    deed: (city) => `plan ${booking(city)}`,
    done: ({ desks }, city) => doneFor(desks.held, ` ${city} `),
  },
  approval: {
    text: (city) => call('plain__visit', city),
    said: (city) => `visit: ${city}`,
    deed: (city) => city,
    done: ({ plain }, city) => plain.done.filter((done) => done === city),
  },
  // In TypeScript.
  tool: {
    text: (city) => call('stay', city),
    said: (city) => `stay: ${booking(city)}`,
    deed: booking,
    done: ({ booked }, city) => booked.filter((done) => done === booking(city)),
    content: { nights },
  },
  delegate: {
    ...round,
    text: (city) => `ask the researcher to ${round.text(city)}`,
    said: (city) => `I was told: ${round.said(city)}`,
  },
  slack: round,
  a2a: round,
  mcp: round,
  openai: round,
  'ag-ui': round,
};

export const textFor = (kind: Kind, city: string) => kindsOfTurns[kind].text(city);
export const doneAbout = (at: Installation, { kind, city }: Pick<WaitingTurn, 'kind' | 'city'>) =>
  kindsOfTurns[kind].done(at, city);

interface BeginOptions {
  place?: 0 | 1;
  /** A new one unless given. */
  conversationId?: string;
}

export function beginTurn(
  at: Installation,
  kind: ChatKind,
  city: string,
  { place = 0, conversationId }: BeginOptions = {},
): ChatTurn {
  const { text, content } = kindsOfTurns[kind];
  const turn = say(at.client(place), text(city), conversationId === undefined ? {} : { conversationId });
  const readers: Watched[] = [];
  const asked = async () => {
    // Longer than any fault: the client goes on sending its message, and a second message would supersede the first.
    const view = await turn.until(
      ({ parts }) => parts.some(({ kind: part }) => part === 'elicitation'),
      300_000,
    );
    const [found] = questionsIn(view);
    if (!found) throw new Error('it was there');
    return found;
  };
  // Who follows at an API that is gone comes back at another one.
  const follow = (to: 0 | 1) => say(at.client(to), text(city), turn.message);
  return {
    kind,
    city,
    turn,
    asked,
    rejoin: (to) => void readers.push(follow(to)),
    async answer(to = 0, action = 'accept') {
      const question = await asked();
      if (question.mode === 'url') await connectOnce(at, question.url);
      const { elicitationId } = question;
      return answerElicitation(at, to, { ...turn.message, elicitationId, action }, content);
    },
    async ended() {
      const view = await turn.end().catch(() => follow(1).end());
      for (const reader of readers) {
        const seen = await reader.end().catch(() => follow(0).end());
        expect(textOf(seen), 'what a reader sees who came back').toBe(textOf(view));
        expectOneStory(reader);
      }
      expectOneStory(turn);
      const questions = questionsIn(view).map(({ status }) => status);
      const said = textOf(view) + (view.errorText ?? '');
      return { status: view.status, said, questions, done: doneAbout(at, { kind, city }) };
    },
  };
}

/** Her account is that of every turn that asks for it. */
const connecting = new WeakMap<Installation, Promise<unknown>>();

async function connectOnce(at: Installation, url: string): Promise<void> {
  const connected = connecting.get(at) ?? connectAccount('alice', url);
  connecting.set(at, connected);
  try {
    await connected;
  } catch (error) {
    connecting.delete(at);
    throw error;
  }
}

/** Over REST, as alice. */
export async function answerElicitation(
  at: Installation,
  place: 0 | 1,
  question: { conversationId: string; elicitationId: string; action: Action },
  content?: Record<string, unknown>,
): Promise<Reply> {
  const { conversationId, elicitationId, action } = question;
  const caller = createCaller(at.apiUrls[place], await at.deployment.token('alice'));
  const more = action === 'accept' && content ? { content } : {};
  return caller.answer({ conversationId, elicitationId, action, ...more });
}

/** How it ends when nothing was lost: asked once, answered, done once. */
export function completed({ kind, city }: WaitingTurn): Ended {
  const { said, deed } = kindsOfTurns[kind];
  return { status: 'completed', said: said(city), questions: ['accept'], done: [deed(city)] };
}

/** Resolves after this time; rejects as soon as one of them has ended. */
export async function expectOpen(turns: ChatTurn[], forMs: number): Promise<void> {
  for (const until = performance.now() + forMs; performance.now() < until; await sleep(250)) {
    const ended = turns.filter(({ turn }) => (turn.views.at(-1)?.status ?? 'running') !== 'running');
    expect(ended.map(({ city, turn }) => `${city}: ${turn.views.at(-1)?.status}`)).toEqual([]);
  }
}
