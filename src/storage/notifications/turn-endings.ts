/**
 * Tells those who work for a turn, in whatever process, that it is ending. Like the wake-ups of the log, a hint is sent
 * and the row is what counts; but on a topic of its own, as a turn ends once and its log grows all the time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Logger } from 'pino';
import { aboutTurn } from '../../telemetry/events.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { chunks } from '../log/append.ts';
import type { Tables } from '../schema.ts';
import { createNotifications } from './notifications.ts';
import type { NotificationOptions, Notifications } from './notifications.ts';

export interface TurnEndings {
  announce(turn: TurnRef): void;
  /** True as soon as the turn is ending or has ended; false when `signal` aborts first. */
  when(turn: TurnRef, signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}

interface Parts extends Pick<NotificationOptions, 'pollMs' | 'channel' | 'version'> {
  query: Kysely<Tables>;
  logger: Logger;
}

/** Most work is done sooner, and needs no look. */
const firstLookMs = 250;
const retryMs = 1_000;
/** What a poll finds. */
const [goesOn, isOver] = [0, 1];

export function createTurnEndings({ query, logger, ...options }: Parts): TurnEndings {
  const notifications: Notifications = createNotifications({
    ...options,
    logger,
    initially: goesOn,
    async lastSeqs(topics) {
      const over = await ending(topics.map(({ conversation }) => conversation));
      return topics.map((topic) => ({ ...topic, last_seq: over.has(topic.conversation) ? isOver : goesOn }));
    },
  });

  async function ending(turnIds: string[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const chunk of chunks(turnIds)) {
      const rows = await query
        .selectFrom('turns')
        .select('turn_id')
        .where('turn_id', 'in', chunk)
        .where((row) =>
          row.or([row('ending_at', 'is not', null), row('status', 'not in', ['starting', 'running'])]),
        )
        .execute();
      for (const { turn_id: turnId } of rows) found.add(turnId);
    }
    return found;
  }

  return {
    announce: (turn) => notifications.announce(topicOf(turn)),
    async when(turn, signal) {
      const subscription = notifications.subscribe(topicOf(turn));
      try {
        await within(firstLookMs, subscription.notified(), signal);
        while (!signal.aborted && !notifications.closed) {
          subscription.reset();
          const over = await ending([turn.turnId]).catch((error: unknown) => {
            logger.warn({ err: error, ...aboutTurn(turn) }, 'cannot see whether a turn ends; trying again');
            return null;
          });
          if (over?.has(turn.turnId)) return true;
          await within(over === null ? retryMs : null, subscription.notified(), signal);
        }
        return false;
      } finally {
        subscription.close();
      }
    },
    close: () => notifications.close(),
  };
}

function topicOf({ tenant, turnId }: TurnRef): { tenant: string; conversation: string } {
  return { tenant, conversation: turnId };
}

/** Resolves when `notified` does, after `ms` if there is a limit, or when `signal` aborts. */
async function within(ms: number | null, notified: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const waits = [notified, aborted(AbortSignal.any([signal, over.signal]))];
  if (ms !== null)
    waits.push(sleep(ms, undefined, { signal: over.signal, ref: false }).catch(() => undefined));
  await Promise.race(waits);
  over.abort();
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
