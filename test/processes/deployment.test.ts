/** Workers of several versions on one task queue, while turns wait for people. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeCurrent, readVersionRouting } from '../../src/temporal/deployment.ts';
import type { Version } from '../../src/temporal/deployment.ts';
import type { Dependencies } from '../../src/processes/dependencies.ts';
import { reasonOfEnd, takeStrandedTurns } from '../../src/processes/stranded-turns.ts';
import { startWorker } from '../../src/processes/start-worker.ts';
import { startReconciler } from '../../src/reconciler/reconciler.ts';
import { createTurnRuns } from '../../src/service/turn-runs.ts';
import { openWorkflowBundle } from '../../src/processes/workflow-bundle.ts';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { startDevelopmentServer } from '../development-server.ts';
import type { DevelopmentServer } from '../development-server.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import type { Caller } from '../service/user.ts';
import { workflowBundle } from '../workflow-bundle.ts';

/** Inside the checkout: that is where bundled packages are found. */
const folder = path.resolve(import.meta.dirname, `../../build/test-${randomUUID()}`);
/** Its first command is one that a turn of today does not begin with. */
const changedSource = `
import { upsertMemo } from '@temporalio/workflow';
import { agentTurn as unchanged } from '../../src/workflows/agent-turn.ts';
export async function agentTurn(turn) {
  upsertMemo({ changed: true });
  return unchanged(turn);
}`;

let temporal: DevelopmentServer;
let service: Service;
let parts: Dependencies;
let workers: AsyncDisposableStack[];
let code: Record<'today' | 'changed', string>;
let alice: Caller;
let deploymentName: string;

beforeAll(async () => {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'index.ts'), changedSource);
  const changed = await openWorkflowBundle({
    entry: path.join(folder, 'index.ts'),
    file: path.join(folder, 'kept.js'),
  });
  code = { today: await readFile((await workflowBundle()).codePath, 'utf8'), changed: changed.code };
  temporal = await startDevelopmentServer();
}, 90_000);
afterAll(async () => {
  await temporal.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  workers = [];
  service = await startService({
    temporal,
    startWorkers: async (given, stack) => {
      parts = given;
      deploymentName = given.config.temporal.taskQueue;
      stack.defer(async () => {
        await Promise.all(workers.map((worker) => worker.disposeAsync()));
      });
    },
  });
  alice = await service.as('alice');
});
afterEach(() => service.stop());

/** As a worker process starts. */
async function startVersion(buildId: string, isOf: keyof typeof code): Promise<AsyncDisposableStack> {
  const stack = new AsyncDisposableStack();
  workers.push(stack);
  const bundle = { code: code[isOf], buildId };
  await startWorker(
    parts,
    { connection: temporal.connection, bundle, tools: new Map(), isAlone: false },
    stack,
  );
  return stack;
}

async function readiness(): Promise<{ status: number; lacks: Record<string, string> }> {
  const response = await fetch(`${service.baseUrl}/readyz`);
  const { notReady = [] } = (await response.json()) as { notReady?: { name: string; detail: string }[] };
  return {
    status: response.status,
    lacks: Object.fromEntries(notReady.map(({ name, detail }) => [name, detail])),
  };
}

async function becomeCurrent(buildId: string): Promise<void> {
  const { namespace } = parts.config.temporal;
  await expect
    .poll(() => makeCurrent(temporal.connection, namespace, { deploymentName, buildId }))
    .toBe(true);
  await expect
    .poll(async () => (await readVersionRouting(temporal.connection, parts.config.temporal)).current?.buildId)
    .toBe(buildId);
}

async function waitingTurn() {
  const conversation = randomUUID();
  const stream = await alice.chat('list my open issues', { conversation });
  const question = await stream.question('pending');
  const handle = temporal.client.workflow.getHandle(turnWorkflowId({ tenant: 'demo', conversation }));
  return {
    conversation,
    stream,
    elicitationId: question.elicitationId,
    handle,
    isChanged: async () => (await handle.describe()).memo?.['changed'] === true,
    decline: () =>
      alice.answer({
        conversationId: conversation,
        elicitationId: question.elicitationId,
        action: 'decline',
      }),
  };
}

const strandedParts = (version: Version, isOf: keyof typeof code) => ({
  client: temporal.client,
  temporal: parts.config.temporal,
  version,
  workflowBundle: { code: code[isOf] },
  keys: parts.keys,
  logger: parts.logger,
});

test('not ready before a worker polls; the first version becomes current by itself', async () => {
  expect(await readiness()).toEqual({
    status: 503,
    lacks: {
      workers: `no worker polls task queue "${deploymentName}"; start one (interlude worker)`,
    },
  });
  await startVersion('one', 'today');
  await expect.poll(readiness).toEqual({ status: 200, lacks: {} });
});

test('changed code is deployed while turns wait: old turns go on with the old code, new ones begin with the new', async () => {
  await startVersion('old', 'today');
  const before = await waitingTurn();
  await startVersion('new', 'changed');
  const between = await waitingTurn();
  await becomeCurrent('new');
  const after = await waitingTurn();
  await takeStrandedTurns(strandedParts({ deploymentName, buildId: 'new' }, 'changed'));

  expect(await Promise.all([before, between, after].map((turn) => turn.isChanged()))).toEqual([
    false,
    false,
    true,
  ]);
  for (const turn of [before, between, after]) {
    expect(await turn.decline()).toMatchObject({ status: 200 });
    await turn.stream.finished();
    expect(await turn.handle.result()).toEqual({ status: 'completed' });
  }
});

test('a turn whose version is gone goes on with the current one when that can read its history', async () => {
  const old = await startVersion('old', 'today');
  const turn = await waitingTurn();
  await old.disposeAsync();
  await startVersion('new', 'today');
  await becomeCurrent('new');
  const version = { deploymentName, buildId: 'new' };
  await takeStrandedTurns(strandedParts(version, 'today'), { current: version, polling: [] });

  expect((await turn.decline()).status).toBeLessThan(300);
  await turn.stream.finished();
  expect(await turn.handle.result()).toEqual({ status: 'completed' });
});

test('and is ended when it cannot: the conversation is free again', async () => {
  const old = await startVersion('old', 'today');
  const turn = await waitingTurn();
  await old.disposeAsync();
  await startVersion('new', 'changed');
  await becomeCurrent('new');
  const version = { deploymentName, buildId: 'new' };
  await takeStrandedTurns(strandedParts(version, 'changed'), { current: version, polling: [] });

  expect((await turn.handle.describe()).status.name).toBe('TERMINATED');
  await expect(turn.handle.result()).rejects.toMatchObject({ cause: { message: reasonOfEnd } });
  const next = await alice.chat('hello', { conversation: turn.conversation });
  await next.finished();
  expect(next.text()).toBe('You said: hello');
});

/** The service has a reconciler; another one looks at the same turns while `work` goes on. */
async function whileReconciling(work: () => Promise<void>): Promise<void> {
  const reconciler = startReconciler(parts, createTurnRuns(temporal.client));
  await work();
  await reconciler.stop();
}

test.each([
  { reader: 'cannot be read', isOf: 'changed', ends: 'failed', question: 'cancel', errors: 1 },
  { reader: 'can be read', isOf: 'today', ends: 'completed', question: 'decline', errors: 0 },
] as const)(
  'a stranded turn that $reader ends once, as $ends, while lost turns are looked for',
  async ({ isOf, ends, question, errors }) => {
    const old = await startVersion('old', 'today');
    const { conversation, stream, elicitationId, decline } = await waitingTurn();
    await old.disposeAsync();
    await startVersion('new', isOf);
    await becomeCurrent('new');
    const version = { deploymentName, buildId: 'new' };
    await whileReconciling(async () => {
      await takeStrandedTurns(strandedParts(version, isOf), { current: version, polling: [] });
      if (ends === 'completed') await decline();
      await stream.finished();
    });
    const turn = { tenant: 'demo', conversation, turnId: stream.turnId };
    expect(await service.storage.turns.get(turn)).toMatchObject({ status: ends });
    expect(await service.storage.elicitations.get(elicitationId)).toMatchObject({ status: question });
    const events = (await service.storage.turnLog.read(turn, 0)).map(({ event }) => event);
    expect(events.filter(({ type }) => type === 'turn-ended')).toMatchObject([{ status: ends }]);
    expect(events.filter(({ type }) => type === 'error')).toHaveLength(errors);
  },
);
