/** How an ended turn looks as a task. */
import { expect, test } from 'vitest';
import { toTask } from '../../src/api/mcp/modern/tasks.ts';
import { errorResult } from '../../src/api/mcp/tools/tool.ts';
import type { TurnEndStatus } from '../../src/turn/turn.ts';

const turn = { conversation: 'c', turnId: 't' };
const caller = { shows: { form: true, url: true } };
const stage = (status: TurnEndStatus) => ({
  kind: 'done' as const,
  at: 1_000,
  status,
  result: errorResult('The model does not answer.'),
});

test('one that broke off has failed, with its words as the error', () => {
  const task = toTask(turn, 0, stage('failed'), caller);
  expect(task).toMatchObject({
    taskId: 't',
    status: 'failed',
    error: { code: -32603, message: 'The model does not answer.' },
  });
  expect(task).not.toHaveProperty('result');
});

test('one that was the call of a tool has the tool’s result, whatever that says', () => {
  const direct = { tool: 'greet', result: errorResult('There is no such name.') };
  expect(toTask(turn, 0, { ...stage('failed'), direct }, caller)).toMatchObject({
    status: 'completed',
    result: direct.result,
  });
});

test.each<[TurnEndStatus, string]>([
  ['completed', 'completed'],
  ['superseded', 'completed'],
  ['cancelled', 'cancelled'],
])('one that is %s is %s', (status, expected) => {
  expect(toTask(turn, 0, stage(status), caller).status).toBe(expected);
});
