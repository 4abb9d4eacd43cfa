/**
 * Waits for people. One activity opens questions and a later one reads how they ended; in between, the workflow waits for
 * the signal `questionsSettled`, or until the time of a question is up. Both are hints: the row decides.
 */
import { CancellationScope, condition, setHandler, sleep } from '@temporalio/workflow';
import type { AskedQuestion } from '../turn/ask.ts';
import { questionsSettled } from './messages.ts';
import { waitsFor } from './operator-view.ts';

/** A point in the sequence of signals. */
export type Moment = number;

/** Signals about questions that no call waits for yet. The oldest are dropped. */
const mostHints = 1_000;
/** Prevents a tight loop if a row is not settled when its time is up. */
const shortestWaitMs = 50;

export class Questions {
  /** By the id of a question: the number of the last signal about it. */
  readonly #hints = new Map<string, number>();
  #signals = 0;
  /** For each wait, the questions that are left, and when their time is up. */
  readonly #waits = new Set<Map<string, number>>();
  #timerAt = Infinity;
  #timersFired = 0;

  readonly #user: string | null;

  /** `user`: who is asked. `onSettled` is called with the ids in each signal. */
  constructor(user: string | null, onSettled: (elicitationIds: string[]) => void) {
    this.#user = user;
    setHandler(questionsSettled, (message: unknown) => {
      const ids = readIds(message);
      for (const id of ids) this.#hint(id);
      onSettled(ids);
    });
  }

  /** Call this before the activity that reads the questions: signals after it count for `wait`. */
  now(): Moment {
    return this.#signals;
  }

  /** Resolves when there has been a signal since then about each of the questions, or its time is up. */
  async wait(questions: AskedQuestion[], since: Moment): Promise<void> {
    const left = new Map<string, number>();
    for (const { elicitationId, remainingMs } of questions) {
      const isHinted = (this.#hints.get(elicitationId) ?? -1) >= since;
      if (!isHinted) left.set(elicitationId, Date.now() + Math.max(remainingMs, shortestWaitMs));
    }
    const summary = waitsFor(this.#user, questions);
    this.#waits.add(left);
    try {
      while (left.size > 0) {
        this.#setTimer(Math.min(...left.values()), summary);
        const fired = this.#timersFired;
        await condition(() => left.size === 0 || this.#timersFired > fired);
        for (const [id, until] of left) if (until <= Date.now()) left.delete(id);
      }
    } finally {
      this.#waits.delete(left);
    }
  }

  #hint(id: string): void {
    for (const left of this.#waits) left.delete(id);
    this.#hints.delete(id);
    this.#hints.set(id, this.#signals++);
    const [oldest] = this.#hints.keys();
    if (this.#hints.size > mostHints && oldest !== undefined) this.#hints.delete(oldest);
  }

  /**
   * One timer for all questions, to keep history short. It keeps running when its question is answered; if it fires too
   * early for those that are left, it is set again.
   */
  #setTimer(at: number, summary: string): void {
    if (this.#timerAt <= at) return;
    this.#timerAt = at;
    const timer = CancellationScope.nonCancellable(() => sleep(Math.max(1, at - Date.now()), { summary }));
    void timer.then(() => {
      if (this.#timerAt === at) this.#timerAt = Infinity;
      this.#timersFired++;
    });
  }
}

/** The sender of a signal is untrusted, and a handler that throws would make the workflow's task fail again and again. */
function readIds(message: unknown): string[] {
  const { elicitationIds } = { ...(message as { elicitationIds?: unknown } | null) };
  return Array.isArray(elicitationIds) ? elicitationIds.filter(isId) : [];
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= 128;
}
