import { expect, test } from 'vitest';
import { needsApproval, policyFor, isShowable, shownArguments } from '../../src/elicitation/approval.ts';
import type { ApprovalPolicy, ToolHints } from '../../src/elicitation/approval.ts';

const hints: [words: string, hints: ToolHints | undefined, isDestructive: boolean][] = [
  ['nothing is known of', undefined, true],
  ['says nothing', {}, true],
  ['says that it destroys', { destructiveHint: true }, true],
  ['says that it only adds', { destructiveHint: false }, false],
  ['says that it only reads', { readOnlyHint: true }, false],
  ['only reads, and has a meaningless second hint', { readOnlyHint: true, destructiveHint: true }, false],
  ['writes, and does not say what', { readOnlyHint: false }, true],
  ['writes, and only adds', { readOnlyHint: false, destructiveHint: false }, false],
];

test.each(hints)('a tool that %s', (_, given, isDestructive) => {
  const needed: [ApprovalPolicy, boolean][] = [
    ['always', true],
    ['never', false],
    ['destructive', isDestructive],
  ];
  for (const [policy, isNeeded] of needed) expect(needsApproval(policy, given), policy).toBe(isNeeded);
});

test('a hint that is no boolean counts as none', () => {
  expect(needsApproval('destructive', { readOnlyHint: 'yes', destructiveHint: 0 } as never)).toBe(true);
});

test('the policy of a tool is its own, else that of its server, else none', () => {
  expect(policyFor(undefined, 'read')).toBe('never');
  expect(policyFor('always', 'read')).toBe('always');
  const settings = { default: 'destructive', tools: { erase: 'always', read: 'never' } } as const;
  expect(['erase', 'read', 'other', 'constructor'].map((tool) => policyFor(settings, tool))).toEqual([
    'always',
    'never',
    'destructive',
    'destructive',
  ]);
});

test('arguments are shown as JSON in which nothing hides, and nothing is cut', () => {
  expect(shownArguments({ page: 'a', list: [1] })).toBe('{\n  "page": "a",\n  "list": [\n    1\n  ]\n}');
  expect(shownArguments(undefined)).toBe('{}');
  const hidden = { path: 'a\u202Etxt.exe\u200B\u{E0041}\u2028' };
  expect(shownArguments(hidden)).toBe('{\n  "path": "a\\u202etxt.exe\\u200b\\udb40\\udc41\\u2028"\n}');
  expect(JSON.parse(shownArguments(hidden))).toEqual(hidden);
  const lookalikes = [
    '\u3164',
    '\u115F',
    '\uFFA0',
    '\u034F',
    '\uFE0F',
    '\u180B',
    '\u17B4',
    '\u2800',
    '\u00A0',
    '\u3000',
  ];
  for (const character of lookalikes) expect(shownArguments({ a: character })).not.toContain(character);
  expect(shownArguments({ text: 'two words\nand a line' })).toContain('two words\\nand a line');
});

test('what cannot be shown in full cannot be approved', () => {
  expect(isShowable({ text: 'x'.repeat(31_000), to: 'somebody' })).toBe(true);
  expect(shownArguments({ text: 'x'.repeat(31_000), to: 'somebody' })).toContain('somebody');
  expect(isShowable({ text: 'x'.repeat(32_000) })).toBe(false);
});
