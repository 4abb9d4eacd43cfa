/** A turn log on a real database that tells what its followers cost: reads of the log, and wake-ups subscribed to. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { KyselyPlugin, RootOperationNode } from 'kysely';
import { pino } from 'pino';
import { lastSeqs } from '../../../src/storage/log/append.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { createFollow, createReadBatch } from '../../../src/storage/log/tail.ts';
import type { BatchBounds, ReadBatch } from '../../../src/storage/log/tail.ts';
import { openPostgres } from '../../../src/storage/postgres/open-postgres.ts';
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { TurnLog } from '../../../src/storage/log/turn-log.ts';
import { createMergeQueue, createTurnLog } from '../../../src/storage/log/turn-log.ts';
import { createTurnEndings } from '../../../src/storage/notifications/turn-endings.ts';
import { createNotifications } from '../../../src/storage/notifications/notifications.ts';
import type { Notifications } from '../../../src/storage/notifications/notifications.ts';
import { postgresUrl } from '../../postgres.ts';

export interface CountedLog extends AsyncDisposable {
  turnLog: TurnLog;
  /** Another process on the same database. */
  other: Storage;
  /** Reads of log entries, by anybody, since the last call. */
  reads(): number;
  subscriptions(): number;
  /** Followers with a tail of their own, and other bounds than usual. */
  follow(keep?: BatchBounds, around?: (read: ReadBatch) => ReadBatch): TurnLog['follow'];
}

export async function openCountedLog(kind: 'sqlite' | 'postgres'): Promise<CountedLog> {
  const stack = new AsyncDisposableStack();
  const logger = pino({ level: 'silent' });
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-tail-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const config =
    kind === 'sqlite'
      ? { kind, path: path.join(folder, 'interlude.db') }
      : { kind, url: await postgresUrl() };
  const other = await openStorage(config);
  stack.defer(() => other.close());
  const backend = config.kind === 'sqlite' ? await openSqlite(config.path) : openPostgres(config.url, logger);
  stack.defer(() => backend.close());
  const notifications = createNotifications({
    pollMs: 2 ** 30,
    channel: backend.channel,
    lastSeqs: (refs) => lastSeqs(backend.query, refs),
    logger,
  });
  stack.defer(() => notifications.close());
  const counted = countSubscriptions(notifications);
  const { plugin, reads } = countReads();
  const query = backend.query.withPlugin(plugin);
  const endings = createTurnEndings(query, { pollMs: 2 ** 30, channel: null, version: undefined, logger });
  const questions = { opened() {}, settled() {} };
  const turnLog = createTurnLog(
    {
      query,
      notifications: counted.notifications,
      endings,
      questions,
      now: Date.now,
      timeIn: () => Promise.resolve(Date.now()),
      answeringForMs: () => Infinity,
      outbox() {},
    },
    createMergeQueue(async () => {}, logger),
    logger,
  );
  return {
    turnLog,
    other,
    reads,
    subscriptions: counted.subscriptions,
    follow: (keep, around = (read) => read) =>
      createFollow({
        readBatch: around(createReadBatch(query)),
        latest: (ref) => turnLog.latest(ref),
        notifications: counted.notifications,
        logger,
        now: Date.now,
        ...(keep && { keep }),
      }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function countReads(): { plugin: KyselyPlugin; reads: () => number } {
  let reads = 0;
  const ofLog = new WeakSet<object>();
  return {
    plugin: {
      transformQuery({ node, queryId }) {
        if (textOf(node).includes('from turn_events')) ofLog.add(queryId);
        return node;
      },
      // Not above: every part of a nested query comes along there.
      async transformResult({ result, queryId }) {
        if (ofLog.has(queryId)) reads += 1;
        return result;
      },
    },
    reads() {
      const before = reads;
      reads = 0;
      return before;
    },
  };
}

/** Of a read that is written as text. */
function textOf(node: RootOperationNode): string {
  const text = node.kind === 'RawNode' ? node.sqlFragments.join('?').trim() : '';
  return text.startsWith('select') ? text : '';
}

function countSubscriptions(notifications: Notifications): {
  notifications: Notifications;
  subscriptions: () => number;
} {
  let open = 0;
  return {
    notifications: {
      announce: (ref) => notifications.announce(ref),
      subscribe(ref) {
        open += 1;
        const subscription = notifications.subscribe(ref);
        return {
          ...subscription,
          close() {
            open -= 1;
            subscription.close();
          },
        };
      },
      close: () => notifications.close(),
      get closed() {
        return notifications.closed;
      },
    },
    subscriptions: () => open,
  };
}
