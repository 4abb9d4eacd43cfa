/**
 * One timer for all deadlines of a turn, so that a question adds no timer of its own to history. The timer keeps running
 * when its question is answered; when it fires too early for the questions that are left, it is set again.
 */
import { CancellationScope, condition, sleep } from '@temporalio/workflow';

export interface Deadlines {
  /** Resolves as soon as `isOver`, with true; with false when the deadline (epoch milliseconds) comes first. */
  wait(deadline: number, isOver: () => boolean, summary: string): Promise<boolean>;
}

export function createDeadlines(): Deadlines {
  /** When the running timer fires. */
  let next = Infinity;
  let timesFired = 0;

  function setTimer(at: number, summary: string): void {
    if (next <= at) return;
    next = at;
    const timer = CancellationScope.nonCancellable(() => sleep(Math.max(1, at - Date.now()), { summary }));
    void timer.then(() => {
      if (next === at) next = Infinity;
      timesFired++;
    });
  }

  return {
    async wait(deadline, isOver, summary) {
      while (!isOver() && Date.now() < deadline) {
        setTimer(deadline, summary);
        const before = timesFired;
        await condition(() => isOver() || timesFired > before);
      }
      return isOver();
    },
  };
}
