/** The most that a turn may take is judged by its row, with or without a worker. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { agentTurnWorkflow, turnWorkflowId } from '../../../src/workflows/messages.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { useAskingService } from '../../asking/asking-service.ts';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { begunTurn, newTurn, refuseWhileBusy } from '../../storage/contract/fixtures.ts';
import { open, question } from '../../storage/contract/question.ts';
import { bundleTools } from '../../durable-tools/bundle-tools.ts';
import { useService } from '../../service/use-service.ts';
import { idOf } from '../../workflows/waiting.ts';
import { ended, ownStorage } from './own-storage.ts';

/** By how much the clock of the service's database is ahead for its reconciler. */
let aheadMs = 0;
const around = (storage: Storage): Storage => ({
  ...storage,
  now: () => storage.now() + aheadMs,
  turns: {
    ...storage.turns,
    claimOverdue: (limit, againMs, longestMs) =>
      storage.turns.claimOverdue(limit, againMs, longestMs - aheadMs),
  },
});
const setup = useAskingService({ around });
const withTools = useService({ around, tools: { assistant: await bundleTools() } });
const dayMs = 24 * 60 * 60_000;

test('without a worker: it ends and says why, its questions close, and its workflow is asked to stop', async () => {
  await using own = await ownStorage();
  const { storage, pass } = own;
  const { client } = setup.temporal;
  const turn = await begunTurn(storage);
  const asked = question(turn, { timeoutMs: 2 * dayMs });
  await open(storage, asked);
  const workflow = await client.workflow.start(agentTurnWorkflow, {
    workflowId: turnWorkflowId(turn),
    // Nothing polls it.
    taskQueue: randomUUID(),
  });
  pass(dayMs - 60_000);
  await using _ = own.reconciles(client);
  const young = await begunTurn(storage);
  await client.workflow.start(agentTurnWorkflow, {
    workflowId: turnWorkflowId(young),
    taskQueue: randomUUID(),
  });
  expect(await storage.turns.get(turn)).toMatchObject({ status: 'running' });
  pass(60_000);
  await ended(storage, turn);
  expect(await storage.turns.get(turn)).toMatchObject({ status: 'failed' });
  expect(await storage.elicitations.get(asked.id)).toMatchObject({ status: 'cancel' });
  const log = await storage.turnLog.read(turn, 0);
  expect(log.slice(-2).map(({ event }) => event)).toMatchObject([
    {
      type: 'error',
      code: 'TurnTimedOut',
      errorText: expect.stringContaining('longer than a turn may take'),
    },
    { type: 'turn-ended', status: 'failed' },
  ]);
  const isAskedToStop = async () =>
    ((await workflow.fetchHistory()).events ?? []).some(
      ({ workflowExecutionCancelRequestedEventAttributes: cancel }) => cancel != null,
    );
  await expect.poll(isAskedToStop).toBe(true);
  expect(await storage.turns.get(young)).toMatchObject({ status: 'running' });
  await workflow.terminate();
  await client.workflow.getHandle(turnWorkflowId(young)).terminate();
});

test('without a worker that has ever taken it up: it ends, too', async () => {
  await using own = await ownStorage();
  const { client } = setup.temporal;
  const turn = newTurn();
  await own.storage.turns.prepare(turn, refuseWhileBusy);
  const workflow = await client.workflow.start(agentTurnWorkflow, {
    workflowId: turnWorkflowId(turn),
    taskQueue: randomUUID(),
  });
  own.pass(dayMs);
  await using _ = own.reconciles(client);
  await ended(own.storage, turn);
  expect(await own.storage.turns.get(turn)).toMatchObject({ status: 'failed' });
  await workflow.terminate();
});

test.each(['assistant', 'lead'])(
  'with a worker: the workflows of %s close and write nothing more, and the next message is answered',
  async (agentId) => {
    const call = 'call asking__ask {}';
    const turn = await setup.begin([asks({ one: form('One') }, 's')], {
      agentId,
      text: agentId === 'lead' ? `ask the assistant to ${call}` : call,
    });
    await turn.question(0);
    const { conversation, stream } = turn;
    const { client } = setup.temporal;
    const ref = { tenant: 'demo', conversation };
    const workflow = client.workflow.getHandle(idOf(turn));
    const { storage } = setup.service;
    aheadMs = dayMs;
    const chunks = await stream.finished();
    aheadMs = 0;
    expect(chunks).toContainEqual(
      expect.objectContaining({
        type: 'error',
        errorText: expect.stringContaining('longer than a turn may'),
      }),
    );
    expect(turn.statuses()).toEqual(['cancel']);
    const before = await storage.turnLog.read(ref, 0);
    expect(before.slice(-2).map(({ event }) => event.type)).toEqual(['error', 'turn-ended']);
    await workflow.result();
    expect((await workflow.describe()).status.name).toBe('COMPLETED');
    expect(await storage.turnLog.read(ref, 0)).toEqual(before);
    expect(await storage.turns.get({ ...ref, turnId: stream.turnId })).toMatchObject({ status: 'failed' });
    const next = await setup.alice.chat('hello', { conversation, agentId });
    await next.finished();
    expect(next.text()).toContain('hello');
  },
);

test('with a tool in TypeScript that asks: its question closes, and its workflow with that of the turn', async () => {
  const conversation = randomUUID();
  const ref = { tenant: 'demo', conversation };
  const stream = await withTools.alice.chat('call wizard {"steps":2}', { conversation });
  const { elicitationId, context } = await stream.question('pending');
  const toolCallId = String(context['toolCallId']);
  const { storage } = withTools.service;
  const root = idOf({ conversation, stream });
  aheadMs = dayMs;
  await stream.finished();
  aheadMs = 0;
  expect(await storage.elicitations.get(elicitationId)).toMatchObject({ status: 'cancel' });
  const before = await storage.turnLog.read(ref, 0);
  const { client } = withTools.temporal;
  for (const id of [`${root}/tool/${toolCallId}`, root])
    await client.workflow
      .getHandle(id)
      .result()
      .catch(() => undefined);
  expect(await storage.turnLog.read(ref, 0)).toEqual(before);
  expect(before.at(-1)?.event).toMatchObject({ type: 'turn-ended', status: 'failed' });
});
