/** What is sent to workflows once a transaction has decided something, by a real Temporal server without workers. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/platform/config/load-config.ts';
import { openKeys } from '../../src/credentials/sealing/key-file.ts';
import { onServiceDatabase } from '../../src/platform/processes/dependencies.ts';
import { createForgetHistories } from '../../src/service/forget-histories.ts';
import { startOutbox } from '../../src/service/outbox.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { ElicitationRow } from '../../src/storage/schema/question-tables.ts';
import type { OutboxObserver } from '../../src/storage/database.ts';
import type { TurnRef } from '../../src/turn/turn.ts';
import { agentTurnWorkflow, turnWorkflowId } from '../../src/workflows/messages.ts';
import type { QuestionsSettled } from '../../src/workflows/messages.ts';
import { begunTurn } from '../storage/contract/fixtures.ts';
import { answer, formQuestion, open, question } from '../storage/contract/question.ts';
import { endQuestion } from '../storage/end-question.ts';
import { testFolder } from '../test-folder.ts';
import { useDevelopmentServer } from './use-development-server.ts';

const temporal = useDevelopmentServer();
const logger = pino({ level: 'silent' });

/** A database with a process that delivers its outbox. */
async function setUp(installation?: { isTogether(): boolean }) {
  const file = path.join(testFolder(), 'interlude.db');
  let deliver: OutboxObserver = () => undefined;
  const storage = await openStorage({ kind: 'sqlite', path: file }, { outbox: (marks) => deliver(marks) });
  const abandoned: string[] = [];
  const sent: string[] = [];
  const reported: ElicitationRow[] = [];
  const sender = startOutbox({
    client: temporal.client,
    storage,
    abandonCalls: async ({ turnId }) => void abandoned.push(turnId),
    onSent: ({ turnId }) => void sent.push(turnId),
    questions: { settled: (question) => void reported.push(question) },
    installation,
    logger,
  });
  ({ deliver } = sender);
  onTestFinished(async () => {
    await sender.stop();
    await storage.close();
  });

  /** Nothing polls its workflow. */
  async function run(workflowId: string): Promise<void> {
    const { client } = temporal;
    const workflow = await client.workflow.start(agentTurnWorkflow, { workflowId, taskQueue: randomUUID() });
    onTestFinished(() => workflow.terminate().then(ignore, ignore));
  }

  return {
    storage,
    sender,
    abandoned,
    sent,
    reported,
    file,
    run,
    async waitingTurn(count = 1) {
      const turn = await begunTurn(storage);
      const workflowId = turnWorkflowId(turn);
      await run(workflowId);
      const waiter = { toolCallId: 'call', workflowId };
      const questions = Array.from({ length: count }, () => formQuestion(turn, { waiter }));
      await open(storage, questions);
      return { turn, workflowId, waiter, questions, ids: questions.map(({ id }) => id) };
    },
    marks(): { id: string; failures: number }[] {
      const database = new DatabaseSync(file, { readOnly: true });
      const rows = database.prepare('select id, failures from outbox').all();
      database.close();
      return rows as unknown as { id: string; failures: number }[];
    },
  };
}

const ignore = () => undefined;

async function eventsOf(turn: TurnRef) {
  return (await temporal.client.workflow.getHandle(turnWorkflowId(turn)).fetchHistory()).events ?? [];
}

/** The ids in each signal. */
async function signalsTo(turn: TurnRef): Promise<string[][]> {
  const signals = (await eventsOf(turn)).flatMap(
    ({ workflowExecutionSignaledEventAttributes: signal }) => signal ?? [],
  );
  return signals.map(({ input }) => {
    const data = Buffer.from(input?.payloads?.[0]?.data ?? '').toString();
    return (JSON.parse(data) as QuestionsSettled).elicitationIds;
  });
}

test('a process that is busy signals when it has time again', async () => {
  const { storage, waitingTurn, sent } = await setUp();
  const { turn, questions } = await waitingTurn();
  await keepBusy(sleep(100));
  const answering = answer(storage, questions[0]!);
  await keepBusy(answering);
  expect((await answering).question.status).toBe('accept');
  expect(sent).toEqual([]);
  await expect.poll(() => sent).toEqual([turn.turnId]);
});

/** Until `done`. What is ready gets its chance every few milliseconds. */
async function keepBusy(done: Promise<unknown>): Promise<void> {
  let isDone = false;
  const settled = done.finally(() => (isDone = true));
  while (!isDone) {
    const pieceEnd = performance.now() + 5;
    while (performance.now() < pieceEnd);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await settled;
}

test('an answer is signalled to the workflow that waits, and its mark deleted', async () => {
  const { storage, waitingTurn, marks, sent } = await setUp();
  const { turn, questions, ids } = await waitingTurn();
  await answer(storage, questions[0]!);
  await expect.poll(() => signalsTo(turn)).toEqual([ids]);
  await expect.poll(marks).toEqual([]);
  expect(sent).toEqual([turn.turnId]);
});

test('a connected account is signalled to every workflow that waits for it', async () => {
  const { storage, waitingTurn, run, marks } = await setUp();
  const { turn, waiter } = await waitingTurn();
  const delegate = `${waiter.workflowId}/agent/a`;
  await run(delegate);
  const account = question(turn, { waiter });
  await open(storage, account);
  await open(storage, { ...account, waiter: { toolCallId: 'b', workflowId: delegate } });
  await endQuestion(storage, account.id, 'accept');
  await expect.poll(() => signalsTo(turn)).toEqual([[account.id]]);
  const isSignalled = async () => {
    const { events } = await temporal.client.workflow.getHandle(delegate).fetchHistory();
    return events?.some((event) => event.workflowExecutionSignaledEventAttributes);
  };
  await expect.poll(isSignalled).toBe(true);
  await expect.poll(marks).toEqual([]);
});

test('many answers to one workflow are a few signals, and none is lost', async () => {
  const { storage, waitingTurn, marks } = await setUp();
  const { turn, questions, ids } = await waitingTurn(15);
  await Promise.all(questions.map((one) => answer(storage, one)));
  const signalled = async () => (await signalsTo(turn)).flat().toSorted();
  await expect.poll(signalled).toEqual(ids.toSorted());
  expect((await signalsTo(turn)).length).toBeLessThan(15);
  await expect.poll(marks).toEqual([]);
});

test('a burst of more than is handed to the process at once is delivered to its end', async () => {
  const { storage, waitingTurn, marks } = await setUp();
  const turns = await Promise.all(Array.from({ length: 60 }, () => waitingTurn()));
  await Promise.all(turns.map(({ questions }) => answer(storage, questions[0]!)));
  await expect.poll(marks).toEqual([]);
  for (const { turn, ids } of turns) expect(await signalsTo(turn)).toEqual([ids]);
});

test('a turn that is to stop has its workflow cancelled; a turn that was ended, also its calls abandoned', async () => {
  const { storage, waitingTurn, marks, abandoned } = await setUp();
  const [stopping, ended] = [await waitingTurn(), await waitingTurn()];
  await storage.turns.cancel(stopping.turn);
  await storage.turns.end(ended.turn, 'failed');
  const isCancelled = async (turn: TurnRef) =>
    (await eventsOf(turn)).some((event) => event.workflowExecutionCancelRequestedEventAttributes);
  for (const { turn } of [stopping, ended]) await expect.poll(() => isCancelled(turn)).toBe(true);
  await expect.poll(marks).toEqual([]);
  expect(abandoned).not.toContain(stopping.turn.turnId);
});

test('what a command settles is signalled and reported by a process of the service', async () => {
  const { file, waitingTurn, marks, reported } = await setUp();
  const { turn, ids } = await waitingTurn();
  const folder = path.dirname(file);
  const agents = path.resolve(import.meta.dirname, '../fixtures/agents.yaml');
  const env = { INTERLUDE_CONFIG: agents, INTERLUDE_DATA: folder, TRACKER_URL: 'http://127.0.0.1:9/mcp' };
  const config = loadConfig(env, folder);
  await openKeys(config);
  await onServiceDatabase(config, ({ storage }) =>
    storage.elicitations.settle(ids, { type: 'expired-by-operator' }),
  );
  await expect.poll(() => signalsTo(turn)).toEqual([ids]);
  await expect.poll(() => reported).toMatchObject([{ id: ids[0], status: 'expired' }]);
  await expect.poll(marks).toEqual([]);
});

test('what a closed workflow would have been sent is forgotten', async () => {
  const { storage, waitingTurn, marks } = await setUp();
  const { workflowId, questions } = await waitingTurn();
  await temporal.client.workflow.getHandle(workflowId).terminate();
  await answer(storage, questions[0]!);
  await expect.poll(marks).toEqual([]);
});

test('a workflow that Temporal does not know is tried again as long as its turn is live', async () => {
  const { storage, run, marks } = await setUp();
  const turn = await begunTurn(storage);
  const workflowId = turnWorkflowId(turn);
  const asked = formQuestion(turn, { waiter: { toolCallId: 'call', workflowId } });
  await open(storage, asked);
  await answer(storage, asked);
  await expect.poll(() => marks()[0]?.failures).toBeGreaterThan(0);
  await run(workflowId);
  await expect.poll(() => signalsTo(turn)).toEqual([[asked.id]]);

  const lost = await begunTurn(storage);
  const unheard = formQuestion(lost, { waiter: { toolCallId: 'call', workflowId: turnWorkflowId(lost) } });
  await open(storage, unheard);
  await answer(storage, unheard);
  await expect.poll(() => marks()[0]?.failures).toBeGreaterThan(0);
  await storage.turns.end(lost, 'failed', { isOwn: true });
  await expect.poll(marks).toEqual([]);
});

test('histories that Temporal refuses to list are left to its retention in the end, and operators get to know it once', async () => {
  const lines: { msg: string }[] = [];
  const warned = pino({}, { write: (line) => void lines.push(JSON.parse(line) as { msg: string }) });
  // A namespace without our search attributes.
  const client = new Client({ connection: temporal.client.connection, namespace: 'temporal-system' });
  const forget = createForgetHistories(client, warned);
  const turn = { tenant: 'acme', conversation: 'c', turnId: randomUUID() };
  const attempt = (failures: number) => forget({ workflowId: turnWorkflowId(turn), turn, failures });
  for (const failures of [0, 1]) await expect(attempt(failures)).rejects.toThrow('Failed to list workflows');
  expect(lines.map(({ msg }) => msg)).toEqual([expect.stringContaining('InterludeRootTurn')]);
  expect(await attempt(20)).toBe(0);
  expect(lines.at(-1)?.msg).toContain('its retention deletes them');
});

test('nothing is sent while database and Temporal may not belong together', async () => {
  let isTogether = false;
  const { storage, waitingTurn, marks } = await setUp({ isTogether: () => isTogether });
  const { turn, questions, ids } = await waitingTurn();
  await answer(storage, questions[0]!);
  expect([await signalsTo(turn), marks()]).toMatchObject([[], [{ failures: 0 }]]);
  isTogether = true;
  await expect.poll(() => signalsTo(turn)).toEqual([ids]);
});
