/** Turns recorded earlier go through today's workflow: a difference would break those that wait right now. */
import path from 'node:path';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, test } from 'vitest';
import { installQuietRuntime } from '../quiet-runtime.ts';
import { workflowBundle } from '../workflow-bundle.ts';
import { recordedIn, replay } from './recorded-histories.ts';

const { names, recorded, whole, cutOff } = recordedIn(path.join(import.meta.dirname, 'histories'));

beforeAll(() => installQuietRuntime());

test('turns of every shape are recorded', () => {
  expect(names).toEqual([
    'approval-dismissed',
    'approval-refused',
    'approved',
    'approved-before',
    'approved-for-conversation',
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
    'push-delivered',
    'push-given-up',
    'question-connected',
    'question-declined',
    'question-dismissed',
    'question-expired',
    'rounds-cancelled',
    'rounds-two-questions',
    'rounds-wizard',
    'server-question-expired',
    'slack-delivered',
    'slack-impossible',
    'slack-limited-and-away',
    'task-cancelled',
    'task-cancelled.editor',
    'task-cancelled.editor.researcher',
    'task-for-two',
    'task-for-two.researcher',
    'task-handed-on',
    'task-handed-on-superseded',
    'task-handed-on-superseded.editor',
    'task-handed-on-superseded.editor.researcher',
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

describe.each([
  ['%s replays', whole],
  ['%s cut off while it was under way replays', cutOff],
])('%s', (title, read) => {
  let errors: Map<string, Error | undefined>;
  beforeAll(async () => {
    const found = await replay({ workflowBundle: await workflowBundle() }, names.map(read));
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
  const [error] = await replay({ workflowBundle: await workflowBundle() }, [{ workflowId, history }]);
  expect(error).toBeInstanceOf(DeterminismViolationError);
});
