/**
 * Notifications between processes by LISTEN/NOTIFY. One connection per process listens, from the first follower on, and is
 * replaced when it breaks. Notifications are sent after the writing transaction, several in one statement under load: inside
 * the transaction they would serialise the commits of all writers.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Channel } from '../notifications/notifications.ts';

const reconnectMs = 500;

interface PostgresCarrierOptions {
  /** Notifications on other channels are not heard. */
  channel: string;
  pool: pg.Pool;
  /** A new, unconnected client; null if no notification would arrive. */
  connect: () => pg.Client | null;
  logger: Logger;
}

export function createPostgresCarrier({ channel, pool, connect, logger }: PostgresCarrierOptions): Channel {
  const self = randomUUID();
  const closing = new AbortController();
  const closed = new Promise<void>((resolve) =>
    closing.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  const waiting = new Set<string>();
  let sending: Promise<void> | undefined;
  let listening: Promise<void> | undefined;

  const sendAll = async () => {
    while (waiting.size > 0) {
      const payloads = [...waiting].map((topic) => `${self} ${topic}`);
      waiting.clear();
      try {
        await pool.query('select pg_notify($1, payload) from unnest($2::text[]) as payload', [
          channel,
          payloads,
        ]);
      } catch (error) {
        logger.warn(
          { err: error },
          'cannot notify other processes of new turn events; they will notice by polling',
        );
      }
    }
  };

  const keepListening = async (heard: (topic: string | null) => void) => {
    while (!closing.signal.aborted) {
      const client = connect();
      if (!client) return;
      const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
      client.on('error', (error) =>
        logger.warn({ err: error }, 'lost the connection that listens for turn events'),
      );
      client.on('notification', ({ payload = '' }) => {
        const [sender, topic] = payload.split(' ');
        if (topic !== undefined && sender !== self) heard(topic);
      });
      try {
        await client.connect();
        await client.query(`listen ${channel}`);
        heard(null);
        await Promise.race([ended, closed]);
      } catch (error) {
        if (!closing.signal.aborted)
          logger.warn({ err: error }, 'cannot listen for turn events; polling until it works again');
      }
      // Only here: a client that is ended while it connects never emits `end`.
      await client.end().catch(() => undefined);
      if (closing.signal.aborted) return;
      await sleep(reconnectMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };

  return {
    send(topic) {
      waiting.add(topic);
      sending ??= sendAll().finally(() => (sending = undefined));
    },
    listen(heard) {
      listening ??= keepListening(heard);
    },
    async close() {
      closing.abort();
      await Promise.all([sending, listening]);
    },
  };
}
