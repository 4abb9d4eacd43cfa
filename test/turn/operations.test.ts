import { describe, expect, test } from 'vitest';
import { OperationSchema } from '@interlude-ai/core/contract/stream-event.ts';
import type {
  Context,
  ElicitationEvent,
  Status,
  Trigger,
} from '@interlude-ai/core/elicitation/elicitation.ts';
import type { TurnEvent } from '../../src/turn/event.ts';
import { operationId, operationOf } from '../../src/turn/operations.ts';
import type { Operation } from '../../src/turn/operations.ts';

const at = Date.UTC(2026, 10, 21, 9, 30);
const timestamp = '2026-11-21T09:30:00.000Z';

function operation(event: TurnEvent): Operation | null {
  const found = operationOf({ seq: 7, turnId: 't', at, event }, 'assistant');
  expect(OperationSchema.nullable().parse(found)).toEqual(found);
  return found;
}

function question(status: Status, trigger: Trigger = 'credential_required'): ElicitationEvent {
  const context: Context = {
    trigger,
    agent: 'Assistant',
    server: 'tracker',
    serverTitle: 'Tracker',
    host: 'tracker.example',
  };
  const asked = { type: 'elicitation-request', elicitationId: 'e', message: 'private', context } as const;
  const expiresAt = timestamp;
  return trigger === 'mcp_elicitation'
    ? { ...asked, mode: 'form', requestedSchema: { title: 'private' }, status, expiresAt }
    : { ...asked, mode: 'url', url: 'https://private.example', status, expiresAt };
}

const call = { toolCallId: 'c', toolName: 'tracker__list_issues' };

test.each<[TurnEvent, Operation]>([
  [
    { type: 'start-step', step: 1 },
    { type: 'model_step', label: 'Step 2', details: { timestamp, agent: 'assistant', step: 1 } },
  ],
  [
    { type: 'tool-input-available', ...call, input: { private: true } },
    {
      type: 'tool_call',
      label: 'Calling tracker · list issues',
      details: { timestamp, agent: 'assistant', ...call },
    },
  ],
  [
    { type: 'tool-progress', ...call, progress: 2, total: 5, message: 'private' },
    {
      type: 'tool_progress',
      label: 'tracker · list issues: 40 %',
      details: { timestamp, agent: 'assistant', ...call, progress: 2, total: 5 },
    },
  ],
  [
    { type: 'tool-output-available', ...call, output: 'private' },
    {
      type: 'tool_result',
      label: 'tracker · list issues done',
      details: { timestamp, agent: 'assistant', ...call, status: 'done' },
    },
  ],
  [
    { type: 'tool-output-error', ...call, errorText: 'private' },
    {
      type: 'tool_result',
      label: 'tracker · list issues failed',
      details: { timestamp, agent: 'assistant', ...call, status: 'failed' },
    },
  ],
  [
    {
      type: 'tool-input-available',
      toolCallId: 'c',
      toolName: 'agent__researcher',
      input: { task: 'private' },
      agent: 'researcher',
    },
    {
      type: 'delegation',
      label: 'Asking researcher',
      details: { timestamp, agent: 'assistant', toolCallId: 'c', delegate: 'researcher' },
    },
  ],
  [
    question('pending'),
    {
      type: 'elicitation',
      label: 'Waiting for the user: connect Tracker',
      details: {
        timestamp,
        agent: 'assistant',
        elicitationId: 'e',
        mode: 'url',
        trigger: 'credential_required',
        server: 'tracker',
        status: 'pending',
      },
    },
  ],
])(
  '%j is an operation of which names and statuses are told, and nothing that was said',
  (event, expected) => {
    expect(operation(event)).toEqual(expected);
    expect(JSON.stringify(operation(event))).not.toContain('private');
  },
);

test('what a delegated agent does is told as its own', () => {
  const event: TurnEvent = { type: 'start-step', step: 0, path: ['researcher', 'reader'] };
  expect(operation(event)?.details.agent).toBe('reader');
});

test.each<TurnEvent>([
  { type: 'turn-started', agent: 'assistant', messageId: 'm' },
  { type: 'text-start', id: 'p' },
  { type: 'text-delta', id: 'p', delta: 'said' },
  { type: 'text-end', id: 'p' },
  { type: 'reasoning-start', id: 'p' },
  { type: 'reasoning-delta', id: 'p', delta: 'thought' },
  { type: 'reasoning-end', id: 'p' },
  { type: 'tool-auth-required', ...call, server: 'tracker', serverTitle: 'Tracker', message: 'said' },
  { type: 'finish-step', step: 0 },
  { type: 'reset-step', step: 0 },
  { type: 'error', code: 'TurnFailed', errorText: 'said' },
  { type: 'turn-ended', status: 'completed' },
])('$type is none', (event) => expect(operation(event)).toBeNull());

describe('labels', () => {
  test.each([
    [{ progress: 2, total: 3 }, '66 %'],
    [{ progress: 2.999, total: 3 }, '99 %'],
    [{ progress: 7, total: 3 }, '100 %'],
    [{ progress: -1, total: 3 }, '0 %'],
    [{ progress: 12 }, '12'],
    [{ progress: 0.123456 }, '0.12'],
  ])('say how far %j is', (progress, words) => {
    const label = operation({ type: 'tool-progress', ...call, ...progress })?.label;
    expect(label).toBe(`tracker · list issues: ${words}`);
  });

  test.each([
    ['connect_tracker', 'Calling tracker · connect'],
    ['bug_tracker__createIssue', 'Calling bug_tracker · create issue'],
    ['tracker__поиск', 'Calling tracker · поиск'],
    ['made_up', 'Calling made up'],
    ['__', 'Calling __'],
  ])('name the tool %s in words', (toolName, label) => {
    const event: TurnEvent = { type: 'tool-input-available', toolCallId: 'c', toolName, input: {} };
    expect(operation(event)?.label).toBe(label);
  });

  test('name who was asked for help when they are done', () => {
    const delegated = { toolCallId: 'c', toolName: 'agent__researcher' };
    expect(operation({ type: 'tool-output-available', ...delegated, output: '' })?.label).toBe(
      'researcher done',
    );
  });

  test.each<[Status, string, string]>([
    ['pending', 'Waiting for the user: connect Tracker', 'Waiting for the user: answer Tracker'],
    ['accept', 'Tracker is connected', 'The user answered Tracker'],
    ['decline', 'The user declined: connect Tracker', 'The user declined: answer Tracker'],
    ['cancel', 'Closed without an answer: connect Tracker', 'Closed without an answer: answer Tracker'],
    ['expired', 'Nobody answered in time: connect Tracker', 'Nobody answered in time: answer Tracker'],
  ])('tell a question that is %s', (status, account, form) => {
    expect(operation(question(status))?.label).toBe(account);
    expect(operation(question(status, 'mcp_elicitation'))?.label).toBe(form);
  });

  test('tell a page that is no account', () => {
    expect(operation(question('pending', 'tool_elicitation'))?.label).toBe(
      'Waiting for the user: open a page of Tracker',
    );
    expect(operation(question('accept', 'tool_elicitation'))?.label).toBe(
      'The user agreed: open a page of Tracker',
    );
  });
});

test('progress of one call is one operation, said again', () => {
  const at = (seq: number, toolCallId: string) =>
    operationId({
      seq,
      turnId: 't',
      at: 0,
      event: { type: 'tool-progress', ...call, toolCallId, progress: seq },
    });
  expect(at(1, 'a')).toBe(at(2, 'a'));
  expect(at(1, 'a')).not.toBe(at(1, 'b'));
});
