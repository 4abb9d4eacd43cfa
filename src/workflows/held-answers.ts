/**
 * Answers that come after this agent has agreed to end for a new message, and before that is decided. They count if its
 * parent withdraws the request, and come to nothing if it cancels this agent. Where neither is heard, because the parent's
 * worker is away, they count after a while.
 */
import { CancellationScope, sleep } from '@temporalio/workflow';

export interface HeldAnswers {
  /** From now on answers are held. `until`: as in `Supersede`; it names the request. `onFirst`: one is held. */
  begin(until: number, onFirst: () => void): void;
  /** Applies what is held, in the order in which it came. With `until`: nothing unless that request is the last one. */
  release(until?: number): void;
  isHolding(): boolean;
  /** Whether an answer to this question is held: what happens to the question afterwards comes afterwards. */
  holds(elicitationId: string): boolean;
  /** To be called while answers are held. */
  keep(elicitationId: string, apply: () => void): void;
}

/** The parent decides before `until`; this long its cancellation may take. */
const graceMs = 5_000;
/** However far away an `until` is that somebody made up. */
const longestMs = 15_000;

export function createHeldAnswers(): HeldAnswers {
  let request: { until: number; onFirst: () => void } | null = null;
  const held: { elicitationId: string; apply: () => void }[] = [];

  function release(until = request?.until): void {
    if (request?.until !== until) return;
    request = null;
    for (const { apply } of held.splice(0)) apply();
  }

  async function releaseLater(until: number): Promise<void> {
    const ms = Math.min(Math.max(1, until + graceMs - Date.now()), longestMs);
    await CancellationScope.nonCancellable(() => sleep(ms, { summary: 'answers wait for a new message' }));
    release(until);
  }

  return {
    begin(until, onFirst) {
      request = { until, onFirst };
    },
    release,
    isHolding: () => request !== null,
    holds: (id) => held.some(({ elicitationId }) => elicitationId === id),
    keep(elicitationId, apply) {
      held.push({ elicitationId, apply });
      if (held.length > 1 || !request) return;
      void releaseLater(request.until);
      request.onFirst();
    },
  };
}
