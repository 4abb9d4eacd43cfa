import { modelMessageSchema } from 'ai';
import { describe, expect, test } from 'vitest';
import { toModelMessages } from '../../src/turn/transcript.ts';

type Stored = Parameters<typeof toModelMessages>[0];

const user = (text: string) => ({ role: 'user' as const, content: text });
const says = (...content: unknown[]) => ({ role: 'assistant' as const, content });
const text = (value: string) => ({ type: 'text', text: value });
const call = (toolCallId: string, toolName = 'tracker__list_issues') => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input: {},
});
const result = (toolCallId: string, value = 'done', toolName = 'tracker__list_issues') => ({
  type: 'tool-result',
  toolCallId,
  toolName,
  output: { type: 'text', value },
});
const tool = (...content: unknown[]) => ({ role: 'tool' as const, content });
const notRun = (toolCallId: string) => ({
  ...result(toolCallId),
  output: { type: 'error-text', value: 'Not run: the turn was cancelled before this tool was called.' },
});

const cases: { name: string; stored: Stored; expected: unknown[] }[] = [
  {
    name: 'a sound history passes unchanged',
    stored: [user('hi'), says(text('one moment'), call('a')), tool(result('a')), says(text('there'))],
    expected: [user('hi'), says(text('one moment'), call('a')), tool(result('a')), says(text('there'))],
  },
  {
    name: 'arguments that are no object are an empty one',
    stored: [user('hi'), says({ ...call('a'), input: '{"a":' }), tool(result('a'))],
    expected: [user('hi'), says(call('a')), tool(result('a'))],
  },
  {
    name: 'a call without a result is told that it did not run',
    stored: [user('hi'), says(call('a')), user('never mind')],
    expected: [user('hi'), says(call('a')), tool(notRun('a')), user('never mind')],
  },
  {
    name: 'of two calls only the open one is filled in, in the order of the calls',
    stored: [user('hi'), says(call('a'), call('b')), tool(result('b'))],
    expected: [user('hi'), says(call('a'), call('b')), tool(notRun('a'), result('b'))],
  },
  {
    name: 'results stored one by one become one message',
    stored: [user('hi'), says(call('a'), call('b')), tool(result('b')), tool(result('a'))],
    expected: [user('hi'), says(call('a'), call('b')), tool(result('a'), result('b'))],
  },
  {
    name: 'a result that came after the next question returns to its call',
    stored: [user('hi'), says(call('a')), user('hello?'), tool(result('a'))],
    expected: [user('hi'), says(call('a')), tool(result('a')), user('hello?')],
  },
  {
    name: 'a result without a call is left out',
    stored: [user('hi'), tool(result('ghost')), says(text('hello'))],
    expected: [user('hi'), says(text('hello'))],
  },
  {
    name: 'a result before its call is no result of it',
    stored: [user('hi'), tool(result('a')), says(call('a'))],
    expected: [user('hi'), says(call('a')), tool(notRun('a'))],
  },
  {
    name: 'the first of two results counts',
    stored: [user('hi'), says(call('a')), tool(result('a', 'first')), tool(result('a', 'second'))],
    expected: [user('hi'), says(call('a')), tool(result('a', 'first'))],
  },
  {
    name: 'an id used again in a later turn gets its own result',
    stored: [
      user('one'),
      says(call('a')),
      tool(result('a', 'first')),
      user('two'),
      says(call('a')),
      tool(result('a', 'second')),
    ],
    expected: [
      user('one'),
      says(call('a')),
      tool(result('a', 'first')),
      user('two'),
      says(call('a')),
      tool(result('a', 'second')),
    ],
  },
  {
    name: 'an id used twice in one message is called once',
    stored: [user('hi'), says(call('a'), call('a')), tool(result('a'))],
    expected: [user('hi'), says(call('a')), tool(result('a'))],
  },
  {
    name: 'messages that say nothing are left out',
    stored: [user('hi'), says(), says(text('')), { role: 'assistant', content: '' }, user('anyone?')],
    expected: [user('hi'), user('anyone?')],
  },
  {
    name: 'thoughts are kept with what they led to, and dropped when they led nowhere',
    stored: [
      user('hi'),
      says({ type: 'reasoning', text: 'hm' }),
      says({ type: 'reasoning', text: 'hm' }, text('hello')),
    ],
    expected: [user('hi'), says({ type: 'reasoning', text: 'hm' }, text('hello'))],
  },
];

describe('a stored conversation becomes one that every provider accepts', () => {
  test.each(cases)('$name', ({ stored, expected }) => {
    const messages = toModelMessages(stored);
    expect(messages).toEqual(expected);
    for (const message of messages) expect(modelMessageSchema.safeParse(message).success).toBe(true);
  });

  test('what was repaired once needs no repair', () => {
    for (const { stored } of cases) {
      const once = toModelMessages(stored);
      expect(toModelMessages(once as Stored)).toEqual(once);
    }
  });
});
