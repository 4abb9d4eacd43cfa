/**
 * Follows a conversation's log: read, and when there is nothing left, wait to be woken. A database that is
 * away for a while only delays the follower; the stream to its client stays open.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { LogEntry } from '../turn/event.ts';
import type { ConversationRef } from '../turn/turn.ts';
import type { WakeUps } from './wake-ups.ts';

export interface FollowOptions {
  read: (ref: ConversationRef, after: number, limit: number) => Promise<LogEntry[]>;
  wakeUps: WakeUps;
  logger: Logger;
}

const batchSize = 500;
const firstRetryMs = 100;
const lastRetryMs = 5_000;

export async function* follow(
  ref: ConversationRef,
  after: number,
  signal: AbortSignal,
  { read, wakeUps, logger }: FollowOptions,
): AsyncGenerator<LogEntry[]> {
  if (signal.aborted) return;
  const subscription = wakeUps.subscribe(ref);
  const stopped = () => signal.aborted || wakeUps.closed;
  let cursor = after;
  let retryMs = firstRetryMs;
  try {
    while (!stopped()) {
      subscription.heed();
      try {
        const entries = await unlessAborted(read(ref, cursor, batchSize), signal);
        if (!entries || stopped()) return;
        retryMs = firstRetryMs;
        const last = entries.at(-1);
        if (last) {
          cursor = last.seq;
          yield entries;
        }
        if (entries.length < batchSize) await unlessAborted(subscription.rung(), signal);
      } catch (error) {
        if (stopped()) return;
        logger.warn({ err: error, conversation: ref.conversation }, 'cannot read the turn log; trying again');
        await sleep(retryMs, undefined, { signal }).catch(() => undefined);
        retryMs = Math.min(retryMs * 2, lastRetryMs);
      }
    }
  } finally {
    subscription.close();
  }
}

/** Each wait listens for itself: a promise for the whole stream would remember every wait until its end. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const abort = () => resolve(undefined);
  signal.addEventListener('abort', abort);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
