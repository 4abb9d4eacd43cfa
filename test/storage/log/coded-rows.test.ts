/** Rows contain codes, and readers of rows get sentences. */
import { expect, test } from 'vitest';
import { contentFromRow, eventFromRow, eventToRow } from '../../../src/storage/log/coded-rows.ts';
import { failureForModel, remarkForModel } from '../../../src/turn/for-model.ts';
import { toEvent, toMessageContent } from '../../../src/turn/tool-result.ts';
import type { ToolResult } from '../../../src/turn/tool-result.ts';
import { failureEvent, missingAccountInWords } from '../../../src/turn/for-person.ts';
import { everyFailure, everyTrouble, everyTurnFailure } from '../../turn/every-failure.ts';

const call = { toolCallId: 'c1', toolName: 'tracker__list_issues' };
const written = (result: ToolResult) => JSON.stringify(toMessageContent(call, result));
const outputIn = (row: string) => (contentFromRow(row) as [{ output: unknown }])[0].output;

test.each(everyFailure)('the log stores %o as a code, and reads it as a sentence', (failure) => {
  const event = toEvent(call, { kind: 'failed', failure }, 'expired');
  const row = eventToRow(event);
  expect(row).not.toContain('errorText');
  expect(row).not.toContain('did not run');
  expect(eventFromRow(row)).toEqual(event);
  expect(event).toMatchObject({ errorText: failureForModel(failure), outcome: 'expired' });
});

test.each(everyTrouble)('the log stores the trouble %o as a code', (trouble) => {
  const event = toEvent(call, { kind: 'failed', failure: { code: 'interrupted', trouble } });
  expect(eventFromRow(eventToRow(event))).toEqual(event);
});

test.each(everyFailure)('the transcript stores %o as a code, and the model reads a sentence', (failure) => {
  const row = written({ kind: 'failed', failure });
  expect(row).not.toContain('did not run');
  expect(outputIn(row)).toEqual({ type: 'error-text', value: failureForModel(failure) });
});

test.each(everyTurnFailure)('the log stores that a turn failed, %o, as a code', (failure) => {
  const { event } = failureEvent(failure);
  const row = eventToRow(event);
  expect(row).not.toContain('errorText');
  expect(eventFromRow(row)).toEqual(event);
});

test('a turn that failed for a reason of a newer release failed without a reason', () => {
  const event = { type: 'error', code: 'Unheard' };
  expect(eventFromRow(JSON.stringify({ ...event, failure: { code: 'Unheard' } }))).toEqual({
    ...event,
    errorText: expect.stringContaining('does not know why'),
  });
});

test.each([
  { code: 'account', tool: 'list_issues', by: 'key' },
  { code: 'shared_account', reason: 'missing', contact: 'Ada' },
] as const)('the log stores that an account is missing, %o, as a code', (account) => {
  const serverTitle = 'Tracker';
  const message = missingAccountInWords({ serverTitle, account, url: undefined });
  const event = {
    type: 'tool-auth-required',
    ...call,
    server: 'tracker',
    serverTitle,
    message,
    account,
  } as const;
  const row = eventToRow(event);
  expect(row).not.toContain('message');
  expect(eventFromRow(row)).toEqual(event);
});

const remark = { code: 'questions_expired', server: 'Tracker', expired: 1, asked: 1 } as const;
const words = remarkForModel(remark);
const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgoAAAANSUhEUg==' };

test.each<[string, ToolResult, unknown]>([
  [
    'a text',
    { kind: 'output', output: { content: [{ type: 'text', text: 'done' }] }, remark },
    { type: 'text', value: `done\n${words}` },
  ],
  [
    'an error of the tool',
    { kind: 'output', output: { isError: true, content: [{ type: 'text', text: 'no' }] }, remark },
    { type: 'error-text', value: `no\n${words}` },
  ],
  [
    'an image',
    { kind: 'output', output: { content: [image] }, remark },
    { type: 'content', value: [expect.objectContaining({ type: 'file' }), { type: 'text', text: words }] },
  ],
  ['nothing', { kind: 'output', output: { content: [] }, remark }, { type: 'text', value: words }],
  [
    'a failure',
    { kind: 'failed', failure: { code: 'call_ended' }, remark },
    { type: 'error-text', value: `The call has ended.\n${words}` },
  ],
])('a remark follows %s', (_, result, output) => {
  const row = written(result);
  expect(row).not.toContain('timed out');
  expect(outputIn(row)).toEqual(output);
});

test('rows of a release without codes contain the sentence', () => {
  const event = { type: 'tool-output-error', ...call, errorText: 'It did not run.' } as const;
  expect(eventFromRow(JSON.stringify(event))).toEqual(event);
  const content = [
    { type: 'tool-result', ...call, output: { type: 'error-text', value: 'It did not run.' } },
  ];
  expect(contentFromRow(JSON.stringify(content))).toEqual(content);
});

test.each([{ code: 'of_a_newer_release' }, { code: 'account', why: 'no-reason', server: 'Tracker' }, 'text'])(
  'a code that this release does not know is a failure without a reason: %o',
  (failure) => {
    const errorText = expect.stringContaining('does not know why');
    const event = eventFromRow(JSON.stringify({ type: 'tool-output-error', ...call, failure }));
    expect(event).toEqual({ type: 'tool-output-error', ...call, errorText });
    const content = [{ type: 'tool-result', ...call, output: { type: 'call-failure', failure } }];
    expect(outputIn(JSON.stringify(content))).toEqual({ type: 'error-text', value: errorText });
  },
);
