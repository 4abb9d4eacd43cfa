import { describe, expect, test } from 'vitest';
import { toOutcome, createTranslator } from '../../../src/api/openai/translate.ts';
import type { Reading } from '../../../src/api/openai/translate.ts';
import { readerFrom } from '../../../src/api/http/reader-headers.ts';
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { LogEntry, TurnEvent } from '../../../src/turn/event.ts';

const startedAt = Date.parse('2026-11-21T10:00:00.700Z');
const created = Date.parse('2026-11-21T10:00:00Z') / 1000;
const question: ElicitationEvent = {
  type: 'elicitation-request',
  elicitationId: 'q1',
  mode: 'url',
  message: 'Tracker needs your account.',
  url: 'http://localhost/auth/connect?e=q1',
  context: {
    trigger: 'credential_required',
    agent: 'Assistant',
    server: 'tracker',
    serverTitle: 'Tracker',
    host: 'localhost',
  },
  status: 'pending',
  expiresAt: '2026-11-21T10:10:00.000Z',
};
const started: TurnEvent = { type: 'turn-started', agent: 'assistant', messageId: 't1' };
const completed: TurnEvent = {
  type: 'turn-ended',
  status: 'completed',
  usage: { inputTokens: 3, outputTokens: 4 },
};
const call: TurnEvent = {
  type: 'tool-input-available',
  toolCallId: 'call_1',
  toolName: 'tracker__list_issues',
  input: { state: 'open' },
};
const result: TurnEvent = {
  type: 'tool-output-available',
  toolCallId: 'call_1',
  toolName: 'tracker__list_issues',
  output: { content: [{ type: 'text', text: 'secret' }] },
};

function text(id: string, ...deltas: string[]): TurnEvent[] {
  return [
    { type: 'text-start', id },
    ...deltas.map((delta): TurnEvent => ({ type: 'text-delta', id, delta })),
    { type: 'text-end', id },
  ];
}

const logOf = (events: TurnEvent[]): LogEntry[] =>
  events.map((event, index) => ({ seq: index + 1, turnId: 't1', at: startedAt + index * 5_000, event }));

function translated(events: TurnEvent[], reading: Partial<Reading> = {}) {
  const translate = createTranslator({
    turnId: 't1',
    model: 'assistant',
    reader: readerFrom({}),
    includeUsage: false,
    ...reading,
  });
  return logOf(events).flatMap(translate);
}

const whole = (events: TurnEvent[]) => toOutcome(logOf(events), { turnId: 't1', model: 'assistant' });

const wrapped = (delta: object, finish: string | null = null) => ({
  id: 'chatcmpl-t1',
  object: 'chat.completion.chunk',
  created,
  model: 'assistant',
  choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
});
const role = wrapped({ role: 'assistant', content: '' });
const failing = (code: string, message: string) => ({
  error: { message, type: 'invalid_request_error', param: null, code },
});

describe('a turn becomes chunks', () => {
  test('of its text, all with the time of its start', () => {
    expect(translated([started, ...text('a', 'Hel', 'lo'), completed])).toEqual([
      role,
      wrapped({ content: 'Hel' }),
      wrapped({ content: 'lo' }),
      wrapped({}, 'stop'),
    ]);
  });

  test('in which a later part of the text stands below a blank line', () => {
    const parts = [...text('a', 'One', '.'), call, result, ...text('b', 'Two', '.'), ...text('c', 'Three.')];
    const said = translated([started, ...parts, completed]).map((chunk) =>
      'error' in chunk ? 'error' : chunk.choices[0]?.delta.content,
    );
    expect(said).toEqual(['', 'One', '.', '\n\nTwo', '.', '\n\nThree.', undefined]);
  });

  test('without reasoning, tools or whatever else a turn does', () => {
    const events: TurnEvent[] = [
      started,
      { type: 'start-step', step: 0 },
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Let me think.' },
      { type: 'reasoning-end', id: 'r' },
      call,
      question,
      result,
      { type: 'tool-output-error', toolCallId: 'c2', toolName: 't', errorText: 'secret' },
      { type: 'finish-step', step: 0 },
      completed,
    ];
    expect(translated(events)).toEqual([role, wrapped({}, 'stop')]);
  });

  test.each([
    [undefined, 'stop'],
    ['length', 'length'],
    ['refused', 'content_filter'],
  ] as const)('of which the last says how the last step ended: %s → %s', (finish, reason) => {
    const steps: TurnEvent[] = [
      { type: 'finish-step', step: 0, finish: 'length' },
      { type: 'finish-step', step: 1, ...(finish && { finish }) },
      { type: 'finish-step', step: 0, finish: 'refused', path: ['researcher'] },
    ];
    expect(translated([started, ...steps, completed]).at(-1)).toEqual(wrapped({}, reason));
  });

  test('that count tokens when they are asked to', () => {
    const { choices: _, ...rest } = wrapped({});
    expect(translated([started, completed], { includeUsage: true })).toEqual([
      { ...role, usage: null },
      { ...wrapped({}, 'stop'), usage: null },
      { ...rest, choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } },
    ]);
  });

  test('with the tool calls for those who want to know, complete and in order', () => {
    const reader = { ...readerFrom({}), operations: true };
    const other = { ...call, toolCallId: 'call_2', input: undefined };
    const called = (index: number, id: string, args: string) =>
      wrapped({
        tool_calls: [
          { index, id, type: 'function', function: { name: 'tracker__list_issues', arguments: args } },
        ],
      });
    const elsewhere = { ...call, toolCallId: 'call_3', path: ['researcher'] };
    expect(translated([started, call, elsewhere, other, result, completed], { reader })).toEqual([
      role,
      called(0, 'call_1', '{"state":"open"}'),
      called(1, 'call_2', '{}'),
      wrapped({}, 'stop'),
    ]);
  });

  test('with each state of a question beside a delta that proxies pass on, for those who can present it', () => {
    const form: ElicitationEvent = {
      ...question,
      elicitationId: 'q2',
      mode: 'form',
      requestedSchema: {},
    };
    const reader = { ...readerFrom({}), capabilities: { url: true, form: false } };
    const accepted: TurnEvent = { ...question, status: 'accept', path: ['researcher'] };
    expect(translated([started, question, form, accepted, completed], { reader })).toEqual([
      role,
      ...[question, accepted].map((elicitation) => ({
        ...wrapped({ provider_specific_fields: { elicitation } }),
        elicitation,
      })),
      wrapped({}, 'stop'),
    ]);
  });

  test('without a word of what a delegated agent says', () => {
    const path = ['researcher'];
    const inner = [started, ...text('x', 'Psst.'), { type: 'error', code: 'E', errorText: 'oh' } as const];
    const events = [started, ...inner.map((event): TurnEvent => ({ ...event, path })), ...text('a', 'Hi.')];
    expect(translated([...events, completed])).toEqual([
      role,
      wrapped({ content: 'Hi.' }),
      wrapped({}, 'stop'),
    ]);
  });

  test('and what a repeated model call says begins below what is already on the screen', () => {
    const events: TurnEvent[] = [
      started,
      { type: 'text-start', id: '0.1.a' },
      { type: 'text-delta', id: '0.1.a', delta: 'Hel' },
      { type: 'reset-step', step: 0 },
      ...text('0.2.a', 'Hello.'),
      completed,
    ];
    expect(translated(events).slice(1, 3)).toEqual([
      wrapped({ content: 'Hel' }),
      wrapped({ content: '\n\nHello.' }),
    ]);
  });
});

describe('a turn that does not come to its end', () => {
  test.each([
    ['failed', 'MaxStepsReached', 'The agent stopped.'],
    ['cancelled', 'cancelled', 'The turn was cancelled.'],
    ['superseded', 'superseded', 'A newer message took the place of this one.'],
  ] as const)('%s: is told as an error, and not as a last chunk', (status, code, message) => {
    const error: TurnEvent[] =
      status === 'failed'
        ? [{ type: 'error', code: 'MaxStepsReached', errorText: 'The agent stopped.' }]
        : [];
    const events: TurnEvent[] = [
      started,
      ...text('a', 'Hi.'),
      ...error,
      { type: 'turn-ended', status, usage: { inputTokens: 1, outputTokens: 1 } },
    ];
    expect(translated(events, { includeUsage: true }).slice(2)).toEqual([failing(code, message)]);
    expect(whole(events)).toEqual({
      kind: status === 'failed' ? 'failed' : 'cancelled',
      ...failing(code, message),
    });
  });

  test('because it never began is told as well', () => {
    expect(translated([{ type: 'turn-ended', status: 'cancelled' }])).toEqual([
      failing('cancelled', 'The turn was cancelled.'),
    ]);
  });
});

describe('the one completion that a turn adds up to', () => {
  test('has all its text, its end and its tokens', () => {
    const events: TurnEvent[] = [
      started,
      { type: 'start-step', step: 0 },
      ...text('a', 'One', '.'),
      call,
      question,
      result,
      { type: 'finish-step', step: 0 },
      { type: 'start-step', step: 1 },
      ...text('b', 'Two.'),
      { type: 'finish-step', step: 1, finish: 'length' },
      completed,
    ];
    expect(whole(events)).toEqual({
      kind: 'completed',
      completion: {
        id: 'chatcmpl-t1',
        object: 'chat.completion',
        created,
        model: 'assistant',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'One.\n\nTwo.', refusal: null },
            finish_reason: 'length',
            logprobs: null,
          },
        ],
        usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
      },
    });
  });

  test('is not there before the end', () => {
    expect(whole([started, ...text('a', 'Hi.')])).toEqual({ kind: 'unfinished' });
    expect(whole([])).toEqual({ kind: 'unfinished' });
  });
});
