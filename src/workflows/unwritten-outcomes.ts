/**
 * Outcomes of questions that are decided and not known to be in the database. An outcome costs no write of its own
 * where something goes on because of it: the activity that does writes it first. Otherwise, and when that activity
 * fails, it is written apart.
 */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { Settlement } from '../elicitation/elicitation.ts';
import { settleElicitations } from './activities.ts';

export interface UnwrittenOutcomes {
  /** Undefined: the question was never opened, so that nothing is to be written. */
  add(outcome: Settlement | undefined): void;
  /**
   * Calls an activity that writes the outcomes it is given before it does anything that people can see. If it fails,
   * they are written apart; if it is cancelled, by the end of the turn.
   */
  writtenBy<T>(activity: (outcomes: Settlement[]) => Promise<T>): Promise<T>;
  /** Writes them now. Resolves when that is done or has failed; what could not be written stays to be. */
  write(): Promise<void>;
}

export function createUnwrittenOutcomes(): UnwrittenOutcomes {
  const unwritten = new Map<string, Settlement>();

  /** What is added meanwhile stays; writing an outcome again changes nothing. */
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
