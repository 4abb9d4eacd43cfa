/** What passes between the service and an editor, piece by piece. */
import { CreateElicitationRequest } from '@agentclientprotocol/sdk';
import { expect, test } from 'vitest';
import { readElicitation, readPermission, toRequest } from '../../src/acp/ask-editor.ts';
import { inWords } from '../../src/acp/open-questions.ts';
import { toPromptMessage } from '../../src/acp/prompt-message.ts';
import { Turn } from '../../src/acp/turns.ts';
import { createUpdates, permissionKind, toolKind, outputContent } from '../../src/acp/updates.ts';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import type { StreamEvent } from '@interlude-ai/core/contract/stream-event.ts';

const at = '2026-11-23T12:00:00.000Z';
const event = (said: object) => ({ turnId: 'turn', at, ...said }) as StreamEvent;
const modes = { form: true, url: true };
const place = { sessionId: 'one', toolCallId: 'call_1' };

const question = (more: object): ElicitationRequest =>
  ({
    type: 'elicitation-request',
    elicitationId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90',
    message: 'Which size?',
    context: { trigger: 'mcp_elicitation', serverTitle: 'Desk', host: 'desk.example' },
    status: 'pending',
    expiresAt: at,
    mode: 'form',
    requestedSchema: { type: 'object', properties: {} },
    ...more,
  }) as ElicitationRequest;

const sizes = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  additionalProperties: false,
  properties: {
    word: { type: 'string', title: 'Word', description: 'Any.', minLength: 2, maxLength: 9, format: 'email' },
    old: { type: 'string', enum: ['a', 'b'], enumNames: ['First', 'Second'], default: 'a' },
    plain: { type: 'string', enum: ['x', 'y'] },
    count: { type: 'integer', minimum: 1, exclusiveMaximum: 9, multipleOf: 2 },
    sure: { type: 'boolean', default: false },
    many: { type: 'array', items: { anyOf: [{ const: 'p', title: 'Pea' }] }, minItems: 1 },
    few: { type: 'array', items: { type: 'string', enum: ['q'] } },
  },
  required: ['word', 'count'],
};

test.each([
  ['https://desk.example/pay', 'elicitation'],
  ['http://localhost:3000/pay', 'elicitation'],
  ['http://desk.example/pay', 'no-mode'],
  ['vscode://localhost/pay', 'no-mode'],
  ['ms-msdt:/id', 'no-mode'],
])('an editor is given %s to open: %s', (url, kind) => {
  const asked = toRequest(question({ mode: 'url', url }), place, { modes, misfit: undefined });
  expect(asked.kind).toBe(kind);
});

test('a schema is written anew in what ACP knows, with titles, limits and the text of each option', () => {
  const asked = toRequest(question({ requestedSchema: sizes }), place, { modes, misfit: undefined });
  expect(asked).toMatchObject({
    kind: 'elicitation',
    params: {
      sessionId: 'one',
      toolCallId: 'call_1',
      mode: 'form',
      message: 'Desk (desk.example) asks:\nWhich size?',
    },
  });
  const params = asked.kind === 'elicitation' ? asked.params : undefined;
  expect(params && CreateElicitationRequest.isForm(params) && params.requestedSchema).toEqual({
    type: 'object',
    properties: {
      word: {
        type: 'string',
        title: 'Word',
        description: 'Any.',
        minLength: 2,
        maxLength: 9,
        format: 'email',
      },
      old: {
        type: 'string',
        title: 'Old',
        oneOf: [
          { const: 'a', title: 'First' },
          { const: 'b', title: 'Second' },
        ],
        default: 'a',
      },
      plain: { type: 'string', title: 'Plain', enum: ['x', 'y'] },
      count: { type: 'integer', title: 'Count', description: 'Less than 9. A multiple of 2.', minimum: 1 },
      sure: { type: 'boolean', title: 'Sure', default: false },
      many: { type: 'array', title: 'Many', items: { anyOf: [{ const: 'p', title: 'Pea' }] }, minItems: 1 },
      few: { type: 'array', title: 'Few', items: { type: 'string', enum: ['q'] } },
    },
    required: ['word', 'count'],
  });
});

test('a mode that is not declared is not asked for, and an approval is no question', () => {
  const link = question({ mode: 'url', url: 'https://desk.example/pay' });
  const none = { form: false, url: false };
  const given = { modes: none, misfit: undefined };
  expect(toRequest(link, place, given)).toEqual({ kind: 'no-mode' });
  expect(toRequest(question({}), place, given)).toEqual({ kind: 'no-mode' });
  const approval = question({ context: { trigger: 'approval', toolName: 'get_page', arguments: '{}' } });
  expect(toRequest(approval, place, given)).toMatchObject({
    kind: 'permission',
    params: { toolCall: { kind: 'execute' }, options: [{ optionId: 'allow-once' }, {}, {}, {}] },
  });
});

test('a link without a dialog is not passed on in words, nor is what asks for a secret', () => {
  const link = inWords(
    question({ mode: 'url', url: 'https://desk.example/pay' }),
    'https://interlude.example',
  );
  expect(link).toMatchObject({
    isAnswerable: false,
    words: expect.stringContaining('https://interlude.example/connections'),
  });
  expect(link.words).not.toContain('https://desk.example/pay');
  const requestedSchema = { type: 'object', properties: { password: { type: 'string' } } };
  const secret = inWords(question({ requestedSchema }), 'https://interlude.example');
  expect(secret).toMatchObject({ isAnswerable: false, words: expect.stringContaining('/auth/answer?e=') });
});

test.each([null, 5, [], {}, { action: 'later' }, { action: 5 }, { result: { action: 'accept' } }])(
  '%j decides nothing',
  (reply) => {
    expect(readElicitation(question({}), reply)).toEqual({ kind: 'none' });
    expect(readPermission(reply)).toEqual({ kind: 'none' });
  },
);

test('only an option that was offered is a permission', () => {
  const chosen = (optionId: unknown) => readPermission({ outcome: { outcome: 'selected', optionId } });
  expect(chosen('allow-always')).toEqual({
    kind: 'decision',
    decision: { action: 'accept', remember: 'always' },
  });
  for (const optionId of ['toString', '__proto__', 'allow', undefined])
    expect(chosen(optionId)).toEqual({ kind: 'none' });
  expect(readPermission({ outcome: { outcome: 'cancelled', optionId: 'allow-once' } })).toEqual({
    kind: 'dismissed',
  });
});

test.each([
  [[], 'completed', { kind: 'stopped', stopReason: 'end_turn' }],
  [
    [{ type: 'finish-step', step: 0, finish: 'length' }],
    'completed',
    { kind: 'stopped', stopReason: 'max_tokens' },
  ],
  [
    [{ type: 'finish-step', step: 0, finish: 'refused' }],
    'completed',
    { kind: 'stopped', stopReason: 'refusal' },
  ],
  [
    [
      { type: 'finish-step', step: 0, finish: 'length' },
      { type: 'finish-step', step: 1 },
    ],
    'completed',
    { kind: 'stopped', stopReason: 'end_turn' },
  ],
  [
    [{ type: 'finish-step', step: 0, finish: 'refused', path: ['researcher'] }],
    'completed',
    { kind: 'stopped', stopReason: 'end_turn' },
  ],
  [
    [{ type: 'error', code: 'MaxStepsReached', errorText: 'Too many.' }],
    'failed',
    { kind: 'stopped', stopReason: 'max_turn_requests', words: 'Too many.' },
  ],
  [
    [{ type: 'error', code: 'TurnFailed', errorText: 'Broken.' }],
    'failed',
    { kind: 'failed', message: 'Broken.' },
  ],
  [[], 'cancelled', { kind: 'stopped', stopReason: 'cancelled' }],
  [[], 'superseded', { kind: 'stopped', stopReason: 'cancelled', words: expect.any(String) }],
])('%j, then %s, is told as it is', (events, status, end) => {
  const listener = new Turn();
  for (const one of events) expect(listener.read(event(one))).toBeNull();
  expect(listener.read(event({ type: 'turn-ended', status }))).toEqual(end);
});

test('what a delegated agent says is its caller’s result, and what was cut off is said to be', () => {
  const { toUpdates } = createUpdates();
  const delta = { type: 'text-delta', id: 't', delta: 'Once' };
  expect(toUpdates(event({ ...delta, path: ['researcher'] }))).toEqual([]);
  expect(toUpdates(event({ type: 'reset-step', step: 0 }))).toEqual([]);
  expect(toUpdates(event(delta))).toHaveLength(1);
  expect(toUpdates(event({ type: 'reset-step', step: 0 }))).toMatchObject([
    { content: { text: expect.stringContaining('cut off') } },
  ]);
  expect(toUpdates(event({ type: 'weather-changed' }))).toEqual([]);
});

const begins = { type: 'start-step', step: 0 };
const speaks = { type: 'text-delta', id: 't', delta: 'Once' };
const finishes = { type: 'finish-step', step: 0 };
const delegated = { path: ['researcher'], parentToolCallId: 'c' };
const resets = { type: 'reset-step', step: 1 };

test.each([
  ['of a step that was finished', [begins, speaks, finishes, resets, { ...begins, step: 1 }], 0],
  ['though a delegate finished a step', [begins, speaks, { ...finishes, ...delegated }, resets], 1],
  ['of a delegate', [{ ...begins, ...delegated }, { ...speaks, ...delegated }, resets], 0],
  ['once, though the model call was repeated twice', [begins, speaks, resets, resets], 1],
  ['of a turn that is over', [begins, speaks, { type: 'turn-ended', status: 'cancelled' }, resets], 0],
])('that something was cut off is said only where it was: %s', (_, events, times) => {
  const { toUpdates } = createUpdates();
  const told = JSON.stringify(events.map((one) => toUpdates(event(one))));
  expect(told.split('That was cut off').length - 1).toBe(times);
});

test('results are shown as what they are', () => {
  const content = [
    { type: 'text', text: 'one\u202Etwo' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png', _meta: { more: 1 } },
    { type: 'resource_link', uri: 'file:///a', name: 'a' },
    { type: 'hologram' },
  ];
  expect(outputContent({ content }).map((one) => (one.type === 'content' ? one.content : one))).toEqual([
    { type: 'text', text: 'onetwo' },
    { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    { type: 'resource_link', uri: 'file:///a', name: 'a' },
  ]);
  expect(outputContent({ total: 2 })).toMatchObject([
    { content: { text: '```json\n{\n  "total": 2\n}\n```' } },
  ]);
  expect(outputContent('done')).toMatchObject([{ content: { text: 'done' } }]);
  expect(outputContent(undefined)).toEqual([]);
});

test('kinds are guessed for icons, and never so that an approval passes for reading', () => {
  const names = ['tracker__list_issues', 'wiki__deletePage', 'mail__send', 'x__find_user', 'x__frobnicate'];
  expect(names.map(toolKind)).toEqual(['read', 'delete', 'execute', 'search', 'other']);
  expect(names.map(permissionKind)).toEqual(['execute', 'delete', 'execute', 'execute', 'execute']);
});

test('large attachments become words, small ones are told beside them', () => {
  const file = (text: string) => ({ type: 'resource', resource: { uri: 'file:///a.md', text } }) as const;
  const text = { type: 'text', text: 'See' } as const;
  expect(toPromptMessage([text, file('small')])).toEqual({
    kind: 'message',
    text: 'See',
    context: 'file:///a.md\nsmall',
  });
  expect(toPromptMessage([text, file('`'.repeat(16_000))])).toMatchObject({
    text: expect.stringMatching(/^See\n\n`{16001}\n/),
  });
  expect(toPromptMessage([file('small')])).toMatchObject({ text: 'See what is attached.' });
});
