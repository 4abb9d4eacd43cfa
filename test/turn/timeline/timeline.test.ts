/** What the log of a turn becomes for people. */
import { expect, test } from 'vitest';
import { timelineMarkup } from '../../../src/api/pages/timeline-markup.ts';
import { timelineOf, waitedMs } from '../../../src/turn/timeline/timeline.ts';
import type { MoreFacts } from '../../../src/turn/timeline/timeline.ts';
import { inTime, lineOf } from '../../../src/turn/timeline/words.ts';
import type { LogEntry, TurnEvent } from '../../../src/turn/event.ts';

const start = Date.parse('2026-11-21T12:00:00.000Z');
let seq = 0;
const at = (seconds: number, event: TurnEvent, turnId = 't'): LogEntry => ({
  seq: (seq += 1),
  turnId,
  at: start + seconds * 1_000,
  event,
});
const call = { toolCallId: 'c1', toolName: 'tracker__list_issues' };
const asked = {
  type: 'elicitation-request',
  elicitationId: 'q1',
  mode: 'url',
  url: 'https://interlude.example/auth/connect?e=q1',
  message: 'secret-message',
  context: { trigger: 'credential_required', server: 'tracker', serverTitle: 'Tracker', toolCallId: 'c1' },
  expiresAt: new Date(start + 600_000).toISOString(),
} as const;

const whole = [
  at(0, { type: 'turn-started', agent: 'assistant', messageId: 't' }),
  at(1, { type: 'start-step', step: 0 }),
  at(2, { type: 'text-delta', id: 'a', delta: 'secret-text' }),
  at(3, { type: 'tool-input-available', ...call, input: { secret: 'secret-argument' } }),
  at(3, { type: 'finish-step', step: 0 }),
  at(4, { ...asked, status: 'pending' }),
  at(64, { ...asked, status: 'accept' }),
  at(70, { type: 'tool-output-available', ...call, output: 'secret-output' }),
  at(71, { type: 'start-step', step: 1 }),
  at(72, { type: 'finish-step', step: 1 }),
  at(72, { type: 'turn-ended', status: 'completed', usage: { inputTokens: 5, outputTokens: 7 } }),
];
const none: MoreFacts = { questions: [], attempts: { steps: new Map(), calls: new Map() }, acts: [] };
const told = (entries: LogEntry[], more?: MoreFacts, now?: number) =>
  timelineOf(entries, { contents: false, ...(more && { more }) }).map((item) => {
    const { title, notes } = lineOf(item, now);
    return [title, ...notes].join(' · ');
  });

test('a turn that asked: its steps, its call, who was asked, how long it waited, and how it ended', () => {
  const questions = [{ id: 'q1', user: 'alice', settledAt: start + 64_000, settledBy: 'alice' }];
  expect(told(whole, { ...none, questions })).toEqual([
    'Turn started · assistant',
    'Step 1 · 2.0 s',
    'tracker · list issues · 67 s',
    'alice was asked to connect Tracker · accepted after 60 s',
    'Step 2 · 1.0 s',
    'Turn completed · 5 + 7 tokens',
  ]);
  expect(waitedMs(timelineOf(whole, { contents: false }), start + 99_000)).toBe(60_000);
});

test('while it waits: for whom, how long, and how much time is left', () => {
  const questions = [{ id: 'q1', user: 'alice', settledAt: null, settledBy: null }];
  const now = start + 184_000;
  expect(told(whole.slice(0, 6), { ...none, questions }, now).at(-1)).toBe(
    'alice was asked to connect Tracker · waiting for 3 min · 7 min left',
  );
  const items = timelineOf(whole.slice(0, 6), { contents: false });
  expect(items.filter(({ endedAt }) => endedAt === null).map(({ kind }) => kind)).toEqual([
    'call',
    'question',
  ]);
  expect(waitedMs(items, now)).toBe(180_000);
});

test('two questions at once are one wait', () => {
  const other = { ...asked, elicitationId: 'q2' };
  const both = [
    at(0, { ...asked, status: 'pending' }),
    at(10, { ...other, status: 'pending' }),
    at(20, { ...asked, status: 'decline' }),
    at(40, { ...other, status: 'cancel' }),
  ];
  expect(waitedMs(timelineOf(both, { contents: false }), start)).toBe(40_000);
});

test('contents are there only where they were asked for', () => {
  const questions = [{ id: 'q1', user: 'alice', settledAt: null, settledBy: null, answer: 'secret-answer' }];
  const more = { ...none, questions };
  expect(JSON.stringify(timelineOf(whole, { contents: false, more }))).not.toContain('secret');
  const contents = timelineOf(whole, { contents: true, more }).flatMap((item) => item.contents ?? []);
  expect(contents.map(({ label }) => label)).toEqual(['Text', 'Arguments', 'Result', 'Question', 'Answer']);
  expect(JSON.stringify(contents)).toMatch(
    /secret-text.*secret-argument.*secret-output.*secret-message.*secret-answer/,
  );
});

test('a model call that was repeated is one step, with how often it was tried; its void attempt is gone', () => {
  const repeated = [
    ...whole.slice(0, 3),
    at(3, { type: 'reset-step', step: 0 }),
    at(3, { type: 'start-step', step: 0 }),
    at(4, { type: 'text-delta', id: 'b', delta: 'again' }),
  ];
  expect(told(repeated)).toEqual(['Turn started · assistant', 'Step 1 · the model was called 2 times']);
  expect(JSON.stringify(timelineOf(repeated, { contents: true }))).not.toContain('secret-text');
  const attempts = { steps: new Map([['step/0', 3]]), calls: new Map([['c1', 2]]) };
  expect(told(whole.slice(0, 4), { ...none, attempts }).slice(1)).toEqual([
    'Step 1 · the model was called 3 times',
    'tracker · list issues · running · attempt 2',
  ]);
});

test('a delegate’s work is told as its own, and what was left open ends with the turn', () => {
  const of = { path: ['researcher'], parentToolCallId: 'd1' };
  const delegated = [
    at(0, { type: 'turn-started', agent: 'lead', messageId: 't' }),
    at(1, {
      type: 'tool-input-available',
      toolCallId: 'd1',
      toolName: 'agent__researcher',
      input: {},
      agent: 'researcher',
    }),
    at(2, { type: 'start-step', step: 0, ...of }),
    at(3, { type: 'tool-input-available', ...call, input: {}, ...of }),
    at(4, { type: 'tool-output-error', ...call, errorText: 'secret', ...of }),
    at(5, { type: 'turn-ended', status: 'cancelled' }),
  ];
  expect(told(delegated)).toEqual([
    'Turn started · lead',
    'Delegated to researcher · running · 4.0 s',
    'researcher › Step 1 · 3.0 s',
    'researcher › tracker · list issues · failed · 1.0 s',
    'Turn cancelled',
  ]);
});

test.each(['expired', 'cancel', 'decline', 'tool_error', 'unknown', 'stopped'] as const)(
  'a call that ended with %s says so, in the word of the log',
  (outcome) => {
    const failed = { type: 'tool-output-error', ...call, errorText: 'secret', outcome } as const;
    expect(told([...whole.slice(0, 7), at(70, failed)])[2]).toBe(`tracker · list issues · ${outcome} · 67 s`);
  },
);

test.each([
  ['missing', ''],
  ['rejected', ' again (Tracker refused the account)'],
  ['insufficient_scope', ' again (Tracker needs more permissions)'],
  ['revoked', ' again (the account was revoked)'],
] as const)('of an account that is %s, it is said why it is asked for', (reason, words) => {
  const again = { ...asked, context: { ...asked.context, reason }, status: 'pending' } as const;
  expect(told([at(0, again)])).toEqual([`The user was asked to connect Tracker${words} · waiting`]);
});

test('who expired a question and who cancelled the turn is told', () => {
  const questions = [{ id: 'q1', user: 'alice', settledAt: start + 10_000, settledBy: 'olga' }];
  const acts = [{ at: start + 11_000, action: 'cancelled' as const, actor: 'olga' }];
  const expired = [
    ...whole.slice(0, 6),
    at(10, { ...asked, status: 'expired' }),
    at(12, { type: 'turn-ended', status: 'cancelled' }),
  ];
  expect(told(expired, { ...none, questions, acts }).slice(-3)).toEqual([
    'alice was asked to connect Tracker · expired by olga after 6.0 s',
    'olga cancelled the turn',
    'Turn cancelled',
  ]);
});

test('the turns of a conversation are told one after the other, each with the time since it began', () => {
  const second = at(100, { type: 'turn-started', agent: 'assistant', messageId: 'u' }, 'u');
  const third = at(101, { type: 'start-step', step: 0 }, 'u');
  const { markup } = timelineMarkup(timelineOf([...whole, second, third], { contents: false }));
  expect([...markup.matchAll(/>([\d.]+ \w+)<\/time>/g)].map(([, time]) => time).slice(-3)).toEqual([
    '72 s',
    '0.0 s',
    '1.0 s',
  ]);
});

test('what was said is text on the page', () => {
  const hostile = [
    at(0, { type: 'tool-input-available', ...call, input: '</pre><script>alert(1)</script>' }),
  ];
  const { markup } = timelineMarkup(timelineOf(hostile, { contents: true }));
  expect(markup).toContain('&lt;script&gt;');
  expect(markup).not.toContain('<script>');
});

test.each([
  [40, '0.0 s'],
  [9_940, '9.9 s'],
  [59_000, '59 s'],
  [180_000, '3 min'],
  [3 * 3_600_000, '3 h'],
  [5 * 86_400_000, '5 d'],
])('%d ms are %s', (ms, words) => expect(inTime(ms)).toBe(words));
