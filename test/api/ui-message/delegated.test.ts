import type { UIMessageChunk } from 'ai';
import { describe, expect, test } from 'vitest';
import { foldMessage } from '../../../src/api/ui-message/turn-message.ts';
import type { TurnEvent } from '../../../src/turn/event.ts';
import { accountQuestion, chunksFor } from './log.ts';

const path = ['researcher'];
const by = { path, parentToolCallId: 'c1' };

/** What the agent that was asked says and does, its ids equal to the asking agent's where they can be. */
const inside: TurnEvent[] = [
  { type: 'start-step', step: 0, ...by },
  { type: 'reasoning-start', id: 't1', ...by },
  { type: 'reasoning-delta', id: 't1', delta: 'a secret thought', ...by },
  { type: 'reasoning-end', id: 't1', ...by },
  { type: 'text-start', id: 't1', ...by },
  { type: 'text-delta', id: 't1', delta: 'a void word', ...by },
  { type: 'reset-step', step: 0, ...by },
  { type: 'text-start', id: 't1', ...by },
  { type: 'text-delta', id: 't1', delta: 'a word among themselves', ...by },
  { type: 'text-end', id: 't1', ...by },
  { type: 'tool-input-available', toolCallId: 'c2', toolName: 'tracker__list_issues', input: {}, ...by },
  { type: 'finish-step', step: 0, ...by },
  { ...accountQuestion('pending', 'list_issues'), path },
  { ...accountQuestion('accept', 'list_issues'), path },
  { type: 'tool-output-available', toolCallId: 'c2', toolName: 'tracker__list_issues', output: {}, ...by },
  { type: 'tool-output-error', toolCallId: 'c3', toolName: 'tracker__count', errorText: 'no', ...by },
  { type: 'error', code: 'model_refused', errorText: 'The model of the researcher failed.', ...by },
];

const delegation: TurnEvent[] = [
  { type: 'turn-started', agent: 'assistant', messageId: 'm1' },
  { type: 'start-step', step: 0 },
  { type: 'text-start', id: 't1' },
  { type: 'text-delta', id: 't1', delta: 'Let me ask.' },
  {
    type: 'tool-input-available',
    toolCallId: 'c1',
    toolName: 'agent__researcher',
    input: { task: 'Look.' },
    agent: 'researcher',
  },
];
const afterwards: TurnEvent[] = [
  { type: 'text-end', id: 't1' },
  { type: 'finish-step', step: 0 },
  { type: 'tool-output-available', toolCallId: 'c1', toolName: 'agent__researcher', output: {} },
  { type: 'turn-ended', status: 'failed' },
];
const turn = [...delegation, ...inside, ...afterwards];

const isOf = (type: string) => (chunk: UIMessageChunk) => chunk.type === type;

describe('what a delegated agent says and does among themselves', () => {
  test('never appears, and leaves what the turn itself says untouched', () => {
    const chunks = chunksFor({}, turn);
    const own = chunksFor({}, [...delegation, ...afterwards]);
    expect(chunks.filter((chunk) => !isOf('data-elicitation-request')(chunk))).toEqual(own);
    expect(own).toContainEqual({ type: 'error', errorText: 'The turn failed. Try again.' });
  });

  test('is not in the message either', () => {
    const { parts } = foldMessage(chunksFor({}, turn));
    expect(parts.map(({ type }) => type)).toEqual([
      'step-start',
      'text',
      'dynamic-tool',
      'data-elicitation-request',
    ]);
    expect(parts[1]).toEqual({ type: 'text', text: 'Let me ask.', state: 'done' });
  });
});

test("a delegated agent's question is asked like any other, saying who asks", () => {
  const questions = chunksFor({}, turn).filter(isOf('data-elicitation-request'));
  expect(questions).toMatchObject([
    { id: 'e1', data: { status: 'pending', path: ['researcher'] } },
    { id: 'e1', data: { status: 'accept', path: ['researcher'] } },
  ]);
});

test('a reader that cannot be asked gets the notice, named after the call inside', () => {
  const notices = chunksFor({ capabilities: { url: false, form: false } }, turn).filter(
    isOf('data-tool-auth-required'),
  );
  expect(notices).toMatchObject([{ id: 'c2', data: { toolName: 'tracker__list_issues' } }]);
});

test('a notice from inside comes through as well', () => {
  const notice: TurnEvent = {
    type: 'tool-auth-required',
    toolCallId: 'c2',
    toolName: 'tracker__list_issues',
    server: 'tracker',
    serverTitle: 'Tracker',
    message: 'Tracker needs your account.',
    ...by,
  };
  const reader = { capabilities: { url: false, form: false } };
  expect(chunksFor(reader, [...delegation, notice]).at(-1)).toMatchObject({ id: 'c2' });
});

test('operations come from inside too, each under the name of who does it', () => {
  const operations = chunksFor({ operations: true }, turn).filter(isOf('data-operation'));
  const told = operations.map((chunk) => ('data' in chunk ? chunk.data : null)) as {
    type: string;
    details: { agent: string };
  }[];
  expect(told.map(({ type, details }) => `${details.agent}: ${type}`)).toEqual([
    'assistant: model_step',
    'assistant: delegation',
    'researcher: model_step',
    'researcher: tool_call',
    'researcher: elicitation',
    'researcher: elicitation',
    'researcher: tool_result',
    'researcher: tool_result',
    'assistant: tool_result',
  ]);
  expect(JSON.stringify(operations)).not.toContain('word');
});
