/** Turns whose workflow could not end them. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startReconciler } from '../../src/reconciler/reconciler.ts';
import { createTurnRuns } from '../../src/service/turn-runs.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { TurnRef } from '../../src/turn/turn.ts';
import { agentTurnWorkflow, durableToolWorkflow, turnWorkflowId } from '../../src/workflows/messages.ts';
import { city, useAskingService } from '../asking/asking-service.ts';
import { freePort } from '../free-port.ts';
import { asks, form } from '../servers/playing-server.ts';
import { begunTurn, deltas, newTurn, text } from '../storage/contract/fixtures.ts';
import { question } from '../storage/contract/question.ts';

const one = asks({ one: form('One') }, 's1');
const logger = pino({ level: 'silent' });
const tenant = 'demo';
const minuteMs = 60_000;

const setup = useAskingService();
const handleOf = (conversation: string) =>
  setup.temporal.client.workflow.getHandle(turnWorkflowId({ tenant, conversation }));

test('one that is terminated while it asks: its stream ends and says why, and the next message is answered', async () => {
  const { stream, conversation, ...turn } = await setup.begin([one]);
  const { elicitationId } = await turn.question(0);
  await handleOf(conversation).terminate('by an operator');
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
  await handleOf(conversation).terminate();
  const chunks = await stream.finished();
  const results = chunks.filter(({ type }) => type === 'tool-output-error');
  expect(results).toMatchObject([{ errorText: expect.stringContaining('unknown whether') }]);
  expect(chunks.some(({ type }) => type === 'error')).toBe(true);
});

test('one whose workflow is deleted, which no list tells of, is found by itself', async () => {
  const { stream, conversation, ...turn } = await setup.begin([one]);
  await turn.question(0);
  const { client } = setup.temporal;
  await client.workflowService.deleteWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: turnWorkflowId({ tenant, conversation }) },
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
    await storage.elicitations.open(asked, { perUser: 20 });
    lost.push({ turn, asked });
  }
  own.pass(minuteMs);
  const loops = [1, 2].map(() => startReconciler({ storage, logger }, createTurnRuns(setup.temporal.client)));
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
  await Promise.all(loops.map((loop) => loop.stop()));
});

test('one that waits, and one that nobody has taken up yet, are left alone', async () => {
  await using own = await ownStorage();
  const { stream, conversation, ...turn } = await setup.begin([one]);
  await turn.question(0);
  const waiting = await begunTurn(own.storage, { tenant, conversation, turnId: stream.turnId });
  const untaken = newTurn();
  await own.storage.turns.prepare(untaken);
  const handle = await setup.temporal.client.workflow.start(agentTurnWorkflow, {
    workflowId: turnWorkflowId(untaken),
    // Nobody polls it.
    taskQueue: randomUUID(),
    memo: { turnId: untaken.turnId },
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
  const connection = Connection.lazy({ address: `127.0.0.1:${await freePort()}` });
  await own.looks(new Client({ connection }), 1);
  expect(await own.storage.turns.get(turn)).toMatchObject({ status: 'running' });
  await connection.close();
  await own.looks(setup.temporal.client, 1);
  expect(await own.storage.turns.get(turn)).toMatchObject({ status: 'failed' });
});

test('a merge that was lost with its process is made', async () => {
  await using own = await ownStorage();
  const { storage } = own;
  const turn = await begunTurn(storage);
  await storage.turnLog.append(turn, [text('one'), text('two')]);
  await storage.turns.end(turn, 'completed');
  await own.looks(setup.temporal.client, 1);
  expect(await deltas(storage, turn)).toEqual(['onetwo']);
});

test('an overdue question of an agent that was ended from outside is closed, while its turn goes on', async () => {
  await using own = await ownStorage();
  const { storage } = own;
  const turn = await begunTurn(storage);
  const { client } = setup.temporal;
  const open = { taskQueue: randomUUID(), memo: { turnId: turn.turnId } };
  const workflow = await client.workflow.start(agentTurnWorkflow, {
    ...open,
    workflowId: turnWorkflowId(turn),
  });
  const agentId = `${turnWorkflowId(turn)}/agent/call`;
  const agent = await client.workflow.start(agentTurnWorkflow, {
    taskQueue: open.taskQueue,
    workflowId: agentId,
  });
  const overdue = question(turn, { workflowId: agentId, deadline: Date.now() - minuteMs });
  await storage.elicitations.open(overdue, { perUser: 20 });
  await own.looks(client, 1);
  expect(await storage.elicitations.get(overdue.id)).toMatchObject({ status: 'pending' });
  await agent.terminate();
  await own.looks(client, 1);
  expect(await storage.elicitations.get(overdue.id)).not.toMatchObject({ status: 'pending' });
  expect(await storage.turns.get(turn)).toMatchObject({ status: 'running' });
  await workflow.terminate();
});

test('the question of a tool that was ended from outside is closed at once, while its turn goes on', async () => {
  await using own = await ownStorage();
  const { storage } = own;
  const turn = await begunTurn(storage);
  const { client } = setup.temporal;
  const options = { taskQueue: randomUUID(), memo: { turnId: turn.turnId } };
  const workflow = await client.workflow.start(agentTurnWorkflow, {
    ...options,
    workflowId: turnWorkflowId(turn),
  });
  const toolId = `${turnWorkflowId(turn)}/tool/call`;
  const tool = await client.workflow.start(durableToolWorkflow, { ...options, workflowId: toolId });
  const asked = question(turn, { workflowId: toolId });
  await storage.elicitations.open(asked, { perUser: 20 });
  await tool.terminate();
  const loop = startReconciler({ storage, logger }, createTurnRuns(client));
  const status = async () => (await storage.elicitations.get(asked.id))?.status;
  await expect.poll(status, { timeout: 20_000 }).toBe('cancel');
  await loop.stop();
  expect(await storage.turns.get(turn)).toMatchObject({ status: 'running' });
  await workflow.terminate();
});

async function ended(storage: Storage, turn: TurnRef): Promise<void> {
  const isEnded = async () => (await storage.turns.get(turn))?.endedAt ?? null;
  await expect.poll(isEnded, { timeout: 30_000 }).not.toBeNull();
}

/** A database that nobody else looks after, whose clock is set by the test. */
async function ownStorage() {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-lost-'));
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'interlude.db') }, { now });
  const pass = (ms: number) => void (ahead += ms);
  return {
    storage,
    pass,
    /** Everything there is, so many times, from the claim to the end. */
    async looks(client: Client, times: number): Promise<void> {
      for (let count = 0; count < times; count++) {
        pass(minuteMs);
        const claimed = Promise.withResolvers<void>();
        const claimDue: Storage['turns']['claimDue'] = async (...which) => {
          const due = await storage.turns.claimDue(...which);
          if (due.length > 0) claimed.resolve();
          return due;
        };
        const turns = { ...storage.turns, claimDue };
        const loop = startReconciler({ storage: { ...storage, turns }, logger }, createTurnRuns(client));
        await claimed.promise;
        await loop.stop();
      }
    },
    async [Symbol.asyncDispose]() {
      await storage.close();
      await rm(folder, { recursive: true });
    },
  };
}
