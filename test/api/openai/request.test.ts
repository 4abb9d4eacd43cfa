import { expect, test } from 'vitest';
import { toParam } from '../../../src/api/openai/errors.ts';
import { givenMessages } from '../../../src/api/openai/request.ts';
import { ChatCompletionRequestSchema } from '@interlude-ai/core/contract/openai.ts';

const given = (request: object) =>
  givenMessages(ChatCompletionRequestSchema.parse({ model: 'assistant', ...request }));
const said = (role: 'user' | 'assistant', ...texts: string[]) => ({
  role,
  content: texts.map((text) => ({ type: 'text', text })),
});

const list = [
  { role: 'system', content: 'Be brief.' },
  { role: 'developer', content: [{ type: 'text', text: 'Use metric units.' }] },
  { role: 'user', content: 'How far?' },
  { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: {} }] },
  { role: 'tool', tool_call_id: 'c', content: '7' },
  { role: 'function', name: 'f', content: '7' },
  { role: 'assistant', content: 'Seven.', tool_calls: [] },
  { role: 'assistant', content: [{ type: 'refusal', refusal: 'No more.' }] },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'And' },
      { type: 'text', text: ' ' },
      { type: 'text', text: 'back?' },
    ],
  },
];

test('without a conversation the list is its history; instructions in it speak for the user, tools are left out', () => {
  expect(given({ messages: list })).toEqual([
    said('user', 'Be brief.'),
    said('user', 'Use metric units.'),
    said('user', 'How far?'),
    said('assistant', 'Seven.'),
    said('assistant', 'No more.'),
    said('user', 'And', 'back?'),
  ]);
});

test.each([
  ['a refusal', { content: [{ type: 'refusal', refusal: 'No.' }] }, 'No.'],
  ['a refusal beside no content', { content: null, refusal: 'No.' }, 'No.'],
  ['a refusal that is null', { content: 'Yes.', refusal: null }, 'Yes.'],
  [
    'thoughts',
    {
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'x' },
        { type: 'text', text: 'Yes.' },
      ],
    },
    'Yes.',
  ],
  [
    'hidden thoughts',
    {
      content: [
        { type: 'redacted_thinking', data: 'x' },
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'Yes.' },
      ],
    },
    'Yes.',
  ],
  [
    'a call of a tool',
    {
      content: [
        { type: 'text', text: 'Yes.' },
        { type: 'tool_use', id: 't', name: 'x', input: {} },
      ],
    },
    'Yes.',
  ],
  [
    'text as the Responses API names it',
    { content: [{ type: 'output_text', text: 'Yes.', annotations: [] }] },
    'Yes.',
  ],
  [
    'members that are null',
    { content: 'Yes.', tool_calls: null, function_call: null, audio: null, name: null },
    'Yes.',
  ],
])('of the history of an assistant with %s, what it said counts', (_, members, text) => {
  const history = { role: 'assistant', ...members };
  const messages = [history, { role: 'user', content: [{ type: 'input_text', text: 'And back?' }] }];
  const request = ChatCompletionRequestSchema.parse({ model: 'assistant', messages });
  expect(givenMessages(request)).toEqual([said('assistant', text), said('user', 'And back?')]);
});

test('with a conversation only the last message is new, and nothing is asked of the others', () => {
  const image = { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] };
  expect(given({ conversationId: 'c1', messages: [image, ...list] })).toEqual([said('user', 'And', 'back?')]);
});

test.each([
  ['', null],
  ['/model', 'model'],
  ['/messages/0/content/1/text', 'messages[0].content[1].text'],
  ['/a~1b/~0', 'a/b.~'],
])('the pointer %j is the param %j', (pointer, param) => {
  expect(toParam(pointer)).toBe(param);
});
