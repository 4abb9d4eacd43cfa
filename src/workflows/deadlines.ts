/**
 * One timer for all deadlines of a turn. It is not cancelled when somebody answers, so that the next question finds it
 * running: a question costs no timer of its own, and one that rings too early is armed again.
 */
import { CancellationScope, condition, sleep } from '@temporalio/workflow';

export interface Deadlines {
  /** Resolves as soon as `isOver`, with true; with false when the deadline (epoch milliseconds) comes first. */
  wait(deadline: number, isOver: () => boolean, summary: string): Promise<boolean>;
}

export function createDeadlines(): Deadlines {
  let next = Infinity;
  let rung = 0;

  function arm(at: number, summary: string): void {
    if (next <= at) return;
    next = at;
    const ringing = CancellationScope.nonCancellable(() => sleep(Math.max(1, at - Date.now()), { summary }));
    void ringing.then(() => {
      if (next === at) next = Infinity;
      rung++;
    });
  }

  return {
    async wait(deadline, isOver, summary) {
      while (!isOver() && Date.now() < deadline) {
        arm(deadline, summary);
        const before = rung;
        await condition(() => isOver() || rung > before);
      }
      return isOver();
    },
  };
}
