/**
 * Ids of spans, derived from the turn, the phase or the question: several processes name the same span, and a span that is
 * written twice keeps its id.
 */
import { createHash, randomBytes } from 'node:crypto';

export function spanIdOf(kind: 'turn' | 'phase' | 'asked' | 'wait' | 'tool', ...of: string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, ...of]))
    .digest('hex')
    .slice(0, 16);
}

/** A turn's id is random, and as long as that of a trace. */
export function traceIdOf(turnId: string): string {
  const hex = turnId.replaceAll('-', '').toLowerCase();
  return /^[0-9a-f]{32}$/.test(hex) ? hex : createHash('sha256').update(turnId).digest('hex').slice(0, 32);
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

export const idGenerator = {
  generateSpanId: () => next?.spanId ?? randomBytes(8).toString('hex'),
  generateTraceId: () => next?.traceId ?? randomBytes(16).toString('hex'),
};
