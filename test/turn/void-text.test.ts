import { describe, expect, test } from 'vitest';
import type { LogEntry, TurnEvent } from '../../src/turn/event.ts';
import { withoutVoidText } from '../../src/turn/void-text.ts';

function log(...events: TurnEvent[]): LogEntry[] {
  return events.map((event, index) => ({ seq: index + 1, turnId: 't', at: 0, event }));
}

function told(entries: LogEntry[]): string[] {
  return withoutVoidText(entries).map(({ event }) => ('delta' in event ? event.delta : event.type));
}

const said = (delta: string): TurnEvent => ({ type: 'text-delta', id: 'p', delta });
const step = (number: number): TurnEvent => ({ type: 'start-step', step: number });
const reset: TurnEvent = { type: 'reset-step', step: 2 };

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
    const by = (parentToolCallId: string, event: TurnEvent) => ({ ...event, path: ['r'], parentToolCallId });
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
});
