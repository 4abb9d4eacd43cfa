/**
 * Turns whose run Temporal, healthy, did not find. One look is not enough to end a turn: a server that has just started
 * answers so as well. The same observer looks again, and by its own monotonic clock not before `confirmMs` have passed.
 *
 * Kept in memory: a process that ends forgets what it has seen, and the next one looks twice again.
 */
import type { TurnRef } from '../turn/turn.ts';

/** What is seen beyond this is remembered later, when some of it is settled. */
const mostTurns = 10_000;

export interface MissingRuns<Turn extends TurnRef> {
  /** To be called when the run was not found. True: it was not found long enough ago, either. */
  note(turn: Turn): boolean;
  forget(turn: Turn): void;
  /** Not found once; its second look follows. */
  has(turn: TurnRef): boolean;
  /** Those to look at for the second time. */
  due(limit: number): Turn[];
}

export function createMissingRuns<Turn extends TurnRef>(confirmMs: number): MissingRuns<Turn> {
  const missing = new Map<string, { turn: Turn; since: number }>();
  const isDue = ({ since }: { since: number }) => performance.now() - since >= confirmMs;

  return {
    note(turn) {
      const known = missing.get(turn.turnId);
      if (known) return isDue(known);
      if (missing.size < mostTurns) missing.set(turn.turnId, { turn, since: performance.now() });
      return false;
    },
    forget: ({ turnId }) => void missing.delete(turnId),
    has: ({ turnId }) => missing.has(turnId),
    due(limit) {
      const turns: Turn[] = [];
      // In the order in which they were noted: the first that is not due is followed by none that is.
      for (const entry of missing.values()) {
        if (turns.length === limit || !isDue(entry)) break;
        turns.push(entry.turn);
      }
      return turns;
    },
  };
}
