/** Many turns that wait, and an outage in the middle of their answers: before, between and after the commits. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { pick } from '../operations/chaos-plan.ts';
import type { Installation, Running } from '../operations/installation.ts';
import type { Response } from '../service/asking.ts';
import type { Reply } from '../service/user.ts';
import {
  accept,
  answer,
  begin,
  calling,
  cancel,
  createRound,
  decline,
  isDefinite,
  report,
  seed,
  sendMessage,
} from './round.ts';
import type { Round } from './round.ts';
import { brokenIn } from './invariants.ts';
import type { DeployedSite } from './site.ts';

export interface Outage {
  name: string;
  /** Resolves when everything runs again. */
  happen(at: Installation): Promise<unknown>;
}

/** Longer than a workflow task, and than the heartbeats of an activity, may take. */
const frozenMs = 15_000;
const awayMs = 5_000;
/** The answers are sent within this time; the outage begins after a third of it. */
const answeringMs = 3_000;
const endsWithinMs = 240_000;
const beginsAtOnce = 20;
/** Each reads with connections of the test's own. */
const checksAtOnce = 20;

const restartWorkers = (at: Installation) =>
  Promise.all([0, 1].map((place) => at.startWorker(place, { before: 'SIGKILL' })));
const restartApis = (at: Installation) =>
  Promise.all(([0, 1] as const).map((place) => at.startApi(place, { before: 'SIGKILL' })));

async function freeze(workers: Running[], ms: number): Promise<void> {
  for (const { pid } of workers) process.kill(pid, 'SIGSTOP');
  await sleep(ms);
  for (const { pid } of workers) process.kill(pid, 'SIGCONT');
}

export const outages: Outage[] = [
  { name: 'one of two workers stands still', happen: ({ workers }) => freeze(workers.slice(0, 1), frozenMs) },
  { name: 'all workers stand still', happen: ({ workers }) => freeze(workers, awayMs) },
  { name: 'all workers are killed', happen: restartWorkers },
  { name: 'Temporal is away', happen: ({ temporal }) => temporal.away(awayMs) },
  { name: 'the database crashes', happen: ({ database }) => database.away(awayMs, 'crashes') },
  {
    name: 'the processes that have committed die before they can signal',
    async happen(at) {
      const back = at.temporal.away(awayMs);
      await sleep(answeringMs);
      await Promise.all([back, restartApis(at)]);
    },
  },
];

const textOf: ((city: string) => string)[] = [
  (city) => calling('desk__book', { city }),
  (city) => calling('approved__visit', { city }),
  (city) => calling('stay', { city }),
  (city) => calling('agent__helper', { task: calling('desk__book', { city }) }),
];

/** Sends it again until the reply is definite, as clients do. */
async function untilDefinite(send: () => Promise<Reply>): Promise<Reply> {
  for (const deadline = Date.now() + endsWithinMs; ; await sleep(300)) {
    const reply = await send().catch((error: unknown) => ({ status: 0, body: { error: String(error) } }));
    if (isDefinite(reply) || Date.now() > deadline) return reply;
  }
}

interface Waiting {
  round: Round;
  conversation: string;
  elicitationId: string;
  response: Response;
}

async function wait(site: DeployedSite, name: string, index: number): Promise<Waiting> {
  const round = createRound(site, name, index);
  const text = textOf[index % textOf.length]?.(round.city) ?? '';
  const turn = await begin(round, text, 'assistant');
  const { elicitationId, context } = await turn.question(0);
  turn.stream.close();
  const isApproval = context['trigger'] === 'approval';
  return {
    round,
    conversation: turn.conversation,
    elicitationId,
    response: isApproval ? { action: 'accept' } : accept,
  };
}

/** An answer, and what else its person may do at about the same time. */
async function act({ round, conversation, elicitationId, response }: Waiting): Promise<void> {
  const { random } = round;
  await sleep(random() * answeringMs);
  const give = (one: Response) => untilDefinite(() => answer(round, { conversation }, elicitationId, one));
  const id = crypto.randomUUID();
  const rivals: (() => Promise<unknown>)[] = [
    async () => undefined,
    () => give(decline),
    () => untilDefinite(() => cancel(round, { conversation })),
    () => untilDefinite(() => sendMessage(round, { conversation }, id)),
  ];
  const rival = pick(random, rivals);
  await Promise.all([give(response), sleep(random() * 30).then(rival)]);
}

export async function answerDuring(
  site: DeployedSite,
  { name, happen }: Outage,
  count: number,
): Promise<void> {
  const waiting: Waiting[] = [];
  const indexes = Array.from({ length: count }, (_, index) => index);
  while (indexes.length > 0)
    waiting.push(
      ...(await Promise.all(indexes.splice(0, beginsAtOnce).map((index) => wait(site, name, index)))),
    );
  await Promise.all([...waiting.map(act), sleep(answeringMs / 3).then(() => happen(site.at))]);
  const broken: string[] = [];
  const ends = new Map<string, number>();
  const check = async ({ round }: Waiting) => {
    broken.push(...(await brokenIn(round, endsWithinMs)));
    ends.set(round.ended, (ends.get(round.ended) ?? 0) + 1);
  };
  while (waiting.length > 0) await Promise.all(waiting.splice(0, checksAtOnce).map(check));
  report(name, ends);
  expect(broken, `RACE_SEED=${seed} repeats it`).toEqual([]);
}
