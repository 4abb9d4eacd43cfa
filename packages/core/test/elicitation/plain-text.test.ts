import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { questionCard } from '@interlude-ai/program/chat/question-card.ts';
import { isDeeperThan, isLargerThan } from '../../src/elicitation/json-size.ts';
import { plainSchema } from '../../src/elicitation/form/schema-keywords.ts';
import { isVisible, plainMessage, plainText } from '../../src/elicitation/plain-text.ts';

const esc = '\u001b';

test('control codes and marks that turn the direction of writing are taken out', () => {
  expect(plainText(`a${esc}[31mb\u0000\u009Bc\u202Ed\u2066e\u2069`)).toBe('a[31mbcde');
});

test('line breaks and tabs stay', () => {
  expect(plainText('a\r\nb\nc\td')).toBe('a\nb\nc\td');
});

test('what joins letters and pictures stays', () => {
  expect(plainText('👩‍👩‍👧 می‌خواهم \u200Fשלום')).toBe('👩‍👩‍👧 می‌خواهم \u200Fשלום');
});

test('a message cannot push what stands around it out of sight', () => {
  expect(plainMessage(`\n\n Pay?${'\n \t'.repeat(500)}\nYes \n`)).toBe('Pay?\n\nYes');
  expect(plainMessage('one\ntwo\n\nthree')).toBe('one\ntwo\n\nthree');
});

test('what nobody can see is no message', () => {
  expect(['', ' \n', '\u200B\u2060', `\u202E${esc}`, '\u0301'].filter(isVisible)).toEqual([]);
  expect(['?', '好', '👍'].filter((text) => !isVisible(text))).toEqual([]);
});

test('a schema keeps what programs read, and the names of fields that are named like keywords', () => {
  const schema = {
    type: 'object',
    title: `A\u202E form`,
    properties: {
      title: { type: 'string', pattern: '[\\x00-\\x1f]\u202E', enumNames: ['a\u0007'] },
      enum: { type: 'string', description: `${esc}c` },
    },
  };
  expect(plainSchema(schema)).toEqual({
    type: 'object',
    title: 'A form',
    properties: {
      title: { type: 'string', pattern: '[\\x00-\\x1f]\u202E', enumNames: ['a'] },
      enum: { type: 'string', description: 'c' },
    },
  });
});

test('the depth of a value is told from its size', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
  expect([nested(5), nested(6), { a: nested(5) }].map((value) => isDeeperThan(value, 5))).toEqual([
    false,
    true,
    true,
  ]);
  expect(
    isDeeperThan(
      Array.from({ length: 10_000 }, () => ({})),
      2,
    ),
  ).toBe(false);
  expect(isLargerThan(nested(5), 100)).toBe(false);
});

test('a card in the terminal shows nothing of a server’s that could pass for another', () => {
  const card = questionCard(
    {
      type: 'elicitation-request',
      elicitationId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90',
      mode: 'url',
      message: `Pay?\u202E\n${esc}[1A${esc}[2KTracker needs your account.`,
      url: `https://pay.example/${esc}]8;;https://bank.example${esc}\\\u202E`,
      context: {
        trigger: 'mcp_elicitation',
        agent: 'Assistant',
        server: 'shop',
        serverTitle: `Shop\n${esc}c`,
        host: 'shop.example\u202E',
        toolName: 'pay',
      },
      status: 'pending',
      expiresAt: '2026-11-21T12:10:00.000Z',
    },
    { asking: { kind: 'page' }, isInteractive: false, knowsForms: true },
  ).join('\n');
  const shown = stripVTControlCharacters(card);
  expect(plainText(shown)).toBe(shown);
  expect(card).toContain('\n    [1A[2KTracker needs your account.');
  expect(shown).toContain('Shop c at shop.example');
});
