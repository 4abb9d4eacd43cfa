/** One round of a race: what it has begun, and what its person and their programs were answered. */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { asTurn } from '../asking/asking-service.ts';
import type { AskedTurn } from '../asking/asking-service.ts';
import { pick, randomFrom } from '../operations/chaos-plan.ts';
import type { Random } from '../operations/chaos-plan.ts';
import { respond } from '../service/asking.ts';
import type { Response } from '../service/asking.ts';
import type { ChatStream } from '../service/chat-stream.ts';
import type { Caller, Reply } from '../service/user.ts';
import { brokenIn } from './invariants.ts';
import type { Site } from './site.ts';

/** `RACE_SEED` repeats the delays of a run; `RACE_ROUNDS` replaces the number of rounds. */
export const seed = Number(process.env['RACE_SEED'] ?? randomInt(2 ** 31));
export const roundsOr = (usual: number): number => Number(process.env['RACE_ROUNDS'] ?? usual);

const beginsWithinMs = 60_000;

export interface Receipt {
  elicitationId: string;
  action: string;
  reply: Reply;
}

export interface Round {
  site: Site;
  /** Names the round, and the city that it books in. */
  city: string;
  random: Random;
  conversations: Set<string>;
  receipts: Receipt[];
  /** What this race alone can tell is wrong. */
  problems: string[];
  /** How the questions and the turns ended. */
  ended: string;
}

export type Race = (round: Round) => Promise<unknown>;

export function createRound(site: Site, name: string, index: number): Round {
  // Other delays for each race and each round.
  const own = Buffer.from(name).reduce((sum, byte) => Math.imul(sum, 31) + byte, index);
  return {
    site,
    city: `${name.replaceAll(/\W+/g, '-')}-${index}`,
    random: randomFrom(seed ^ own),
    conversations: new Set(),
    receipts: [],
    problems: [],
    ended: '',
  };
}

export interface RunOptions {
  rounds: number;
  inFlight: number;
}

/** Runs the rounds, and expects that every invariant holds after each of them. */
export async function runRounds(
  site: Site,
  name: string,
  race: Race,
  { rounds, inFlight }: RunOptions,
): Promise<void> {
  const broken: string[] = [];
  const ends = new Map<string, number>();
  let next = 0;
  const runNext = async () => {
    while (next < rounds) {
      const round = createRound(site, name, next++);
      try {
        await race(round);
        broken.push(...(await brokenIn(round)));
      } catch (error) {
        broken.push(`${round.city}: ${String(error)}`);
      }
      ends.set(round.ended, (ends.get(round.ended) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, runNext));
  report(name, ends);
  expect(broken, `RACE_SEED=${seed} repeats it`).toEqual([]);
}

export function report(name: string, ends: ReadonlyMap<string, number>): void {
  const counts = [...ends].toSorted(([, one], [, other]) => other - one);
  const words = counts.map(([end, count]) => `${count}× ${end}`).join('; ');
  process.stdout.write(`RACE_SEED=${seed} ${name}: ${words}\n`);
}

/** From 0 to `ms`. */
export function pause({ random }: Round, ms: number): Promise<void> {
  return sleep(random() * ms);
}

/** The same user at one of the APIs. */
export function anyCaller({ random, site: { callers } }: Round): Caller {
  return pick(random, callers);
}

export async function begin(
  round: Round,
  text: string,
  agentId: string,
  conversation: string = crypto.randomUUID(),
): Promise<AskedTurn> {
  round.conversations.add(conversation);
  const messageId = crypto.randomUUID();
  // As clients do on a busy machine: the same message again, which joins the turn if there is one.
  const send = async (): Promise<ChatStream> => {
    for (const deadline = Date.now() + beginsWithinMs; ; await sleep(300)) {
      try {
        return await anyCaller(round).chat(text, { conversation, agentId, messageId });
      } catch (error) {
        if (!String(error).includes('answered 503') || Date.now() > deadline) throw error;
      }
    }
  };
  return asTurn(anyCaller(round), conversation, send);
}

/** `call desk__book {"city":"…"}` */
export function calling(tool: string, input: object): string {
  return `call ${tool} ${JSON.stringify(input)}`;
}

export const accept: Response = { action: 'accept', content: { nights: 3 } };
export const decline: Response = { action: 'decline' };

/** Otherwise it says nothing of the question, and the client sends the same again. */
export function isDefinite({ status }: Reply): boolean {
  return status > 0 && status < 500 && status !== 429;
}

export async function answer(
  round: Round,
  { conversation }: Pick<AskedTurn, 'conversation'>,
  elicitationId: string,
  response: Response,
): Promise<Reply> {
  const reply = await respond(anyCaller(round), conversation, { elicitationId }, response);
  if (isDefinite(reply)) round.receipts.push({ elicitationId, action: response.action, reply });
  return reply;
}

export async function cancel(
  round: Round,
  { conversation }: Pick<AskedTurn, 'conversation'>,
): Promise<Reply> {
  return anyCaller(round).cancel(conversation);
}

/** A new message in the conversation; resolves when it is refused, or its turn has ended. */
export function sendMessage(
  round: Round,
  { conversation }: Pick<AskedTurn, 'conversation'>,
  id: string = crypto.randomUUID(),
): Promise<Reply> {
  const message = { id, role: 'user', parts: [{ type: 'text', text: 'answer exactly: hello' }] };
  const body = { id: conversation, messages: [message], stream: false };
  return anyCaller(round).request('POST', '/run/api/chat', body);
}
