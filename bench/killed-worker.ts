/**
 * Measures how long turns wait for a worker that was killed with -9, and what short time-outs cost in a burst:
 * `node bench/killed-worker.ts --pairs 10s/6s,5s/5s --kills 3 --burst 300`. Each pair is a workflow task's time-out and the
 * sticky queue's. Two APIs and two workers on PostgreSQL. Nothing fails.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { WorkflowHandle } from '@temporalio/client';
import { startTemporalServer } from '../src/platform/development/temporal-server.ts';
import { createLogger } from '../src/platform/telemetry/logger.ts';
import { connectClient } from '../src/platform/temporal/connection.ts';
import { startPostgres } from '../test/setup/postgres-server.ts';
import { startDoubles } from './doubles/start-doubles.ts';
import { tenant } from './doubles/issuer.ts';
import { say } from './doubles/model.ts';
import { eachOf } from './each-of.ts';
import { percentile } from './report.ts';
import { setUp } from './setup.ts';
import type { BenchSetup } from './setup.ts';
import type { User } from './user.ts';
import { workflowOf } from './workflow-of.ts';

const { values: options } = parseArgs({
  options: {
    /** A workflow task's time-out and the sticky queue's; `own` for the service's. */
    pairs: { type: 'string', default: 'own/own' },
    kills: { type: 'string', default: '3' },
    /** Turns that start at each kill; as many others wait and are answered after it. */
    turns: { type: 'string', default: '100' },
    burst: { type: 'string', default: '300' },
  },
});
const kills = Number(options.kills);
const turns = Number(options.turns);
const burstOf = Number(options.burst);
/** Between two turns, or two answers. */
const everyMs = 40;
/** Numbers of Temporal's protocol: why a task timed out. */
const startToClose = 1;
const scheduleToStart = 2;
/** The event after a workflow's start, and the schedule and start of its first task. */
const firstTimeout = 4;

await using stack = new AsyncDisposableStack();
const dataDir = await mkdtemp(path.join(tmpdir(), 'interlude-killed-worker-'));
stack.defer(() => rm(dataDir, { recursive: true, force: true }));
const namespace = 'default';
const logger = createLogger({ level: 'error', human: true });
const temporal = await startTemporalServer({ temporal: { namespace, port: 0, uiPort: 0 }, dataDir, logger });
stack.defer(() => temporal.stop());
const { address } = temporal;
const { client, close } = connectClient({ address, namespace, apiKey: undefined, tls: false });
stack.defer(close);
const { model, mcp, issuer, asking } = await startDoubles(stack);
const postgres = stack.use(await startPostgres(process.env['DATABASE_URL']));

for (const pair of options.pairs.split(',')) {
  const [task = 'own', sticky = 'own'] = pair.split('/');
  await using setup = await setUp(
    {
      temporal: { address, namespace },
      model,
      mcp,
      issuer,
      asking,
      databaseUrl: await postgres.createDatabase(),
      shape: 'production',
      env: {
        ...(task !== 'own' && { BENCH_TASK_TIMEOUT: task }),
        ...(sticky !== 'own' && { BENCH_STICKY_TIMEOUT: sticky }),
      },
    },
    client,
    0,
  );
  print(`workflow task ${task}, sticky queue ${sticky}`);
  await eachOf(20, 5, async () => (await setup.newUser()).ask(say.briefly));
  if (burstOf > 0) await burst(setup);
  for (let kill = 0; kill < kills; kill++) {
    await killWhileStarting(setup);
    await setup.service.addWorker();
    await killWhileWaiting(setup);
    await setup.service.addWorker();
  }
}

/** Turns start at a steady rate, and a worker is killed in their middle. */
async function killWhileStarting({ service, newUser }: BenchSetup): Promise<void> {
  const users = await Promise.all(Array.from({ length: turns }, newUser));
  const running = users.map(async (user, index) => {
    await sleep(index * everyMs);
    const { conversation, firstText } = await user.chat(say.briefly);
    return { conversation, ms: firstText ?? NaN };
  });
  const killing = sleep((turns / 3) * everyMs).then(() => service.killWorker());
  const ended = await Promise.all(running);
  await killing;
  const ms = ended.map((one) => one.ms);
  await report('started while a worker is killed', { ms, turns: ended });
}

/** Turns wait for an account; a worker is killed, and all are answered at a steady rate. */
async function killWhileWaiting(setup: BenchSetup): Promise<void> {
  const { service } = setup;
  const waiting = await waitingTurns(setup, turns);
  await service.connectAccounts(waiting.map(({ user }) => user.name));
  await service.killWorker();
  const ms = await answerAll(setup, waiting, everyMs);
  await report('answered after a worker was killed', { ms, turns: waiting });
}

/** All are answered at once; both workers live. */
async function burst(setup: BenchSetup): Promise<void> {
  const waiting = await waitingTurns(setup, burstOf);
  await setup.service.connectAccounts(waiting.map(({ user }) => user.name));
  const ms = await answerAll(setup, waiting, 0);
  await report(`${burstOf} answered at once`, { ms, turns: waiting });
}

/** Milliseconds from each answer to the call of its tool, of the calls that were made. */
async function answerAll({ service }: BenchSetup, waiting: Waiting[], apartMs: number): Promise<number[]> {
  const ms: number[] = [];
  await Promise.all(
    waiting.map(async ({ user, ...question }, index) => {
      await sleep(index * apartMs);
      const answeredAt = performance.now();
      void mcp.arrival(user.name).then((at) => ms.push(at - answeredAt));
      await user.accept(question);
    }),
  );
  for (const { conversation } of waiting)
    while (await service.storage.turns.live({ tenant, conversation })) await sleep(50);
  return ms;
}

interface Waiting {
  user: User;
  conversation: string;
  question: string;
}

async function waitingTurns({ newUser }: BenchSetup, count: number): Promise<Waiting[]> {
  const waiting: Waiting[] = [];
  await eachOf(count, 10, async () => {
    const user = await newUser();
    const chat = await user.chat(say.callTool);
    await chat.leave();
    if (chat.question === null) throw new Error('a turn asked nothing');
    waiting.push({ user, conversation: chat.conversation, question: chat.question });
  });
  return waiting;
}

type Event = NonNullable<History['events']>[number];
type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

async function historiesOf(conversations: string[]): Promise<Event[][]> {
  const histories: Event[][] = [];
  await eachOf(conversations.length, 5, async (index) => {
    const workflow = await workflowOf(client, conversations[index] ?? '');
    const { events } = await workflow.fetchHistory();
    histories.push(events ?? []);
  });
  return histories;
}

interface Observed {
  ms: number[];
  turns: { conversation: string }[];
}

async function report(what: string, { ms, turns }: Observed): Promise<void> {
  const histories = await historiesOf(turns.map(({ conversation }) => conversation));
  const events = histories.flat();
  const timedOut = (timeoutType: number) =>
    events.filter((event) => event.workflowTaskTimedOutEventAttributes?.timeoutType === timeoutType);
  const counts = {
    'tasks not completed in time': timedOut(startToClose).length,
    'of them first tasks': timedOut(startToClose).filter(({ eventId }) => Number(eventId) === firstTimeout)
      .length,
    'and lost again': events.filter(
      ({ workflowTaskScheduledEventAttributes: scheduled }) => (scheduled?.attempt ?? 1) > 2,
    ).length,
    'tasks that no cache took in time': timedOut(scheduleToStart).length,
    'activities repeated': events.filter(
      ({ activityTaskStartedEventAttributes: started }) => (started?.attempt ?? 1) > 1,
    ).length,
  };
  const times = [0.5, 0.95, 1].map((share) => (percentile(ms, share) / 1000).toFixed(1)).join(' / ');
  const counted = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  print(
    `  ${what}: ${times} s (p50, p95, longest of ${ms.length}); ${counted.join(', ')}; load ${loadavg()[0]?.toFixed(0)}`,
  );
}

function print(line: string): void {
  process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
}
