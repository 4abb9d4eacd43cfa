/**
 * Works on hints, each to be told apart by a key, beside whoever gives them: few at a time, and the same one not sooner
 * than after a while, so that hints that are repeated, by whomever, cost little. What is given up is found by looking.
 */
import { setTimeout as delay } from 'node:timers/promises';

export interface Hints<T> {
  /** Never fails, never waits. */
  give(key: string, hint: T): void;
  /** Takes no more; resolves when what was begun is done. */
  close(): Promise<void>;
}

export interface HintOptions<T> {
  /** May reject. */
  work(hint: T): Promise<void>;
  failed(hint: T, error: unknown): void;
  /** A hint for which there was no room. */
  dropped(hint: T): void;
  /** Default 4. */
  atOnce?: number;
  /** How many may wait. Default 1,000. */
  room?: number;
  /** Default 2 s. */
  pauseMs?: number;
}

export function takeHints<T>(options: HintOptions<T>): Hints<T> {
  const { work, failed, dropped, atOnce = 4, room = 1_000, pauseMs = 2_000 } = options;
  const waiting = new Map<string, T>();
  const running = new Set<Promise<void>>();
  /** What has been worked on just now. */
  const resting = new Set<string>();
  const closed = new AbortController();

  function next(): void {
    for (const [key, hint] of waiting) {
      if (closed.signal.aborted || running.size >= atOnce) return;
      if (resting.has(key)) continue;
      waiting.delete(key);
      resting.add(key);
      const run = work(hint)
        .catch((error: unknown) => failed(hint, error))
        .finally(() => {
          running.delete(run);
          void rest(key);
          next();
        });
      running.add(run);
    }
  }

  async function rest(key: string): Promise<void> {
    await delay(pauseMs, undefined, { signal: closed.signal, ref: false }).catch(() => undefined);
    resting.delete(key);
    next();
  }

  return {
    give(key, hint) {
      if (closed.signal.aborted || (waiting.size >= room && !waiting.has(key))) return dropped(hint);
      waiting.set(key, hint);
      next();
    },
    async close() {
      closed.abort();
      await Promise.all(running);
    },
  };
}
