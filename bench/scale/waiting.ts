/** Very many turns wait for their users at once, on one worker and one API; then all users answer. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import protocol from '@temporalio/proto';
import { startTemporalServer } from '../../src/platform/development/temporal-server.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { connectClient } from '../../src/platform/temporal/connection.ts';
import { query } from '../../test/setup/postgres-server.ts';
import { startDoubles } from '../doubles/start-doubles.ts';
import { say } from '../doubles/model.ts';
import { eachOf } from '../each-of.ts';
import { startService } from '../service.ts';
import type { Service } from '../service.ts';
import { createUser } from '../user.ts';
import type { User } from '../user.ts';
import { workflowOf } from '../workflow-of.ts';
import type { Turn, Waiting } from './results.ts';

const {
  EVENT_TYPE_WORKFLOW_TASK_SCHEDULED: WORKFLOW_TASK,
  EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: ACTIVITY_TASK,
} = protocol.temporal.api.enums.v1.EventType;
const warmUps = 100;
const askedAtOnce = 8;
/** As many as a client's connections allow; the API queues the rest. */
const answeredAtOnce = 200;
const idleMs = 10_000;
const settleMs = 5_000;

export async function measureWaiting(databaseUrl: string, count: number): Promise<Waiting & { turn: Turn }> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-scale-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const namespace = 'default';
  const logger = createLogger({ level: 'error', human: true });
  const temporal = await startTemporalServer({
    temporal: { namespace, port: 0, uiPort: 0 },
    dataDir: folder,
    logger,
  });
  stack.defer(() => temporal.stop());
  const { address } = temporal;
  const { client, close } = connectClient({ address, namespace, apiKey: undefined, tls: false });
  stack.defer(close);
  const { model, mcp, issuer, asking } = await startDoubles(stack);
  // Few calls at once: a slow machine with 100 at work is late with their heartbeats, and Temporal begins them again.
  const env = { ELICITATION_TIMEOUT: '6h', TURN_TIMEOUT: '12h', WORKER_CALLS: '20' };
  const service = stack.use(
    await startService(
      { temporal: { address, namespace }, model, mcp, issuer, asking, databaseUrl, env, shape: 'divided' },
      client,
    ),
  );
  let users = 0;
  const ask = async () => {
    const name = `user-${++users}`;
    const user = createUser(service.baseUrl, name, await issuer.token(name));
    const chat = await user.chat(say.callTool);
    await chat.leave();
    if (chat.question === null) throw new Error('a turn asked nothing');
    return { user, conversation: chat.conversation, question: chat.question };
  };
  const answer = async (waiting: { user: User; conversation: string; question: string }[]) => {
    await service.connectAccounts(waiting.map(({ user }) => user.name));
    const took: number[] = [];
    await eachOf(waiting.length, answeredAtOnce, async (index) => {
      const one = waiting[index];
      if (one) took[index] = (await one.user.accept(one)).tookMs;
    });
    return took;
  };
  const ended = async () => {
    const left = "select count(*) as n from turns where status in ('starting', 'running')";
    while (Number((await query(databaseUrl, left))[0]?.['n']) > 0) await sleep(100);
    await sleep(settleMs);
  };

  const warm = [];
  for (let index = 0; index < warmUps; index++) warm.push(await ask());
  await answer(warm);
  await ended();

  const temporalPid = pidOf(folder);
  const temporalFile = async () =>
    (await Promise.all(['', '-wal'].map((end) => stat(path.join(folder, `temporal.db${end}`))))).reduce(
      (sum, { size }) => sum + size,
      0,
    );
  const look = async () => ({
    ...(await workOf(service)),
    database: await number(databaseUrl, 'select pg_database_size(current_database()) as n'),
    wal: await number(databaseUrl, "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as n"),
    temporal: await temporalFile(),
    temporalCpu: cpuOf(temporalPid),
  });
  const before = await look();
  const [apiBefore, workerBefore] = await service.insideAll('memory');
  const startedAt = performance.now();
  const waiting: Awaited<ReturnType<typeof ask>>[] = [];
  await eachOf(count, askedAtOnce, async () => void waiting.push(await ask()));
  const startSeconds = (performance.now() - startedAt) / 1000;
  const asked = await look();
  const [api, worker] = await service.insideAll('memory');
  const idleFrom = await workOf(service);
  await sleep(idleMs);
  const idleTo = await workOf(service);

  const arrivals = waiting.map(({ user }) => mcp.arrival(user.name));
  const callsBefore = mcp.calls();
  const answeredAt = performance.now();
  const took = await answer(waiting);
  await Promise.all(arrivals);
  await ended();
  const burstSeconds = (performance.now() - answeredAt - settleMs) / 1000;
  const calls = mcp.calls() - callsBefore;
  const completed = await number(databaseUrl, "select count(*) as n from turns where status = 'completed'");
  if (completed !== count + warmUps || calls !== count)
    throw new Error(`${count} turns waited: ${completed - warmUps} completed, with ${calls} calls`);
  const after = await look();
  const workflow = await workflowOf(client, waiting[0]?.conversation ?? '');
  const history = await workflow.describe();
  const { events = [] } = await workflow.fetchHistory();
  const tasks = events?.filter(({ eventType }) => eventType === WORKFLOW_TASK || eventType === ACTIVITY_TASK);
  const each = (more: number, less: number) => (more - less) / count;
  const perSecond = (more: number, less: number) => (more - less) / (idleMs / 1000);
  return {
    turns: count,
    workerKib: each(worker?.resident ?? NaN, workerBefore?.resident ?? NaN) / 1024,
    apiKib: each(api?.resident ?? NaN, apiBefore?.resident ?? NaN) / 1024,
    askCpuMs: each(asked.cpu, before.cpu),
    answerCpuMs: each(after.cpu, idleTo.cpu),
    statements: each(after.statements, before.statements),
    commits: each(after.commits, before.commits),
    databaseKib: each(after.database, before.database) / 1024,
    walKib: each(after.wal, before.wal) / 1024,
    temporalKib: each(after.temporal, before.temporal) / 1024,
    temporalCpuMs: each(after.temporalCpu, before.temporalCpu),
    idleCpuMs: perSecond(idleTo.cpu, idleFrom.cpu),
    idleStatements: perSecond(idleTo.statements, idleFrom.statements),
    firstAnswerMs: took[0] ?? NaN,
    lastAnswerMs: took.at(-1) ?? NaN,
    burstSeconds,
    startSeconds,
    calls,
    turn: {
      historyEvents: history.historyLength,
      historyKib: (history.historySize ?? NaN) / 1024,
      tasks: tasks?.length ?? NaN,
    },
  };
}

async function workOf(service: Service): Promise<{ cpu: number; statements: number; commits: number }> {
  const cpu = await service.insideAll('cpu');
  const statements = await service.insideAll('statements');
  return {
    cpu: cpu.reduce((sum, one) => sum + one, 0),
    statements: statements.reduce((sum, { all }) => sum + all, 0),
    commits: statements.reduce((sum, { commits }) => sum + commits, 0),
  };
}

async function number(databaseUrl: string, text: string): Promise<number> {
  return Number((await query(databaseUrl, text))[0]?.['n']);
}

/** The process of the development server on this folder. */
function pidOf(folder: string): number {
  return Number(
    execFileSync('pgrep', ['-f', `server start-dev.*${folder}`], { encoding: 'utf8' }).split('\n')[0],
  );
}

/** Processor time of a process so far, in milliseconds: Linux counts it in hundredths of a second. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
