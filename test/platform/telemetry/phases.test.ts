/** Which phase of an agent's work it is, read from the questions of the turn. */
import { describe, expect, test } from 'vitest';
import type { TracedQuestion, TurnTrace } from '../../../src/storage/tables/turn-traces.ts';
import { latestPhase } from '../../../src/platform/telemetry/traces/phases.ts';

/** Two delegates of the turn's agent, `c1` and `c2`, and one of the first's, `c1/1`. */
function traceWith(...questions: TracedQuestion[]): TurnTrace {
  const delegate = (agent: string, startedAt: number, delegatedBy: string | null) => ({
    agent,
    startedAt,
    delegatedBy,
  });
  return {
    tenant: 'demo',
    conversation: 'c',
    turnId: 't',
    agent: 'lead',
    user: 'alice',
    traceParent: '',
    startedAt: 0,
    endedAt: null,
    now: () => 1_000,
    questions,
    delegates: new Map([
      ['c1', delegate('editor', 10, null)],
      ['c2', delegate('writer', 10, null)],
      ['c1/1', delegate('researcher', 20, 'c1')],
    ]),
  };
}

const asked = (id: string, askedAt: number, settledAt: number | null, ...agents: (string | null)[]) => ({
  id,
  askedAt,
  settledAt,
  agents: agents.length > 0 ? agents : [null],
});

describe('the latest phase', () => {
  test('begins with the turn where nothing was asked', () =>
    expect(latestPhase(traceWith(), null)).toEqual({ key: '', startedAt: 0, resumedFrom: [], pause: null }));

  test('ends with the first question that is open', () =>
    expect(latestPhase(traceWith(asked('b', 60, null), asked('a', 50, null)), null)).toEqual({
      key: '',
      startedAt: 0,
      resumedFrom: [],
      pause: { startedAt: 50, first: { id: 'a', waiting: 1 }, questions: ['a', 'b'] },
    }));

  test('goes on from the last answer of several questions at once, in whatever order they come', () => {
    const early = asked('b', 60, 70);
    expect(latestPhase(traceWith(early, asked('a', 50, null)), null).key).toBe('');
    expect(latestPhase(traceWith(early, asked('a', 50, 90)), null)).toEqual({
      key: 'a',
      startedAt: 90,
      resumedFrom: ['a', 'b'],
      pause: null,
    });
  });

  test('is told apart from those before it', () =>
    expect(
      latestPhase(traceWith(asked('a', 50, 60), asked('b', 60, 80), asked('c', 95, null)), null),
    ).toEqual({
      key: 'b',
      startedAt: 80,
      resumedFrom: ['b'],
      pause: { startedAt: 95, first: { id: 'c', waiting: 1 }, questions: ['c'] },
    }));
});

describe('a delegate', () => {
  const trace = traceWith(asked('a', 50, 60, 'c1/1'), asked('b', 70, null, 'c2'));

  test('pauses with the agents that it has delegated to, and not with those beside it', () => {
    expect(latestPhase(trace, 'c1/1')).toMatchObject({ key: 'a', pause: null });
    expect(latestPhase(trace, 'c1')).toMatchObject({ key: 'a', startedAt: 60, pause: null });
    expect(latestPhase(trace, 'c2')).toMatchObject({ key: '', startedAt: 10, pause: { questions: ['b'] } });
  });

  test('holds up those that wait for it', () =>
    expect(latestPhase(trace, null)).toMatchObject({ key: 'a', pause: { startedAt: 70, questions: ['b'] } }));

  test('waits for a question that it shares with another', () => {
    const shared = traceWith(asked('a', 50, null, 'c1', 'c2'));
    for (const [agent, waiting] of [
      ['c1', 1],
      ['c2', 1],
      [null, 2],
    ] as const)
      expect(latestPhase(shared, agent).pause).toEqual({
        startedAt: 50,
        first: { id: 'a', waiting },
        questions: ['a'],
      });
    expect(latestPhase(shared, 'c1/1').pause).toBeNull();
  });
});
