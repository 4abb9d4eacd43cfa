/**
 * Answers that come after this agent has agreed to end for a new message, and before it hears what became of that. Whether
 * they count is for the root to say, which knows whether all agents agree: it cancels this agent, or withdraws its request.
 * When neither is heard, because the root's worker is away, the turn goes on and they count.
 */
import { CancellationScope, sleep } from '@temporalio/workflow';

export interface HeldAnswers {
  /** From now on answers are held. `until` (epoch milliseconds): as in `Supersede`, and names the request. */
  begin(until: number): void;
  /** Applies what is held. Nothing if that request is not the last one. */
  release(until: number): void;
  isHolding(): boolean;
  isEmpty(): boolean;
  /** To be called while answers are held. `apply` is called once, if the answer counts. */
  keep(apply: () => void): void;
}

/** The root decides before `until`; this long its cancellation may take. */
const graceMs = 5_000;
/** However far away an `until` is that somebody made up. */
const longestMs = 15_000;

export function createHeldAnswers(): HeldAnswers {
  let request: number | null = null;
  const held: (() => void)[] = [];

  function release(until: number): void {
    if (request !== until) return;
    request = null;
    for (const apply of held.splice(0)) apply();
  }

  async function releaseLater(until: number): Promise<void> {
    const ms = Math.min(Math.max(1, until + graceMs - Date.now()), longestMs);
    await CancellationScope.nonCancellable(() => sleep(ms, { summary: 'answers wait for a new message' }));
    release(until);
  }

  return {
    begin(until) {
      request = until;
    },
    release,
    isHolding: () => request !== null,
    isEmpty: () => held.length === 0,
    keep(apply) {
      held.push(apply);
      if (held.length === 1 && request !== null) void releaseLater(request);
    },
  };
}
