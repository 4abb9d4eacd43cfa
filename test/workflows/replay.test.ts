/** Turns recorded earlier go through today's workflow: a difference would break those that wait right now. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, test } from 'vitest';
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

interface Replay {
  workflowId: string;
  history: Recorded;
}

/** All in one worker: each one started for itself loads the whole bundle anew. Resolves to the errors, in order. */
async function replay(replays: Replay[]): Promise<(Error | undefined)[]> {
  const errors: (Error | undefined)[] = [];
  const results = Worker.runReplayHistories({ workflowBundle: await workflowBundle() }, replays);
  for await (const { error } of results) errors.push(error);
  return errors;
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
    'task-shared-account',
    'task-shared-account.editor',
    'task-shared-account.editor.researcher',
    'task-shared-account.researcher',
    'task-superseded',
    'task-superseded.researcher',
    'task-with-a-question',
    'task-with-a-question.asked',
    'tool-without-question',
    'two-calls-one-question',
  ]);
});

const whole = (name: string): Replay => replayOf(recorded(name));

/** Ends with the last decision of the workflow, as a history does while its turn is under way. */
function cutOff(name: string): Replay {
  const { events } = recorded(name);
  const last = events.findLastIndex(({ eventType }) => eventType === 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED');
  return replayOf({ events: events.slice(0, last + 1) });
}

function replayOf(history: Recorded): Replay {
  const { workflowId } = history.events[0]?.workflowExecutionStartedEventAttributes ?? {};
  if (workflowId === undefined) throw new Error('a recorded history begins with the start of its workflow');
  return { workflowId, history };
}

describe.each([
  ['%s replays', whole],
  ['%s cut off while it was under way replays', cutOff],
])('%s', (title, read) => {
  let errors: Map<string, Error | undefined>;
  beforeAll(async () => {
    const found = await replay(names.map(read));
    if (found.length !== names.length) throw new Error(`${found.length} of ${names.length} were replayed`);
    errors = new Map(names.map((name, index) => [name, found[index]]));
  });

  test.each(names)(title, (name) => {
    expect(recorded(name).events.at(-1)?.eventType).toBe('EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED');
    expect(errors.get(name)).toBeUndefined();
  });
});

test('a workflow that would act differently is refused', async () => {
  const { workflowId, history } = whole('question-connected');
  const call = history.events.findLast(
    ({ activityTaskScheduledEventAttributes: call }) => call?.activityType.name === 'callTool',
  );
  expect(call?.activityTaskScheduledEventAttributes?.activityType).toBeDefined();
  call!.activityTaskScheduledEventAttributes!.activityType.name = 'callModel';
  const [error] = await replay([{ workflowId, history }]);
  expect(error).toBeInstanceOf(DeterminismViolationError);
});
