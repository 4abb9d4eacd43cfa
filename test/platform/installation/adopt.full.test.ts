/** What becomes of turns that only the database, or only Temporal, knows, when an operator lets them belong together. */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { adopt as carryOut, foresee, survey } from '../../../src/platform/installation/adopt.ts';
import { openInstallation, usualIntervals } from '../../../src/platform/installation/installation.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { routedByTemporal } from '../../../src/storage/tables/versions.ts';
import type { NewTurn } from '../../../src/storage/tables/turn-lifecycle.ts';
import { agentTurnWorkflow, turnWorkflowId } from '../../../src/workflows/messages.ts';
import { postgresUrl } from '../../postgres.ts';
import { useDevelopmentServer } from '../../service/use-development-server.ts';
import {
  begunTurn,
  firstAttempt,
  keptStep,
  newTurn,
  refuseWhileBusy,
} from '../../storage/contract/fixtures.ts';
import { question } from '../../storage/contract/question.ts';

const temporal = useDevelopmentServer();
const logger = pino({ level: 'silent' });
const agentsFile = fileURLToPath(new URL('../../fixtures/agents.yaml', import.meta.url));
const keepsMark = { turns: 'restart', takeOver: false } as const;

let stack: AsyncDisposableStack;
let parts: Awaited<ReturnType<typeof open>>;

async function open() {
  const config = loadConfig(
    {
      INTERLUDE_CONFIG: agentsFile,
      TRACKER_URL: 'http://127.0.0.1:1/mcp',
      DATABASE_URL: await postgresUrl(),
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_TASK_QUEUE: randomUUID(),
      INTERLUDE_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
    },
    tmpdir(),
  );
  const storage = await openStorage(config.database);
  await storage.versions.use(config.temporal.deployment.name, routedByTemporal);
  stack.defer(() => storage.close());
  const installation = openInstallation({ config, storage, logger });
  stack.defer(() => installation.close());
  return { config, storage, installation, logger };
}

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  parts = await open();
});
afterEach(() => stack.disposeAsync());

interface Left {
  toolName?: string;
  state?: 'requested' | 'started' | 'paused';
  delegated?: boolean;
  isAsked?: boolean;
}

/** What a dry run says is what happens. */
async function adopt(...[given, examined, options]: Parameters<typeof carryOut>) {
  const foreseen = await foresee(given, examined, options.turns);
  const adopted = await carryOut(given, examined, options);
  expect(adopted).toEqual(foreseen);
  return adopted;
}

/** A turn of a conversation whose workflow is gone. */
async function leftTurn({
  toolName = 'tracker__list',
  state = 'requested',
  delegated = false,
  isAsked = true,
}: Left = {}): Promise<NewTurn> {
  const { storage } = parts;
  const turn = await begunTurn(storage);
  const by = delegated ? { ...turn, delegation: { toolCallId: 'parent', path: ['researcher'] } } : turn;
  await keptStep(storage, by, { calls: [{ toolCallId: 'call', toolName, input: {} }] });
  if (state !== 'requested') await storage.toolCalls.start(turn, 'call', firstAttempt);
  if (state === 'paused')
    await storage.toolCalls.keepRound(turn, 'call', { round: 1, sealed: 's' }, 'paused', firstAttempt);
  if (isAsked) await storage.elicitations.open([question(turn)], { perUser: 20 });
  await storage.toolCatalogue.put(
    { tenant: turn.tenant, server: 'tracker', user: 'alice' },
    {
      tools: [
        { name: 'list', inputSchema: {}, annotations: { readOnlyHint: true } },
        { name: 'close', inputSchema: {} },
      ],
      audience: 'user',
      freshMs: null,
    },
  );
  return turn;
}

const statusOf = async (turn: NewTurn) => (await parts.storage.turns.get(turn))?.status;
const runOf = (turn: NewTurn) => temporal.client.workflow.getHandle(turnWorkflowId(turn)).describe();

async function run(turn: NewTurn) {
  const handle = await temporal.client.workflow.start(agentTurnWorkflow, {
    workflowId: turnWorkflowId(turn),
    taskQueue: parts.config.temporal.taskQueue,
    memo: { turnId: turn.turnId },
  });
  stack.defer(() => handle.terminate().then(ignore, ignore));
}

const ignore = () => undefined;

test.each<Left & { name: string }>([
  { name: 'its call may have changed something', toolName: 'tracker__close', state: 'paused' },
  { name: 'its call is of a tool in TypeScript', toolName: 'refund' },
  { name: 'another agent works for it', toolName: 'agent__researcher' },
  { name: 'another agent has called', delegated: true },
  { name: 'nothing has been sent for its call' },
  { name: 'nothing has been sent for a call that changes something', toolName: 'tracker__close' },
  { name: 'its call is read-only, and has asked', state: 'paused' },
  { name: 'its call is read-only, and may have run', state: 'started' },
  { name: 'the model asks', toolName: 'ask_user' },
  { name: 'an account is wanted', toolName: 'connect_tracker' },
])('a turn that waits is restarted where $name', async (left) => {
  const turn = await leftTurn(left);
  expect(await adopt(parts, await parts.installation.examine(), keepsMark)).toEqual({
    ended: 0,
    begunAgain: 1,
    terminated: 0,
  });
  expect(await statusOf(turn)).toBe('running');
  expect(await parts.storage.elicitations.ofConversation(turn, 'pending')).toHaveLength(1);
  const { status, memo, taskQueue } = await runOf(turn);
  expect([status.name, memo, taskQueue]).toEqual([
    'RUNNING',
    { turnId: turn.turnId },
    parts.config.temporal.taskQueue,
  ]);
  await temporal.client.workflow.getHandle(turnWorkflowId(turn)).terminate();
  expect(await parts.installation.lookSafely()).toEqual({ kind: 'together' });
});

test('a turn ends where no question of it is open', async () => {
  const turn = await leftTurn({ isAsked: false });
  expect(await adopt(parts, await parts.installation.examine(), keepsMark)).toMatchObject({ ended: 1 });
  expect(await statusOf(turn)).toBe('failed');
  const events = (await parts.storage.turnLog.read(turn, 0)).map(({ event }) => event);
  expect(events).toContainEqual(expect.objectContaining({ type: 'error', code: 'TurnLost' }));
  await expect(runOf(turn)).rejects.toThrow('not found');
});

test('all end that are to end, also those that were only prepared, and what Temporal knows goes on', async () => {
  const lost = await leftTurn();
  const prepared = newTurn();
  await parts.storage.turns.prepare(prepared, refuseWhileBusy);
  // A mark that has come further than any: the database was restored, and this turn was there.
  await parts.installation.table.make();
  const { id } = await parts.installation.table.make();
  await parts.installation.marks.create({ installation: id, generation: 9, token: 'later' });
  const known = await leftTurn();
  await run(known);
  await setDue(Date.now() + 10 * usualIntervals.advanceMs);
  const examined = await parts.installation.examine();
  expect(examined.belonging).toEqual({ kind: 'apart', reason: 'database-older' });
  await expect(adopt(parts, examined, { turns: 'end', takeOver: false })).rejects.toThrow(
    /was written \d+ s ago.*--take-over/s,
  );
  expect(await statusOf(lost)).toBe('running');
  expect(await adopt(parts, examined, { turns: 'end', takeOver: true })).toEqual({
    ended: 2,
    begunAgain: 0,
    terminated: 0,
  });
  expect([await statusOf(lost), await statusOf(prepared), await statusOf(known)]).toEqual([
    'failed',
    'failed',
    'running',
  ]);
  expect((await runOf(known)).status.name).toBe('RUNNING');
  const row = await parts.installation.table.read();
  expect(row).toMatchObject({ generation: 10 });
  expect(row?.id).not.toBe(id);
});

test('where the database is older, turns end that have gone on since, and those that Temporal has forgotten: they may have made calls that are unknown', async () => {
  const { id } = await parts.installation.table.make();
  await parts.installation.marks.create({ installation: id, generation: 9, token: 'later' });
  const turn = await leftTurn();
  await run(turn);
  const forgotten = await leftTurn();
  const examined = await parts.installation.examine();
  const { unknown, ahead } = await survey(parts, examined);
  expect([unknown, ahead].map((turns) => turns.map(({ turnId }) => turnId))).toEqual([
    [forgotten.turnId],
    [turn.turnId],
  ]);
  expect(await adopt(parts, examined, { turns: 'restart', takeOver: true })).toEqual({
    ended: 2,
    begunAgain: 0,
    terminated: 1,
  });
  expect([await statusOf(turn), await statusOf(forgotten)]).toEqual(['failed', 'failed']);
  expect((await runOf(turn)).status.name).toBe('TERMINATED');
  for (const lost of [turn, forgotten])
    expect(JSON.stringify(await parts.storage.messages.list(lost))).toContain('unknown whether');
});

test('a process that waits may write the mark first, once a turn has begun again', async () => {
  const turn = await leftTurn();
  const { installation } = parts;
  const waiting = openInstallation(parts);
  stack.defer(() => waiting.close());
  const marks = {
    ...installation.marks,
    async create(mark: Parameters<typeof installation.marks.create>[0]) {
      expect(await waiting.lookSafely()).toEqual({ kind: 'together' });
      await installation.marks.create(mark);
    },
  };
  const examined = await installation.examine();
  expect(await adopt({ ...parts, installation: { ...installation, marks } }, examined, keepsMark)).toEqual({
    ended: 0,
    begunAgain: 1,
    terminated: 0,
  });
  expect(await installation.lookSafely()).toEqual({ kind: 'together' });
  await temporal.client.workflow.getHandle(turnWorkflowId(turn)).terminate();
});

/** When the next generation is due, which shows when the last one was written. */
async function setDue(at: number): Promise<void> {
  const { database } = parts.config;
  const storage = await openStorage(database, { now: () => at - 1 });
  await storage.installation.claim(1);
  await storage.close();
}
