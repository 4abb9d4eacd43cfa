/**
 * A wizard, and calls that ask nothing, whose worker is lost at every point: at each task that it is handed and at each that it reports, once. What a
 * worker does in between leaves no trace in a history, so these are all cuts that there are between two of its events. The
 * worker of the agent's turn is lost in the same ways.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createHeldCallLimit } from '../../src/activities/call-tool/held-call-limit.ts';
import { offerTools } from '../../src/platform/processes/start-worker.ts';
import { startToolWorkers } from '../../src/platform/processes/workers/tool-workers.ts';
import { createTurnWorker } from '../../src/platform/processes/workers/turn-workers.ts';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { startTemporalProxy } from '../servers/temporal-proxy.ts';
import type { Fate, Task } from '../servers/temporal-proxy.ts';
import { useService } from '../service/use-service.ts';
import { workflowBundle } from '../workflow-bundle.ts';
import { bundleTools } from './bundle-tools.ts';

const notesFile = path.join(mkdtempSync(path.join(tmpdir(), 'interlude-notes-')), 'notes');
process.env['INTERLUDE_TEST_NOTES'] = notesFile;
afterAll(() => rmSync(path.dirname(notesFile), { recursive: true }));

type Whose = 'tool' | 'turn';
type Cut = 'lost when handed over' | 'lost when reported' | 'lost after it was reported';

/** What is lost in this test, and what was. */
let cuts: { of: Whose[]; cut: Cut };
const lost = new Map<string, Task>();
beforeEach(() => {
  writeFileSync(notesFile, '');
  lost.clear();
});

const bundle = await bundleTools();
const used = useService({
  env: { RATE_LIMIT_PER_MINUTE: '1000000' },
  async startWorkers(parts, stack) {
    const to = async (whose: Whose) => {
      const proxy = await startTemporalProxy(used.temporal, {
        handOver: (task) => fateOf(whose, task, { 'lost when handed over': 'lost' }),
        report: (task) =>
          fateOf(whose, task, { 'lost when reported': 'lost', 'lost after it was reported': 'unheard' }),
      });
      stack.defer(() => proxy.stop());
      const connection = await NativeConnection.connect({ address: proxy.address });
      stack.defer(() => connection.close());
      return connection;
    };
    const tools = await startToolWorkers(parts, await to('tool'), [bundle]);
    const offeredTools = offerTools(new Map([['assistant', { bundle }]]));
    const own = { ...parts, offeredTools, heldCallLimit: createHeldCallLimit(1) };
    const worker = await createTurnWorker(own, await to('turn'), {
      workflowBundle: await workflowBundle(),
    });
    const running = worker.run();
    stack.defer(async () => {
      worker.shutdown();
      await Promise.all([running, tools.stop()]);
    });
  },
});

function fateOf(whose: Whose, task: Task, fates: Partial<Record<Cut, Fate>>): Fate {
  const fate = cuts.of.includes(whose) ? fates[cuts.cut] : undefined;
  if (fate === undefined || lost.has(task.key)) return 'pass';
  lost.set(task.key, task);
  return fate;
}

test.each<[Cut, Whose[], steps: number]>([
  ['lost when reported', ['tool'], 10],
  ['lost when handed over', ['tool', 'turn'], 10],
  ['lost after it was reported', ['tool', 'turn'], 4],
  ['lost when reported', ['turn'], 4],
])(
  'each task, %s, of %j: every effect, question and result is there once',
  { timeout: 180_000 },
  async (cut, of, steps) => {
    const words = Array.from({ length: steps }, (_, index) => `w${index + 1}`);
    cuts = { of, cut };
    const conversation = randomUUID();
    const stream = await used.alice.chat(`call wizard {"steps":${steps}}`, { conversation });
    for (const [index, word] of words.entries()) {
      const question = (await stream.questions('pending', index + 1))[index];
      expect(question?.message).toBe(`Step ${index + 1}, after ${words.slice(0, index).join(', ')}`);
      const { elicitationId = '' } = question ?? {};
      const given = { conversationId: conversation, elicitationId, action: 'accept', content: { word } };
      expect((await used.alice.answer(given)).status).toBe(200);
    }
    await stream.finished();
    expect(stream.text()).toBe(words.join(' '));
    expect(readFileSync(notesFile, 'utf8').split('\n').slice(0, -1)).toEqual(
      words.map((word, index) => `${index + 1}: ${word}`),
    );
    const events = await used.service.storage.turnLog.read({ tenant: 'demo', conversation }, 0);
    const counts = Object.groupBy(events, ({ event }) =>
      event.type === 'elicitation-request' ? `${event.type} ${event.status}` : event.type,
    );
    expect(Object.entries(counts).map(([type, all]) => [type, all?.length])).toEqual(
      expect.arrayContaining([
        ['elicitation-request pending', steps],
        ['elicitation-request accept', steps],
        ['tool-input-available', 1],
        ['tool-output-available', 1],
        ['turn-ended', 1],
      ]),
    );
    expectAllCut(await tasksOf(conversation, of));
  },
);

test.each<Cut>(['lost when reported', 'lost when handed over', 'lost after it was reported'])(
  'each task of calls that ask nothing, %s: every effect and result is there once',
  { timeout: 180_000 },
  async (cut) => {
    const words = ['one', 'two', 'three'];
    cuts = { of: ['tool', 'turn'], cut };
    const conversation = randomUUID();
    const calls = words.map((line) => `call jot ${JSON.stringify({ line })}`);
    const stream = await used.alice.chat(calls.join('\n'), { conversation });
    await stream.finished();
    expect(readFileSync(notesFile, 'utf8').split('\n').slice(0, -1).toSorted()).toEqual(words.toSorted());
    const outputs = stream.chunks.filter(({ type }) => type === 'tool-output-available');
    expect(outputs).toHaveLength(words.length);
    expectAllCut(await tasksOf(conversation, ['turn']));
  },
);

/** Each task of these workflows, as often as it was scheduled. */
async function tasksOf(conversation: string, of: Whose[]) {
  const { workflow } = used.temporal.client;
  const [entry] = await used.service.storage.turnLog.read({ tenant: 'demo', conversation }, 0, 1);
  const root = turnWorkflowId({ tenant: 'demo', conversation, turnId: entry?.turnId ?? '' });
  await workflow.getHandle(root).result();
  const history = (await workflow.getHandle(root).fetchHistory()).events ?? [];
  const child = history.flatMap(
    ({ startChildWorkflowExecutionInitiatedEventAttributes: started }) => started?.workflowId ?? [],
  )[0];
  const tool = child === undefined ? [] : ((await workflow.getHandle(child).fetchHistory()).events ?? []);
  const events = [...(of.includes('turn') ? history : []), ...(of.includes('tool') ? tool : [])];
  return {
    workflow: events.filter((event) => event.workflowTaskCompletedEventAttributes).length,
    activity: events.filter((event) => event.activityTaskScheduledEventAttributes).length,
  };
}

function expectAllCut(tasks: Record<Task['kind'], number>): void {
  for (const kind of ['workflow', 'activity'] as const)
    expect([kind, [...lost.values()].filter((task) => task.kind === kind).length]).toEqual([
      kind,
      tasks[kind],
    ]);
}
