/**
 * Ids of spans, derived from the turn, the phase or the question: several processes name the same span, and a span that is
 * written twice keeps its id.
 */
import { hash, randomUUID } from 'node:crypto';

export function spanIdOf(kind: 'turn' | 'phase' | 'asked' | 'wait' | 'tool', ...of: string[]): string {
  return hash('sha256', JSON.stringify([kind, ...of])).slice(0, 16);
}

/** A turn's id is random, and as long as that of a trace. */
export function traceIdOf(turnId: string): string {
  const hex = turnId.replaceAll('-', '').toLowerCase();
  return /^[0-9a-f]{32}$/.test(hex) ? hex : hash('sha256', turnId).slice(0, 32);
}

interface Ids {
  spanId: string;
  /** For a span without a parent. */
  traceId?: string;
}

let next: Ids | undefined;

/** The span that `start` begins gets these ids. */
export function withIds<T>(ids: Ids | undefined, start: () => T): T {
  next = ids;
  try {
    return start();
  } finally {
    next = undefined;
  }
}

/** Node keeps random bytes for UUIDs ready, which makes them the cheapest. */
export const idGenerator = {
  generateSpanId: () => next?.spanId ?? traceIdOf(randomUUID()).slice(16),
  generateTraceId: () => next?.traceId ?? traceIdOf(randomUUID()),
};
