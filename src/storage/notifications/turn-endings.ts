/**
 * Notifies the processes that work for a turn that it is ending. As with the log, the row counts and notifications are hints;
 * they have topics of their own, because a turn ends once and its log grows all the time.
 */
import type { Kysely } from 'kysely';
import { aboutTurn } from '../../platform/telemetry/events.ts';
import type { TurnRef } from '../../turn/turn.ts';
import type { Tables } from '../schema.ts';
import { createNotifications, unlessAborted } from './notifications.ts';
import type { NotificationOptions, Notifications } from './notifications.ts';
import { isOneOf } from '../database.ts';
import type { TurnEndings } from '../database.ts';

/** Most work is done sooner, without a query. */
const firstLookMs = 250;
const retryMs = 1_000;
/** States for polls. */
const [goesOn, isOver] = [0, 1];

export function createTurnEndings(
  query: Kysely<Tables>,
  options: Pick<NotificationOptions, 'pollMs' | 'channel' | 'version' | 'logger'>,
): TurnEndings {
  const notifications: Notifications = createNotifications({
    ...options,
    initially: goesOn,
    async lastSeqs(topics) {
      const over = await ending(topics.map(({ conversation }) => conversation));
      return topics.map((topic) => ({ ...topic, last_seq: over.has(topic.conversation) ? isOver : goesOn }));
    },
  });

  async function ending(turnIds: string[]): Promise<Set<string>> {
    const rows = await query
      .selectFrom('turns')
      .select('turn_id')
      .where(isOneOf(query, 'turn_id', turnIds))
      .where((row) =>
        row.or([row('ending_at', 'is not', null), row('status', 'not in', ['starting', 'running'])]),
      )
      .execute();
    return new Set(rows.map((row) => row.turn_id));
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
            options.logger.warn(
              { err: error, ...aboutTurn(turn) },
              'cannot see whether a turn ends; trying again',
            );
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

/** Resolves when `notified` does, after `ms` if that is not null, or when `signal` aborts. */
async function within(ms: number | null, notified: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  const timer = ms === null ? undefined : setTimeout(() => over.abort(), ms).unref();
  await unlessAborted(notified, AbortSignal.any([signal, over.signal]));
  clearTimeout(timer);
}
