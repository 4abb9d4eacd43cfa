import { describe, expect, test } from 'vitest';
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { LogEntry, TurnEvent } from '../../src/turn/event.ts';
import { emptyTurn, foldTurn, openQuestions, ownText } from '../../src/turn/fold-turn.ts';

function log(...events: TurnEvent[]): LogEntry[] {
  return events.map((event, index) => ({ seq: index + 1, turnId: 't', at: index, event }));
}

/** What all agents said, text by text. */
function textsOf(entries: LogEntry[]): string[] {
  return foldTurn(emptyTurn, entries).items.flatMap((item) => (item.type === 'text' ? [item.text] : []));
}

const said = (delta: string): TurnEvent => ({ type: 'text-delta', id: 'p', delta });
const step = (number: number): TurnEvent => ({ type: 'start-step', step: number });
const finish = (number: number): TurnEvent => ({ type: 'finish-step', step: number });
const tool = { toolCallId: 'c', toolName: 'look' };
const asked: TurnEvent = { type: 'tool-input-available', ...tool, input: {} };
const result: TurnEvent = { type: 'tool-output-available', ...tool, output: {} };
const reset: TurnEvent = { type: 'reset-step', step: 2 };
const by = (parentToolCallId: string, event: TurnEvent) => ({ ...event, path: ['r'], parentToolCallId });

describe('the text of a repeated model call', () => {
  test('is void', () => {
    expect(textsOf(log(step(2), said('void'), reset, step(2), said('real')))).toEqual(['real']);
  });

  test('is void however often the call is repeated', () => {
    const again = [reset, step(2)];
    const entries = log(step(2), said('void'), ...again, said('void too'), ...again, said('real'));
    expect(textsOf(entries)).toEqual(['real']);
  });

  test('does not void the text of earlier steps', () => {
    const entries = log(step(1), said('kept'), finish(1), step(2), said('void'), reset, said('real'));
    expect(textsOf(entries)).toEqual(['kept', 'real']);
  });

  test('does not void the text of other agents', () => {
    const entries = log(
      by('a', step(2)),
      by('a', said('void')),
      by('b', step(2)),
      by('b', said('kept')),
      by('a', reset),
      by('a', said('real')),
    );
    expect(textsOf(entries)).toEqual(['kept', 'real']);
  });

  test('is void even if the log has deleted the beginning of its step', () => {
    expect(textsOf(log(said('void'), reset, said('real')))).toEqual(['real']);
  });

  test('does not void the step before if the log has deleted the repeated one', () => {
    const before = [step(1), said('kept'), asked, finish(1), result];
    const again = [reset, step(2), said('real'), finish(2)];
    expect(textsOf(log(...before, ...again))).toEqual(['kept', 'real']);
    expect(textsOf(log(...before, reset, ...again))).toEqual(['kept', 'real']);
    expect(textsOf(log(...before, step(2), said('void'), reset, ...again))).toEqual(['kept', 'real']);
    expect(textsOf(log(said('kept'), finish(1), reset, said('real')))).toEqual(['kept', 'real']);
  });

  test('voids neither the text of the delegating agent nor that of another delegate', () => {
    const before = [step(0), said('own'), asked, finish(0), by('a', step(0)), by('a', said('first'))];
    const delegated = [by('a', finish(0)), by('b', step(0)), by('b', said('other'))];
    const again = [by('a', reset), by('a', said('second')), by('a', finish(2)), result];
    const entries = log(...before, ...delegated, ...again, { type: 'reset-step', step: 1 }, said('last'));
    expect(textsOf(entries)).toEqual(['own', 'first', 'other', 'second', 'last']);
  });

  test('is void for every reader, whenever they read', () => {
    const writes = [
      ...attempt(0, 1, ['v0 ', 'v0']),
      ...attempt(0, 2, ['Looking', '.']),
      asked,
      finish(0),
      by('c', step(0)),
      by('c', said('Found')),
      by('c', finish(0)),
      by('c', step(1)),
      by('c', said('v')),
      by('c', { type: 'reset-step', step: 1 }),
      by('c', step(1)),
      by('c', said('it.')),
      by('c', finish(1)),
      result,
      ...attempt(1, 1, ['v1']),
      ...attempt(1, 2, ['v2 ', 'v2']),
      ...attempt(1, 3, []),
      ...attempt(1, 4, ['Created.']),
      finish(1),
    ];
    const logs = stagesOf(writes);
    const last = logs.at(-1)!;
    for (const [index, first] of logs.entries())
      for (const second of logs.slice(index)) {
        const read = [second, last].reduce(
          (seen, log) => [...seen, ...log.filter(({ seq }) => seq > (seen.at(-1)?.seq ?? 0))],
          first,
        );
        expect(textsOf(read)).toEqual(['Looking.', 'Found', 'it.', 'Created.']);
      }
  });
});

test('a question keeps its place when its status changes, and only its latest status counts', () => {
  const ask = (elicitationId: string, status: 'pending' | 'accept'): ElicitationEvent => ({
    type: 'elicitation-request',
    elicitationId,
    mode: 'form',
    requestedSchema: {},
    message: 'Which city?',
    context: { trigger: 'mcp_elicitation' },
    status,
    expiresAt: '2026-11-23T00:00:00.000Z',
  });
  const entries = log(ask('a', 'pending'), ask('b', 'pending'), ask('a', 'accept'));
  const turn = foldTurn(emptyTurn, entries);
  expect(turn.items).toMatchObject([
    { type: 'question', question: { elicitationId: 'a', status: 'accept' }, endedAt: 2 },
    { type: 'question', question: { elicitationId: 'b', status: 'pending' }, endedAt: null },
  ]);
  expect(openQuestions(turn)).toEqual([ask('b', 'pending')]);
});

test('what goes on ends with the turn, and an answer is what the own agent said', () => {
  const events = [step(0), said('One'), asked, finish(0), by('c', said('delegated')), step(1)];
  const more: TurnEvent[] = [{ type: 'text-delta', id: 'q', delta: 'Two' }];
  const turn = foldTurn(
    foldTurn(emptyTurn, log(...events)),
    log(...more, { type: 'turn-ended', status: 'failed' }),
  );
  expect(turn.items.filter(({ endedAt }) => endedAt === null)).toEqual([]);
  expect(turn.end).toMatchObject({ status: 'failed' });
  expect(ownText(turn)).toBe('One\n\nTwo');
});

function attempt(number: number, nth: number, words: string[]): TurnEvent[] {
  const resets: TurnEvent[] = nth > 1 ? [{ type: 'reset-step', step: number }] : [];
  return [...resets, step(number), ...words.map(said)];
}

/** The log after each write. A reset deletes what its step has said. */
function stagesOf(writes: TurnEvent[]): LogEntry[][] {
  let entries: LogEntry[] = [];
  const steps = new Map<LogEntry, string>();
  let current = '';
  return writes.map((event, index) => {
    const agent = event.parentToolCallId ?? '';
    if ('step' in event) current = `${agent}/${event.step}`;
    if (event.type === 'reset-step') entries = entries.filter((entry) => steps.get(entry) !== current);
    const entry = { seq: index + 1, turnId: 't', at: 0, event };
    if (event.type === 'start-step' || event.type === 'text-delta') steps.set(entry, current);
    entries = [...entries, entry];
    return entries;
  });
}
