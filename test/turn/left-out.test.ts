import { expect, test } from 'vitest';
import { withMoreLeftOut, withoutLeftOut } from '../../src/turn/left-out.ts';
import { toModelMessages } from '../../src/turn/transcript.ts';

const png = { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } };
const text = (value: string) => ({ type: 'text', text: value });
const user = (id: string, ...content: unknown[]) => ({ id, turnId: 't', role: 'user' as const, content });
const says = (id: string, ...content: unknown[]) => ({
  id,
  turnId: 't',
  role: 'assistant' as const,
  content,
});
const call = (toolCallId: string) => ({ type: 'tool-call', toolCallId, toolName: 'shop__look', input: {} });
const result = (id: string, output: unknown) => ({
  id,
  turnId: 't',
  role: 'tool' as const,
  content: [{ type: 'tool-result', toolCallId: id, toolName: 'shop__look', output }],
});
const image = { type: 'stored-image', digest: 'd', mediaType: 'image/jpeg', bytes: 2_000 };
const marks = (messages: { id: string; leftOut?: string }[]) =>
  messages.flatMap(({ id, leftOut }) => (leftOut === undefined ? [] : [`${id}: ${leftOut}`]));

test('first the files that are new are left out, then new results, then all files', () => {
  const messages = [
    user('u1', text('look'), image),
    says('a1', { type: 'reasoning', text: 'hm' }, call('r1')),
    result('r1', { type: 'content', value: [text('old'), png] }),
    says('a2', call('r2'), call('r3')),
    result('r2', { type: 'content', value: [text('new'), png] }),
    result('r3', { type: 'text', value: 'words' }),
  ];
  expect(withMoreLeftOut(messages).map(marks)).toEqual([
    ['r2: files'],
    ['r2: results', 'r3: results'],
    ['u1: files', 'a1: files', 'r1: files', 'r2: results', 'r3: results'],
  ]);
});

test('a question in words is never left out, so that there is nothing to try', () => {
  expect(withMoreLeftOut([user('u1', text('hello'))])).toEqual([]);
  expect(withMoreLeftOut([{ id: 'u1', turnId: 't', role: 'user' as const, content: 'hello' }])).toEqual([]);
  expect(withMoreLeftOut([])).toEqual([]);
});

test('what is left out already is not tried again', () => {
  const [files = [], results = []] = withMoreLeftOut([
    says('a', call('r')),
    result('r', { type: 'content', value: [png] }),
  ]);
  expect(withMoreLeftOut(files).map(marks)).toEqual([['r: results']]);
  expect(withMoreLeftOut(results)).toEqual([]);
});

test('the model reads a line in its place, and the rest as before', () => {
  const messages = [
    { ...user('u', text('look'), image), leftOut: 'files' as const },
    {
      ...says('a', { type: 'reasoning', text: 'hm' }, text('one moment'), call('r1'), call('r2')),
      leftOut: 'files' as const,
    },
    { ...result('r1', { type: 'content', value: [text('a chart'), png] }), leftOut: 'files' as const },
    { ...result('r2', { type: 'text', value: 'words' }), leftOut: 'results' as const },
  ];
  const why = "the model's provider did not accept it";
  expect(toModelMessages(messages)).toEqual([
    { role: 'user', content: [text('look'), text(`[an image: image/jpeg, 2 kB: ${why}]`)] },
    { role: 'assistant', content: [text('one moment'), call('r1'), call('r2')] },
    {
      role: 'tool',
      content: [
        {
          ...call('r1'),
          type: 'tool-result',
          input: undefined,
          output: {
            type: 'content',
            value: [text('a chart'), text(`[image/png, 3 bytes: ${why}; the user's client has it]`)],
          },
        },
        {
          ...call('r2'),
          type: 'tool-result',
          input: undefined,
          output: {
            type: 'error-text',
            value: `The tool ran, but its result is left out: ${why}. The user's client has it.`,
          },
        },
      ],
    },
  ]);
  expect(withoutLeftOut(user('u', image))).toEqual(user('u', image));
});
