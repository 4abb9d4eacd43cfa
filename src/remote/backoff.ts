/**
 * Servers that could not be reached, and how long nobody tries them again: longer after each failure, up to a limit, and
 * not at all after one success. Of this process alone; others find out for themselves.
 */
import type { ServerConfig } from '../config/config.ts';

export interface BackOff {
  /** What was wrong with the server, while it is not to be tried; null: try it. */
  trouble(server: ServerConfig): string | null;
  /** `message`: as `Unreachable` has it. Answers for how long it is not to be tried, in milliseconds. */
  failed(server: ServerConfig, message: string): number;
  reached(server: ServerConfig): void;
}

interface Failures {
  count: number;
  message: string;
  until: number;
}

/** `firstMs`: after the first failure, default five seconds. `longestMs`: default five minutes. */
export function createBackOff({ firstMs = 5_000, longestMs = 300_000, now = Date.now } = {}): BackOff {
  const failing = new Map<string, Failures>();
  return {
    trouble({ name }) {
      const failures = failing.get(name);
      return failures && now() < failures.until ? failures.message : null;
    },
    failed({ name }, message) {
      const { count = 0, until = 0 } = failing.get(name) ?? {};
      // One that was under way when another failed says nothing new.
      if (now() < until) return until - now();
      const waitMs = Math.min(firstMs * 2 ** count, longestMs);
      failing.set(name, { count: count + 1, message, until: now() + waitMs });
      return waitMs;
    },
    reached({ name }) {
      failing.delete(name);
    },
  };
}
