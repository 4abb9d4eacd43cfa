/**
 * Servers that could not be reached, and for how long nobody tries them again: exponential backoff up to a limit, and
 * none after one success. Kept in memory: each process finds out for itself.
 */
import type { ServerConfig } from '../config/config.ts';

export interface Backoff {
  /** Why the server was not reached, while it is not to be tried; null: try it. */
  reason(server: ServerConfig): string | null;
  /** `message`: as `Unreachable` has it. Answers for how long the server is not to be tried, in milliseconds. */
  failed(server: ServerConfig, message: string): number;
  reached(server: ServerConfig): void;
}

interface Failures {
  count: number;
  message: string;
  until: number;
}

/** `firstMs`: after the first failure, default five seconds. `longestMs`: default five minutes. */
export function createBackoff({ firstMs = 5_000, longestMs = 300_000, now = Date.now } = {}): Backoff {
  const failing = new Map<string, Failures>();
  return {
    reason({ name }) {
      const failures = failing.get(name);
      return failures && now() < failures.until ? failures.message : null;
    },
    failed({ name }, message) {
      const { count = 0, until = 0 } = failing.get(name) ?? {};
      // An attempt that was under way when another failed says nothing new.
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
