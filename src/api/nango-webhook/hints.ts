/** A bounded queue of hints, debounced by key, so that repeated hints cost little. Dropping one is harmless: polling finds the same. */
import { setTimeout as delay } from 'node:timers/promises';

interface Hints<T> {
  give(key: string, hint: T): void;
  /** Takes no more; resolves when running work is done. */
  close(): Promise<void>;
}

interface HintOptions<T> {
  /** May reject. */
  work(hint: T): Promise<void>;
  failed(hint: T, error: unknown): void;
  /** Called if there is no room for the hint. */
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
  /** Keys that are not taken again before their pause is over. */
  const paused = new Set<string>();
  const closed = new AbortController();

  function next(): void {
    for (const [key, hint] of waiting) {
      if (closed.signal.aborted || running.size >= atOnce) return;
      if (paused.has(key)) continue;
      waiting.delete(key);
      paused.add(key);
      const run = work(hint)
        .catch((error: unknown) => failed(hint, error))
        .finally(() => {
          running.delete(run);
          void pause(key);
          next();
        });
      running.add(run);
    }
  }

  async function pause(key: string): Promise<void> {
    await delay(pauseMs, undefined, { signal: closed.signal, ref: false }).catch(() => undefined);
    paused.delete(key);
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
