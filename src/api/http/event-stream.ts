/**
 * Server-sent events: first bytes at once, a comment after 15 seconds of silence, and back-pressure: events are pulled only as
 * fast as the client reads, and a client that reads nothing is disconnected. No stream outlives the token that opened it.
 */
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { expired, untilExpired } from './readers.ts';

export interface EventStream {
  headers?: Record<string, string>;
  /** Ready-made SSE text. Has to end when `signal` aborts. */
  texts: AsyncIterable<string>;
  signal: AbortSignal;
  /**
   * Ends a stream whose token has expired. Without it the connection is cut, because some clients take a stream that just
   * ends for a complete answer.
   */
  lastText?: string;
  /** Longest silence before a comment, in milliseconds. Proxies cut connections after 30–60 s without a byte. */
  heartbeatMs?: number;
  /**
   * How long a client may read nothing although data waits, in milliseconds; noticing it may take twice as long. Its connection
   * is reset, and it resumes the stream when it reconnects.
   */
  stallTimeoutMs?: number;
}

/**
 * A value as the data of one event. Some clients (Python's httpx) end lines at U+2028, U+2029 and U+0085 as well, so these are
 * escaped; JSON escapes the others.
 */
export function toData(value: unknown): string {
  const json = JSON.stringify(value).replaceAll(
    /[\u0085\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `data: ${json}\n\n`;
}

export function sendEventStream(reply: FastifyReply, stream: EventStream): FastifyReply {
  const { headers = {}, texts, heartbeatMs = 15_000, stallTimeoutMs = 60_000, lastText } = stream;
  const signal = untilExpired(reply, stream.signal);
  const fixed = {
    'content-type': 'text/event-stream',
    'x-accel-buffering': 'no',
  };
  closeWhenStalled(reply.raw, stallTimeoutMs);
  return reply.headers({ ...fixed, ...headers }).send(Readable.from(untilEnd()));

  async function* untilEnd(): AsyncGenerator<string> {
    yield* withHeartbeat(texts, signal, heartbeatMs);
    if (signal.reason !== expired) return;
    if (lastText === undefined) reply.raw.destroy();
    else yield lastText;
  }
}

/** The socket's timeout restarts when the client reads, not only when we write. */
function closeWhenStalled(response: ServerResponse, stallTimeoutMs: number): void {
  const { socket } = response;
  // A request that a test injects has no real socket.
  if (!(socket instanceof Socket)) return;
  response.setTimeout(stallTimeoutMs, () => {
    // A reset also frees what the kernel has buffered for this client.
    if (socket.writableLength > 0) socket.resetAndDestroy();
  });
}

export async function* withHeartbeat(
  texts: AsyncIterable<string>,
  signal: AbortSignal,
  heartbeatMs: number,
): AsyncGenerator<string> {
  // Sends status and headers before the first event.
  yield ': stream-open\n\n';
  const iterator = texts[Symbol.asyncIterator]();
  let answer: Answer = { kind: 'pending' };
  let wake = () => {};
  // One timer and one listener for the whole stream.
  const clock = setTimeout(() => wake(), heartbeatMs);
  const aborted = () => wake();
  signal.addEventListener('abort', aborted);

  const ask = () => {
    answer = { kind: 'pending' };
    const settle = (settled: Answer) => {
      answer = settled;
      wake();
    };
    iterator.next().then(
      (result) => settle({ kind: 'given', result }),
      (error: unknown) => settle({ kind: 'failed', error }),
    );
  };
  /** Still `pending` after a silence or an abort. */
  const answerOrSilence = () =>
    new Promise<Answer>((resolve) => {
      wake = () => resolve(answer);
      if (answer.kind === 'pending' && !signal.aborted) clock.refresh();
      else wake();
    });

  ask();
  try {
    for (;;) {
      const now = await answerOrSilence();
      if (signal.aborted) return;
      switch (now.kind) {
        case 'pending':
          yield ': keep-alive\n\n';
          break;
        case 'failed':
          throw now.error;
        case 'given':
          if (now.result.done) return;
          yield now.result.value;
          ask();
          break;
        default:
          now satisfies never;
      }
    }
  } finally {
    clearTimeout(clock);
    signal.removeEventListener('abort', aborted);
    iterator.return?.().catch(() => undefined);
  }
}

type Answer =
  | { kind: 'pending' }
  | { kind: 'given'; result: IteratorResult<string> }
  | { kind: 'failed'; error: unknown };
