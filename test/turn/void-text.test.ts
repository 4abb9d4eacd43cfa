import { describe, expect, test } from 'vitest';
import type { LogEntry, TurnEvent } from '../../src/turn/event.ts';
import { withoutVoidText } from '../../src/turn/event.ts';

function log(...events: TurnEvent[]): LogEntry[] {
  return events.map((event, index) => ({ seq: index + 1, turnId: 't', at: 0, event }));
}

/** Whoever has left it out may do so again: nothing more goes. */
function told(entries: LogEntry[]): string[] {
  const kept = withoutVoidText(entries);
  expect(withoutVoidText(kept)).toEqual(kept);
  return kept.map(({ event }) => ('delta' in event ? event.delta : event.type));
}

const said = (delta: string): TurnEvent => ({ type: 'text-delta', id: 'p', delta });
const step = (number: number): TurnEvent => ({ type: 'start-step', step: number });
const finish = (number: number): TurnEvent => ({ type: 'finish-step', step: number });
const tool = { toolCallId: 'c', toolName: 'look' };
const asked: TurnEvent = { type: 'tool-input-available', ...tool, input: {} };
const result: TurnEvent = { type: 'tool-output-available', ...tool, output: {} };
const reset: TurnEvent = { type: 'reset-step', step: 2 };
const by = (parentToolCallId: string, event: TurnEvent) => ({ ...event, path: ['r'], parentToolCallId });

describe('what a repeated model call took back', () => {
  test('goes with the start of its step, and what took it back stays', () => {
    expect(told(log(step(2), said('void'), reset, step(2), said('real')))).toEqual([
      'reset-step',
      'start-step',
      'real',
    ]);
  });

  test('goes however often it was repeated', () => {
    const entries = log(
      step(2),
      said('void'),
      reset,
      step(2),
      said('void too'),
      reset,
      step(2),
      said('real'),
    );
    expect(told(entries)).toEqual(['reset-step', 'reset-step', 'start-step', 'real']);
  });

  test('does not take earlier steps with it', () => {
    const entries = log(
      step(1),
      said('kept'),
      { type: 'finish-step', step: 1 },
      step(2),
      said('void'),
      reset,
      said('real'),
    );
    expect(told(entries)).toEqual(['start-step', 'kept', 'finish-step', 'reset-step', 'real']);
  });

  test('leaves what other agents have said alone', () => {
    const entries = log(
      by('a', step(2)),
      by('a', said('void')),
      by('b', step(2)),
      by('b', said('kept')),
      by('a', reset),
      by('a', said('real')),
    );
    expect(told(entries)).toEqual(['start-step', 'kept', 'reset-step', 'real']);
  });

  test('goes, too, when only its end is there', () => {
    expect(told(log(said('void'), reset, said('real')))).toEqual(['reset-step', 'real']);
  });

  test('leaves the turn before alone', () => {
    const [first, second] = [log(step(2), said('kept')), log(reset, said('real'))];
    const entries = [...first, ...second.map((entry) => ({ ...entry, turnId: 'next' }))];
    expect(told(entries)).toEqual(['start-step', 'kept', 'reset-step', 'real']);
  });

  test('leaves the step before alone where the log has none of it any more', () => {
    const before = [step(1), said('kept'), asked, finish(1), result];
    const kept = ['start-step', 'kept', asked.type, 'finish-step', result.type];
    const again = [reset, step(2), said('real'), finish(2)];
    const rest = ['reset-step', 'start-step', 'real', 'finish-step'];
    expect(told(log(...before, ...again))).toEqual([...kept, ...rest]);
    expect(told(log(...before, reset, ...again))).toEqual([...kept, 'reset-step', ...rest]);
    const halfThere = log(...before, step(2), said('void'), reset, ...again);
    expect(told(halfThere)).toEqual([...kept, 'reset-step', ...rest]);
  });

  test('leaves the step before alone when only its end is there', () => {
    expect(told(log(said('kept'), finish(1), reset, said('real')))).toEqual([
      'kept',
      'finish-step',
      'reset-step',
      'real',
    ]);
  });

  test('leaves the steps of the agent that asked alone, and those of the delegate', () => {
    const before = [step(0), said('own'), asked, finish(0), by('a', step(0)), by('a', said('first'))];
    const delegated = [by('a', finish(0)), by('b', step(0)), by('b', said('other'))];
    const again = [by('a', reset), by('a', said('second')), by('a', finish(2)), result];
    const entries = log(...before, ...delegated, ...again, { type: 'reset-step', step: 1 }, said('last'));
    const texts = told(entries).filter((text) => !text.includes('-'));
    expect(texts).toEqual(['own', 'first', 'other', 'second', 'last']);
  });

  test('is the same for every reader, whenever they read', () => {
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
        expect(told(read)).toEqual(told(last));
      }
    expect(withoutVoidText(last)).toEqual(last);
  });
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
