/**
 * Outcomes of questions that are decided and perhaps not in the database yet. An outcome costs no write of its own where
 * an activity follows because of it: that activity writes it first. Otherwise, and when that activity fails, it is
 * written by an activity of its own. Writing an outcome twice changes nothing.
 */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { Settlement } from '../elicitation/elicitation.ts';
import { settleElicitations } from './activities.ts';

export interface UnwrittenOutcomes {
  /** Ignores undefined, the outcome of a question that was never opened. */
  add(outcome: Settlement | undefined): void;
  /**
   * Calls an activity that has to write the outcomes it is given before it does anything that people can see. If it
   * fails, they are written separately; if it is cancelled, at the end of the turn.
   */
  writtenBy<T>(activity: (outcomes: Settlement[]) => Promise<T>): Promise<T>;
  /** Writes them now. Resolves when that is done or has failed; what could not be written stays here. */
  write(): Promise<void>;
}

export function createUnwrittenOutcomes(): UnwrittenOutcomes {
  const unwritten = new Map<string, Settlement>();

  /** Removes what the activity has written; what is added meanwhile stays. */
  async function clearedBy<T>(activity: (outcomes: Settlement[]) => Promise<T>): Promise<T> {
    const outcomes = [...unwritten.values()];
    const result = await activity(outcomes);
    for (const { elicitationId } of outcomes) unwritten.delete(elicitationId);
    return result;
  }

  async function write(): Promise<void> {
    if (unwritten.size === 0) return;
    const summary = [...unwritten.values()].map(({ outcome }) => outcome).join(', ');
    await CancellationScope.nonCancellable(() =>
      clearedBy((outcomes) => settleElicitations.executeWithOptions({ summary }, [{ outcomes }])),
    ).catch(() => undefined);
  }

  return {
    add(outcome) {
      if (outcome) unwritten.set(outcome.elicitationId, outcome);
    },
    async writtenBy(activity) {
      try {
        return await clearedBy(activity);
      } catch (error) {
        if (!isCancellation(error)) await write();
        throw error;
      }
    },
    write,
  };
}
