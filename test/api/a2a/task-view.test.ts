/** Ends of turns as states of tasks, and the notifications made from a log, however it is read. */
import { describe, expect, test } from 'vitest';
import { TaskState } from '@a2a-js/sdk';
import { createNewsFeed } from '../../../src/api/a2a/vocabulary/push-news.ts';
import { createTaskView } from '../../../src/api/a2a/vocabulary/task-view.ts';
import type { LogEntry, TurnEvent } from '../../../src/turn/event.ts';

const view = () =>
  createTaskView(
    {
      turn: { conversation: 'c', turnId: 't' },
      given: 'hello',
      clientMessageId: 'm',
      createdAt: 1,
      status: 'starting',
    },
    { isStructured: false, pageOf: (id) => `https://interlude.example/${id}` },
  );
const logOf = (...events: object[]): LogEntry[] =>
  events.map((event, index) => ({
    seq: index + 1,
    turnId: 't',
    at: index + 1,
    event: event as TurnEvent,
  })) as LogEntry[];
const started = { type: 'turn-started', agent: 'a', messageId: 'm' };
const text = (delta: string) => ({ type: 'text-delta', id: 'b', delta });
const asked = (status: string, elicitationId = 'e') => ({
  type: 'elicitation-request',
  elicitationId,
  status,
  mode: 'form',
  message: 'Which city?',
  requestedSchema: { type: 'object', properties: { city: { type: 'string' } } },
  expiresAt: '2026-11-23T00:00:00.000Z',
  context: { trigger: 'mcp_elicitation', server: 'asking', serverTitle: 'Asking' },
});
const ended = (status: string) => ({ type: 'turn-ended', status });
const name = (state: TaskState) => TaskState[state].replace('TASK_STATE_', '');

describe('a turn that', () => {
  test.each([
    ['nobody has taken up', [], 'SUBMITTED', undefined],
    ['is at work', [started], 'WORKING', undefined],
    ['asks', [started, asked('pending')], 'INPUT_REQUIRED', /Which city/],
    ['was not answered in time', [started, asked('pending'), asked('expired')], 'WORKING', undefined],
    ['completed', [started, ended('completed')], 'COMPLETED', undefined],
    [
      'completed, and its model refused',
      [started, { type: 'finish-step', step: 0, finish: 'refused' }, ended('completed')],
      'REJECTED',
      /refused/,
    ],
    [
      'failed',
      [started, { type: 'error', code: 'X', errorText: 'The model is away.' }, ended('failed')],
      'FAILED',
      /model is away/,
    ],
    ['was cancelled', [started, asked('pending'), ended('cancelled')], 'CANCELED', /cancelled/],
    ['was superseded', [started, ended('superseded')], 'CANCELED', /newer message/],
  ])('%s', (_, events, state, words) => {
    const task = view();
    task.add(logOf(...events));
    expect(name(task.state())).toBe(state);
    const said = JSON.stringify(task.task().status?.message ?? null);
    expect(said).toMatch(words ?? /./);
  });
});

test('a target is told the same of a log in one piece and entry by entry: states, and the text before each stop', () => {
  const log = logOf(
    started,
    text('One '),
    asked('pending'),
    asked('pending', 'f'),
    asked('accept'),
    asked('accept', 'f'),
    text('two'),
    ended('completed'),
  );
  const told = (batches: LogEntry[][]) => {
    const feed = createNewsFeed(view());
    return [feed.first(0), ...batches.flatMap((batch) => feed.next(batch))].flatMap(({ position, updates }) =>
      updates.map(({ payload }) => {
        if (payload?.$case === 'artifactUpdate') {
          const [part] = payload.value.artifact?.parts ?? [];
          return `${position} ${part?.content?.$case === 'text' ? part.content.value : ''}`;
        }
        const status = payload?.$case === 'message' ? undefined : payload?.value.status;
        return `${position} ${name(status?.state ?? 0)}`;
      }),
    );
  };
  const story = told([log]);
  expect(story).toEqual([
    '0 SUBMITTED',
    '1 WORKING',
    '3 One',
    '3 INPUT_REQUIRED',
    '4 INPUT_REQUIRED',
    '5 INPUT_REQUIRED',
    '6 WORKING',
    '8 One two',
    '8 COMPLETED',
  ]);
  expect(told(log.map((entry) => [entry]))).toEqual(story);
});
