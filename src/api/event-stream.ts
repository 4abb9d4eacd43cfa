/**
 * Server-sent events for any surface: first bytes at once, a comment whenever 15 seconds pass in silence, and
 * back-pressure by pulling: a slow reader is not read ahead for.
 */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

export interface EventStream {
  headers?: Record<string, string>;
  /** Ready-made SSE text. Has to end when `signal` aborts. */
  texts: AsyncIterable<string>;
  signal: AbortSignal;
  /** Longest silence before a comment, in milliseconds. Proxies cut connections after 30–60 s without a byte. */
  heartbeatMs?: number;
}

export function sendEventStream(reply: FastifyReply, stream: EventStream): FastifyReply {
  const { headers = {}, texts, signal, heartbeatMs = 15_000 } = stream;
  const fixed = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  };
  return reply
    .headers({ ...fixed, ...headers })
    .send(Readable.from(withHeartbeat(texts, signal, heartbeatMs)));
}

export async function* withHeartbeat(
  texts: AsyncIterable<string>,
  signal: AbortSignal,
  heartbeatMs: number,
): AsyncGenerator<string> {
  // Commits status and headers before the turn has anything to say.
  yield ': stream-open\n\n';
  const iterator = texts[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    while (!signal.aborted) {
      const settled = await firstOf(next, heartbeatMs, signal);
      if (settled === 'aborted') return;
      if (settled === 'silence') {
        yield ': keep-alive\n\n';
        continue;
      }
      if (settled.done) return;
      yield settled.value;
      next = iterator.next();
    }
  } finally {
    // Nobody listens any more: whatever the source still says, even that it failed, has no reader.
    next.catch(() => undefined);
    iterator.return?.().catch(() => undefined);
  }
}

async function firstOf<T>(
  next: Promise<T>,
  silenceMs: number,
  signal: AbortSignal,
): Promise<T | 'silence' | 'aborted'> {
  const decided = new AbortController();
  try {
    const timer = delay(silenceMs, 'silence' as const, { signal: AbortSignal.any([signal, decided.signal]) });
    return await Promise.race([next, timer.catch(() => 'aborted' as const)]);
  } finally {
    decided.abort();
  }
}
