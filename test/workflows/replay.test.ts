/** Turns recorded earlier go through today's workflow: a difference would break those that wait right now. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, expect, test } from 'vitest';
import { installQuietRuntime } from '../quiet-runtime.ts';
import { workflowBundle } from '../workflow-bundle.ts';

interface RecordedEvent {
  eventType: string;
  workflowExecutionStartedEventAttributes?: { workflowId: string };
  activityTaskScheduledEventAttributes?: { activityType: { name: string } };
}
interface Recorded {
  events: RecordedEvent[];
}

const folder = path.join(import.meta.dirname, 'histories');
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => path.basename(file, '.json'));

beforeAll(() => installQuietRuntime());

function recorded(name: string): Recorded {
  return JSON.parse(readFileSync(path.join(folder, `${name}.json`), 'utf8')) as Recorded;
}

async function replay(history: Recorded): Promise<void> {
  const id = history.events[0]?.workflowExecutionStartedEventAttributes?.workflowId;
  await Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, history, id);
}

test('turns of every shape are recorded', () => {
  expect(names.toSorted()).toEqual([
    'cancelled-while-a-tool-runs',
    'cancelled-while-waiting',
    'connected-again',
    'detached-cancelled',
    'detached-superseded',
    'detached-two-questions',
    'detached-wizard',
    'failed-model',
    'held-cancelled',
    'held-two-questions',
    'held-wizard',
    'kept-elsewhere-connected',
    'kept-elsewhere-declined',
    'kept-elsewhere-expired',
    'max-steps',
    'nobody-can-be-asked',
    'page-declined',
    'page-done',
    'plain-answer',
    'question-connected',
    'question-declined',
    'question-dismissed',
    'question-expired',
    'rounds-cancelled',
    'rounds-two-questions',
    'rounds-wizard',
    'server-question-expired',
    'task-cancelled',
    'task-cancelled.editor',
    'task-cancelled.editor.researcher',
    'task-for-two',
    'task-for-two.researcher',
    'task-handed-on',
    'task-handed-on.editor',
    'task-handed-on.editor.researcher',
    'task-not-finished',
    'task-not-finished.researcher',
    'task-superseded',
    'task-superseded.researcher',
    'task-with-a-question',
    'task-with-a-question.asked',
    'tool-without-question',
    'two-calls-one-question',
  ]);
});

test.each(names)('%s replays', async (name) => {
  const history = recorded(name);
  expect(history.events.at(-1)?.eventType).toBe('EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED');
  await replay(history);
});

test.each(names)('%s cut off while it was under way replays', async (name) => {
  const { events } = recorded(name);
  const last = events.findLastIndex(({ eventType }) => eventType === 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED');
  await replay({ events: events.slice(0, last + 1) });
});

test('a workflow that would act differently is refused', async () => {
  const history = recorded('question-connected');
  const call = history.events.findLast(
    ({ activityTaskScheduledEventAttributes: call }) => call?.activityType.name === 'callTool',
  );
  expect(call?.activityTaskScheduledEventAttributes?.activityType).toBeDefined();
  call!.activityTaskScheduledEventAttributes!.activityType.name = 'callModel';
  await expect(replay(history)).rejects.toThrow(DeterminismViolationError);
});
