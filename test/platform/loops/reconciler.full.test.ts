/** Turns whose workflow could not end them. */
import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createTurnRuns } from '../../../src/service/turn-runs.ts';
import type { RunStatus } from '../../../src/service/turn-runs.ts';
import { connectLazily } from '../../../src/platform/temporal/connection.ts';
import { agentTurnWorkflow, durableToolWorkflow, turnWorkflowId } from '../../../src/workflows/messages.ts';
import { city, useAskingService } from '../../asking/asking-service.ts';
import { freePort } from '../../free-port.ts';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { callOf } from '../../service/asking.ts';
import { begunTurn, deltas, newTurn, refuseWhileBusy, text } from '../../storage/contract/fixtures.ts';
import { open, question } from '../../storage/contract/question.ts';
import { idOf, untilDelegatesWait, untilWaiting } from '../../workflows/waiting.ts';
import type { ObservedTurn } from '../../workflows/waiting.ts';
import { ended, ownStorage } from './own-storage.ts';

const one = asks({ one: form('One') }, 's1');
const tenant = 'demo';
const minuteMs = 60_000;

let isOutboxHeld = false;
afterEach(() => void (isOutboxHeld = false));
const setup = useAskingService({ isOutboxHeld: () => isOutboxHeld });
const handleOf = (turn: ObservedTurn) => setup.temporal.client.workflow.getHandle(idOf(turn));

test('one that is terminated while it asks: its stream ends and says why, and the next message is answered', async () => {
  const { stream, conversation, ...turn } = await setup.begin([one]);
  const { elicitationId } = await turn.question(0);
  await handleOf({ conversation, stream }).terminate('by an operator');
  const chunks = await stream.finished();
  expect(chunks).toContainEqual(
    expect.objectContaining({ type: 'error', errorText: expect.stringContaining('ended from outside') }),
  );
  expect(turn.statuses()).toEqual(['cancel']);
  const { storage } = setup.service;
  expect(await storage.elicitations.get(elicitationId)).toMatchObject({ status: 'cancel' });
  const ref = { tenant, conversation, turnId: stream.turnId };
  expect(await storage.turns.get(ref)).toMatchObject({ status: 'failed', endedAt: expect.any(Number) });
  const next = await setup.alice.chat('hello', { conversation });
  await next.finished();
  expect(next.text()).toBe('You said: hello');
});

test('one that is terminated while a tool works: the model would read that nobody knows what became of it', async () => {
  const called = Promise.withResolvers<void>();
  const { stream, conversation } = await setup.begin([
    (_, response) => {
      called.resolve();
      response.on('close', () => undefined);
    },
  ]);
  await called.promise;
  await handleOf({ conversation, stream }).terminate();
  const chunks = await stream.finished();
  const results = chunks.filter(({ type }) => type === 'tool-output-error');
  expect(results).toMatchObject([{ errorText: expect.stringContaining('unknown whether') }]);
  expect(chunks.some(({ type }) => type === 'error')).toBe(true);
  expect(setup.server.calls).toHaveLength(1);
  const next = await setup.alice.chat('hello', { conversation });
  await next.finished();
  expect(next.text()).toBe('You said: hello');
});

test('one that is terminated between the commit of an answer and its signal: the answer stays on record, as unused', async () => {
  const { stream, conversation, ...turn } = await setup.begin([one]);
  const { elicitationId } = await turn.question(0);
  await untilWaiting(setup, { conversation, stream });
  isOutboxHeld = true;
  expect(await turn.answer(0, city())).toMatchObject({ status: 200, body: { status: 'accept' } });
  await handleOf({ conversation, stream }).terminate('by an operator');
  const chunks = await stream.finished();
  isOutboxHeld = false;
  expect(chunks).toContainEqual(
    expect.objectContaining({ type: 'error', errorText: expect.stringContaining('ended from outside') }),
  );
  expect(turn.statuses()).toEqual(['accept']);
  const { elicitations } = setup.service.storage;
  expect(await elicitations.get(elicitationId)).toMatchObject({ status: 'accept', isUnused: true });
  expect(await turn.answer(0, city())).toMatchObject({
    status: 200,
    body: { status: 'accept', duplicate: true },
  });
  expect(setup.server.calls).toHaveLength(1);
  const next = await setup.alice.chat('hello', { conversation });
  await next.finished();
  expect(next.text()).toBe('You said: hello');
});

test.each(['terminate', 'cancel'] as const)(
  'a delegate that an operator ends (%s) between the commit of an answer and its signal leaves the answer unused',
  async (end) => {
    const text = `call agent__assistant ${JSON.stringify({ task: callOf(['ask']) })}`;
    const { stream, conversation, ...turn } = await setup.begin([one], { agentId: 'lead', text });
    const { elicitationId } = await turn.question(0);
    const [delegate = ''] = await untilDelegatesWait(setup, { conversation, stream }, 'assistant', 1);
    isOutboxHeld = true;
    expect(await turn.answer(0, city())).toMatchObject({ status: 200, body: { status: 'accept' } });
    await setup.temporal.client.workflow.getHandle(delegate)[end]();
    await stream.finished();
    const { elicitations, turns } = setup.service.storage;
    expect(await elicitations.get(elicitationId)).toMatchObject({ status: 'accept', isUnused: true });
    const ref = { tenant, conversation, turnId: stream.turnId };
    expect(await turns.get(ref)).toMatchObject({ status: 'completed' });
    expect(setup.server.calls).toHaveLength(1);
  },
);

test('one whose workflow is deleted, which no list tells of, is found by itself', async () => {
  const { stream, conversation, ...turn } = await setup.begin([one]);
  await turn.question(0);
  const { client } = setup.temporal;
  await client.workflowService.deleteWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: idOf({ conversation, stream }) },
  });
  const chunks = await stream.finished();
  expect(chunks).toContainEqual(expect.objectContaining({ type: 'error' }));
  expect(turn.statuses()).toEqual(['cancel']);
});

test('many that Temporal has lost, with their questions, end once each, whoever looks after them', async () => {
  await using own = await ownStorage();
  const { storage } = own;
  const lost = [];
  for (let count = 0; count < 120; count++) {
    const turn = await begunTurn(storage);
    const asked = question(turn);
    await open(storage, asked);
    lost.push({ turn, asked });
  }
  own.pass(minuteMs);
  await using _ = own.reconciles(setup.temporal.client);
  await using __ = own.reconciles(setup.temporal.client);
  for (const { turn, asked } of lost) {
    await ended(storage, turn);
    expect(await storage.turns.get(turn)).toMatchObject({ status: 'failed' });
    expect(await storage.elicitations.get(asked.id)).toMatchObject({ status: 'cancel' });
    expect((await storage.turnLog.read(turn, 0)).map(({ event }) => event.type)).toEqual([
      'turn-started',
      'elicitation-request',
      'elicitation-request',
      'error',
      'turn-ended',
    ]);
  }
});

test('one that waits, and one that nobody has taken up yet, are left alone', async () => {
  await using own = await ownStorage();
  const { stream, conversation, ...turn } = await setup.begin([one]);
  await turn.question(0);
  const waiting = await begunTurn(own.storage, { tenant, conversation, turnId: stream.turnId });
  const untaken = newTurn();
  await own.storage.turns.prepare(untaken, refuseWhileBusy);
  const handle = await setup.temporal.client.workflow.start(agentTurnWorkflow, {
    workflowId: turnWorkflowId(untaken),
    // No worker polls it.
    taskQueue: randomUUID(),
  });
  await own.looks(setup.temporal.client, 3);
  expect(await own.storage.turns.get(waiting)).toMatchObject({ status: 'running' });
  expect(await own.storage.turns.get(untaken)).toMatchObject({ status: 'starting' });

  await handle.terminate();
  await own.looks(setup.temporal.client, 1);
  expect(await own.storage.turns.get(untaken)).toMatchObject({ status: 'failed' });
  await turn.answer(0, city());
  expect(await turn.end()).toMatchObject({ text: 'done' });
});

test('while Temporal is away, nothing is ended', async () => {
  await using own = await ownStorage();
  const turn = await begunTurn(own.storage);
  const { connection, close } = connectLazily({
    address: `127.0.0.1:${await freePort()}`,
    namespace: 'default',
    apiKey: undefined,
    tls: false,
  });
  await own.looks(new Client({ connection }), 1);
  expect(await own.storage.turns.get(turn)).toMatchObject({ status: 'running' });
  await close();
  own.pass(minuteMs);
  await using _ = own.reconciles(setup.temporal.client);
  await ended(own.storage, turn);
  expect(await own.storage.turns.get(turn)).toMatchObject({ status: 'failed' });
});

test('one that Temporal does not find once, but finds when it is asked again, goes on', async () => {
  await using own = await ownStorage();
  const { client } = setup.temporal;
  const turn = await begunTurn(own.storage);
  own.pass(minuteMs);
  const looks = [Promise.withResolvers<RunStatus>(), Promise.withResolvers<RunStatus>()];
  let count = 0;
  const runs = createTurnRuns(client);
  const begun = Promise.withResolvers<void>();
  const statusOf = async (id: string) => {
    if (count > 0) await begun.promise;
    const status = await runs.statusOf(id);
    if (id === turnWorkflowId(turn)) looks[count++]?.resolve(status);
    return status;
  };
  await using _ = own.reconciles(client, { runs: { ...runs, statusOf }, confirmMs: 100 });
  expect(await looks[0]?.promise).toBe('missing');
  const workflowId = turnWorkflowId(turn);
  const options = { workflowId, taskQueue: randomUUID() };
  const workflow = await client.workflow.start(agentTurnWorkflow, options);
  begun.resolve();
  expect(await looks[1]?.promise).toBe('open');
  expect(await own.storage.turns.get(turn)).toMatchObject({ status: 'running', endedAt: null });
  await workflow.terminate();
  await ended(own.storage, turn);
});

test('one that was to start, and never did, makes room for the same message', async () => {
  await using own = await ownStorage();
  const { storage } = own;
  const turn = newTurn();
  await storage.turns.prepare(turn, refuseWhileBusy);
  own.pass(minuteMs);
  await using _ = own.reconciles(setup.temporal.client);
  await ended(storage, turn);
  expect(await storage.turns.get(turn)).toMatchObject({ status: 'failed' });
  expect(own.warnings).toContainEqual(
    expect.stringMatching(
      /^turn \S{8} is ended for its workflow: Temporal does not know it\. .*installation status/,
    ),
  );
  // What Temporal starts now after all has nothing to do.
  expect(await storage.turns.begin(turn)).toBe(false);
  const again = { ...turn, turnId: randomUUID() };
  expect(await storage.turns.prepare(again, refuseWhileBusy)).toEqual({ kind: 'prepared', buildId: '' });
  expect(await storage.turns.begin(again)).toBe(true);
});

test.each(['withdrawn', 'failed'])(
  'a workflow whose turn is %s by the time it starts does nothing',
  async (end) => {
    const { storage } = setup.service;
    const { client } = setup.temporal;
    const { taskQueue } = await handleOf(await setup.begin([one])).describe();
    const turn = newTurn({ tenant });
    await storage.turns.prepare(turn, refuseWhileBusy);
    if (end === 'withdrawn') await storage.turns.withdraw(turn);
    else await storage.turns.end(turn, 'failed');
    const before = await storage.turns.get(turn);
    const limits = { maxSteps: 5, elicitationTimeoutMs: minuteMs, toolCallMs: minuteMs };
    const { status } = await client.workflow.execute(agentTurnWorkflow, {
      workflowId: turnWorkflowId(turn),
      taskQueue,
      args: [{ ...turn, limits }],
    });
    // A row that is there says how the turn ended, if it is read.
    expect(['cancelled', end]).toContain(status);
    expect(await storage.turnLog.read(turn, 0)).toEqual([]);
    expect(await storage.messages.list(turn)).toEqual([]);
    expect(await storage.turns.get(turn)).toEqual(before);
  },
);

test.each([-5, 5])(
  'a clock that is %i minutes wrong does not hide what was ended from outside',
  async (minutes) => {
    const { client } = setup.temporal;
    const turn = newTurn();
    const options = { taskQueue: randomUUID() };
    const workflow = await client.workflow.start(agentTurnWorkflow, {
      ...options,
      workflowId: turnWorkflowId(turn),
    });
    const real = Date.now;
    vi.spyOn(Date, 'now').mockImplementation(() => real() + minutes * minuteMs);
    onTestFinished(() => void vi.restoreAllMocks());
    const closed = createTurnRuns(client).createClosed(Date.now);
    await closed(1_000);
    await workflow.terminate();
    const turnIds = async () => (await closed(1_000)).map((run) => run.turn.turnId);
    await expect.poll(turnIds).toContain(turn.turnId);
  },
);

test('a merge that was lost with its process is made', async () => {
  await using own = await ownStorage();
  const { storage } = own;
  const turn = await begunTurn(storage);
  await storage.turnLog.append(turn, [text('one'), text('two')]);
  await storage.turns.end(turn, 'completed');
  await own.looks(setup.temporal.client, 1);
  expect(await deltas(storage, turn)).toEqual(['onetwo']);
});

test.each([
  ['of a server expires', { server: null, seenVersion: null }, 'expired'],
  ['about an account is left to its workflow', {}, 'pending'],
] as const)('an overdue question %s', async (_, about, status) => {
  await using own = await ownStorage();
  const { storage } = own;
  const turn = await begunTurn(storage);
  const { client } = setup.temporal;
  const workflow = await client.workflow.start(agentTurnWorkflow, {
    workflowId: turnWorkflowId(turn),
    taskQueue: randomUUID(),
  });
  const overdue = question(turn, { ...about, timeoutMs: 1_000 });
  await open(storage, overdue);
  await own.looks(client, 1);
  expect(await storage.elicitations.get(overdue.id)).toMatchObject({ status });
  expect(await storage.turns.get(turn)).toMatchObject({ status: 'running' });
  await workflow.terminate();
});

test('the question of a tool that was ended from outside is closed at once, while its turn goes on', async () => {
  await using own = await ownStorage();
  const { storage } = own;
  const turn = await begunTurn(storage);
  const { client } = setup.temporal;
  const options = { taskQueue: randomUUID() };
  const workflow = await client.workflow.start(agentTurnWorkflow, {
    ...options,
    workflowId: turnWorkflowId(turn),
  });
  const toolId = `${turnWorkflowId(turn)}/tool/call`;
  const tool = await client.workflow.start(durableToolWorkflow, { ...options, workflowId: toolId });
  const asked = question(turn, { waiter: { toolCallId: 'call', workflowId: toolId } });
  await open(storage, asked);
  await tool.terminate();
  await using _ = own.reconciles(client);
  const status = async () => (await storage.elicitations.get(asked.id))?.status;
  await expect.poll(status).toBe('cancel');
  expect(await storage.turns.get(turn)).toMatchObject({ status: 'running' });
  await workflow.terminate();
});

test('a workflow that was reset goes on, although its run before was terminated', async () => {
  const { stream, conversation, ...turn } = await setup.begin([one]);
  await turn.question(0);
  const { client } = setup.temporal;
  const handle = handleOf({ conversation, stream });
  const { runId } = await handle.describe();
  const { events } = await handle.fetchHistory();
  const firstTask = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId: handle.workflowId, runId },
    workflowTaskFinishEventId: firstTask?.eventId ?? null,
    requestId: randomUUID(),
    reason: 'test',
  });
  const closed = createTurnRuns(client).createClosed(Date.now);
  const runIds = async () => (await closed(1_000)).map((run) => run.runId);
  await expect.poll(runIds).toContain(runId);
  await turn.answer(0, city());
  expect(await turn.end()).toMatchObject({ text: 'done' });
});
