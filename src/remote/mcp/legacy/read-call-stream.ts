/** Reads the stream of a call of the old era by its event ids, and opens it again whenever it ends or rests. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from '../exchange.ts';
import type { JoinedSession, StreamEvent } from './joined-session.ts';

/** Some servers replay a stream but do not go on with it: one that rests is opened again, with exponential backoff. */
const firstRestMs = 2_000;
const longestRestMs = 30_000;
/** Go's SDK sends no headers before the first event of the stream, which may be the one that follows our answers. */
const headersMs = 500;
/** A server that restarts, or has not noticed yet that the last reader is gone. */
export const maxFailures = 8;
export const failureBackoffMs = 250;

interface Reading {
  /** What came after this event is wanted. */
  lastEventId(): string;
  onEvent(event: StreamEvent): void;
  /** Called once, when the stream is open or was requested and not refused: whatever follows is replayed. */
  onOpen(): void;
  signal: AbortSignal;
}

/** Reads until `signal` aborts; resolves with the last exchange when the server does not let the stream be read. */
export async function readCallStream(
  session: JoinedSession,
  { lastEventId, onEvent, onOpen, signal }: Reading,
): Promise<Exchange | null> {
  const backOff = () => sleep(failureBackoffMs, undefined, { signal }).catch(() => undefined);
  let failures = 0;
  let restMs = firstRestMs;
  let isFirst = true;
  const open = () => {
    if (isFirst) onOpen();
    isFirst = false;
  };
  while (!signal.aborted) {
    const resting = new AbortController();
    let rest = setTimeout(() => resting.abort(), restMs);
    const read = session.read(AbortSignal.any([signal, resting.signal]), lastEventId());
    const silence = new AbortController();
    void sleep(headersMs, undefined, { signal: silence.signal }).then(open, () => undefined);
    const { exchange, events } = await read;
    silence.abort();
    if (signal.aborted || !events) clearTimeout(rest);
    if (signal.aborted) return null;
    if (resting.signal.aborted) {
      restMs = Math.min(restMs * 2, longestRestMs);
      continue;
    }
    if (!events) {
      if (!isTransient(exchange) || ++failures >= maxFailures) return exchange;
      await backOff();
      continue;
    }
    failures = 0;
    open();
    for await (const event of events) {
      clearTimeout(rest);
      onEvent(event);
      rest = setTimeout(() => resting.abort(), restMs);
    }
    clearTimeout(rest);
    restMs = Math.min(restMs * 2, longestRestMs);
    // A stream that ends at once would otherwise be opened in a tight loop.
    if (!resting.signal.aborted) await backOff();
  }
  return null;
}

function isTransient({ status }: Exchange): boolean {
  return status === undefined || status === 409 || status >= 500;
}
