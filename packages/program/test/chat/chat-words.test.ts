import { expect, test } from 'vitest';
import { readInput } from '../../src/chat/conversation.ts';
import { Markdown } from '../../src/chat/terminal-screen.ts';
import { timeLeft, toolLabel } from '../../src/chat/wording.ts';

const bold = (text: string) => `\u001b[1m${text}\u001b[22m`;
const code = (text: string) => `\u001b[36m${text}\u001b[39m`;

test.each([
  ['plain words\nand more', 'plain words\nand more'],
  ['a **strong** word', `a ${bold('strong')} word`],
  ['run `npm start` now', `run ${code('npm start')} now`],
  ['- one\n  - two\n* three', '• one\n  • two\n• three'],
  ['## Your issues\nnone', `${bold('Your issues')}\nnone`],
  ['2 * 3 * 4 - 1', '2 * 3 * 4 - 1'],
  ['`**` stays', `${code('**')} stays`],
  ['**#1** first', `${bold('#1')} first`],
  ['#1 is no heading', '#1 is no heading'],
  ['never **closed\nnext', `never ${bold('closed')}\nnext`],
  ['ends with *', 'ends with *'],
])('%j streams as the same text however it is cut', (given, shown) => {
  for (let size = 1; size <= given.length; size += 1) {
    const markdown = new Markdown(true);
    let out = '';
    for (let at = 0; at < given.length; at += size) out += markdown.push(given.slice(at, at + size));
    expect(out + markdown.end()).toBe(shown);
  }
});

test('where nothing can be styled, text stays as it came', () => {
  const markdown = new Markdown(false);
  const text = '## Your issues\n- a **strong** `word` *';
  expect(markdown.push(text) + markdown.end()).toBe(text);
});

test.each([
  ['n', 'connection', { kind: 'answer', action: 'decline' }],
  ['C ', 'page', { kind: 'answer', action: 'cancel' }],
  ['n', undefined, { kind: 'message', text: 'n' }],
  ['n', 'form', { kind: 'field', line: 'n' }],
  ['n', 'unreadable', { kind: 'answer', action: 'decline' }],
  ['/decline', undefined, { kind: 'answer', action: 'decline' }],
  ['/N', 'form', { kind: 'answer', action: 'decline' }],
  ['/c', 'form', { kind: 'answer', action: 'cancel' }],
  ['no', 'connection', { kind: 'message', text: 'no' }],
  ['no', 'form', { kind: 'field', line: 'no' }],
  ['   ', undefined, { kind: 'nothing' }],
  ['', 'connection', { kind: 'nothing' }],
  ['', 'page', { kind: 'answer', action: 'accept' }],
  ['y', 'page', { kind: 'answer', action: 'accept' }],
  ['y', 'connection', { kind: 'message', text: 'y' }],
  ['', 'form', { kind: 'field', line: '' }],
  ['/back', 'form', { kind: 'field', line: '/back' }],
  ['/home/alice', 'form', { kind: 'field', line: '/home/alice' }],
  ['/stop now', 'form', { kind: 'field', line: '/stop now' }],
  ['/new What is open?', 'form', { kind: 'message', text: 'What is open?' }],
  ['/new /quit', undefined, { kind: 'message', text: '/quit' }],
  ['/new', 'form', { kind: 'help' }],
  ['/stop', 'form', { kind: 'stop' }],
  ['/stop', undefined, { kind: 'stop' }],
  ['/frobnicate now', undefined, { kind: 'unknown', command: '/frobnicate' }],
] as const)('%j typed while this is asked: %s, means what it says', (line, asked, entry) => {
  expect(readInput(line, asked)).toEqual(entry);
});

test('tools are named in words', () => {
  expect(toolLabel('tracker__list_issues')).toBe('Tracker · list issues');
  expect(toolLabel('connect_tracker')).toBe('Tracker · connect');
  expect(toolLabel('search')).toBe('search');
  expect(toolLabel('agent__team_researcher')).toBe('Team researcher');
});

test('the countdown counts down to the deadline and stops there', () => {
  const at = Date.parse('2030-01-01T00:00:00.000Z');
  const left = (ms: number) => timeLeft('2030-01-01T00:00:00.000Z', at - ms);
  expect([left(600_000), left(581_000), left(9_400), left(0), left(-5_000)]).toEqual([
    '10:00 left',
    '9:41 left',
    '0:10 left',
    '0:00 left',
    '0:00 left',
  ]);
});
