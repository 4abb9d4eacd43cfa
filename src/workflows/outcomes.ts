/**
 * What was decided about questions and is not known to be written down. Whatever goes on because of an answer writes
 * the answer, too: that costs nothing of its own. What nothing goes on with, or what failed, is written apart.
 */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { Settlement } from '../elicitation/elicitation.ts';
import { settleElicitations } from './activities.ts';

export interface Outcomes {
  add(outcome: Settlement): void;
  /** Not written down, as far as is known; writing one again changes nothing. */
  unwritten(): Settlement[];
  /** Does work that writes what it is given, before it does anything that people can see. */
  writtenBy<T>(work: (outcomes: Settlement[]) => Promise<T>): Promise<T>;
  /** Writes them now. Resolves when that is done; what could not be written stays to be. */
  write(): Promise<void>;
}

export function createOutcomes(): Outcomes {
  const unwritten = new Map<string, Settlement>();

  async function writtenBy<T>(work: (outcomes: Settlement[]) => Promise<T>): Promise<T> {
    const outcomes = [...unwritten.values()];
    const result = await work(outcomes);
    for (const { elicitationId } of outcomes) unwritten.delete(elicitationId);
    return result;
  }

  async function write(): Promise<void> {
    if (unwritten.size === 0) return;
    const summary = [...unwritten.values()].map(({ outcome }) => outcome).join(', ');
    await CancellationScope.nonCancellable(() =>
      writtenBy((outcomes) => settleElicitations.executeWithOptions({ summary }, [{ outcomes }])),
    ).catch(() => undefined);
  }

  return {
    add: (outcome) => void unwritten.set(outcome.elicitationId, outcome),
    unwritten: () => [...unwritten.values()],
    async writtenBy(work) {
      try {
        return await writtenBy(work);
      } catch (error) {
        // The end of the turn writes everything itself.
        if (!isCancellation(error)) await write();
        throw error;
      }
    },
    write,
  };
}
