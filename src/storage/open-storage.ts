/** Opens the configured database, brings its schema up to date, and assembles the storage. */
import { existsSync } from 'node:fs';
import { sql } from 'kysely';
import { pino } from 'pino';
import type { Logger } from 'pino';
import type { Config } from '../platform/config/config.ts';
import { readDatabaseState } from './database-state.ts';
import { countReplies } from './tables/sessions.ts';
import { lastSeqs } from './log/append.ts';
import { openQuestionIds } from './tables/open-questions.ts';
import { createMergeQueue, mergeTurn } from './log/turn-log.ts';
import { DatabaseTooOld, isMigrated, readMigrationState } from './migrations/migrate.ts';
import { openPostgres, DirectUrlUnusable } from './postgres/open-postgres.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import type { ElicitationRow } from './schema/question-tables.ts';
import { isPostgres } from './database.ts';
import type { QuestionObserver, OutboxObserver, Database, Backend } from './database.ts';
import { storageParts } from './storage.ts';
import type { Storage } from './storage.ts';
import { machineClock, startDatabaseClock } from './clock.ts';
import type { DatabaseClock } from './clock.ts';
import { DatabaseUnavailable } from './transient-errors.ts';
import { createTurnEndings } from './notifications/turn-endings.ts';
import { createNotifications } from './notifications/notifications.ts';
import type { Notifications } from './notifications/notifications.ts';

export interface StorageOptions {
  logger?: Logger;
  /** Overrides the database's own poll interval. */
  pollMs?: number;
  /** Rejects, and creates nothing, if no process of a service has created the database yet. */
  isThere?: boolean;
  /** Leaves the schema as it is, even if it is another release's. */
  isInspected?: boolean;
  questions?: QuestionObserver;
  /** Gets the marks that this process has to deliver at once. */
  outbox?: OutboxObserver;
  /** Epoch milliseconds; the database's clock by default. */
  now?: () => number;
  /** The clock of deadlines; by default `now` if given, otherwise the database's clock. */
  time?: () => Promise<number>;
}

export async function openStorage(
  database: Config['database'],
  options: StorageOptions = {},
): Promise<Storage> {
  const { logger = pino({ level: 'silent' }), questions = noObserver, outbox = () => undefined } = options;
  const { backend, clock } = await openBackend(database, options, logger).catch((error: unknown) => {
    throw cannotOpen(database, error);
  });
  const { query, channel } = backend;
  const notifications = createNotifications({
    pollMs: options.pollMs ?? backend.pollMs,
    channel,
    version: backend.version,
    lastSeqs: (refs) => lastSeqs(query, refs),
    openQuestions: (users) => openQuestionIds(query, users),
    replies: (sessions) => countReplies(query, sessions),
    logger,
  });
  const endings = createTurnEndings(query, {
    pollMs: options.pollMs ?? backend.pollMs,
    channel: backend.endingsChannel,
    version: backend.version,
    logger,
  });
  const parts: Database = {
    query,
    notifications,
    endings,
    questions: notifying(notifications, questions),
    now: clock.now,
    timeIn: timeOf(backend, options),
    outbox,
    answeringForMs: backend.answeringForMs ?? (() => Infinity),
  };
  const mergeQueue = createMergeQueue((turn) => mergeTurn(parts, turn), logger);
  const tables = storageParts(parts, backend.lock, mergeQueue, logger);
  return {
    ...tables,
    now: clock.now,
    clockAheadMs: clock.aheadMs,
    async ping() {
      await backend.checkFile?.();
      if (!isPostgres(query)) return void (await sql`select 1`.execute(query));
      const { rows } = await sql<{ isReadOnly: boolean }>`
        select current_setting('transaction_read_only')::boolean as "isReadOnly"`.execute(query);
      if (rows[0]?.isReadOnly === true) throw new DatabaseUnavailable(readOnly);
    },
    state: async () => ({
      ...(await readDatabaseState(query)),
      migrations: await readMigrationState(query),
      isPooled: backend.isPooled?.() ?? false,
    }),
    async close() {
      clock.close();
      await Promise.all([mergeQueue.settled(), tables.counts.close()]);
      await Promise.all([notifications.close(), endings.close()]);
      await backend.close();
    },
  };
}

/** PostgreSQL's error for writes. */
const readOnly = Object.assign(new Error('the database is read-only'), { code: '25006' });

const noObserver: QuestionObserver = { opened() {}, settled() {} };

/** Also notifies those who follow the questions to the user. */
function notifying(notifications: Notifications, observer: QuestionObserver): QuestionObserver {
  const notify = ({ tenant, user }: ElicitationRow) => notifications.announce({ tenant, askedUser: user });
  return {
    opened(question) {
      notify(question);
      observer.opened(question);
    },
    settled(question) {
      notify(question);
      observer.settled(question);
    },
  };
}

function timeOf(
  { readClock }: Backend,
  { now, time }: Pick<StorageOptions, 'now' | 'time'>,
): Database['timeIn'] {
  if (time) return () => time();
  if (now || !readClock) return () => Promise.resolve((now ?? Date.now)());
  return async (query) => Math.floor(await readClock(query));
}

async function openBackend(
  database: Config['database'],
  { now, isThere = false, isInspected = false }: Pick<StorageOptions, 'now' | 'isThere' | 'isInspected'>,
  logger: Logger,
): Promise<{ backend: Backend; clock: DatabaseClock }> {
  if (isThere && database.kind === 'sqlite' && !existsSync(database.path)) throw new NoDatabase(database);
  const backend =
    database.kind === 'sqlite'
      ? await openSqlite(database.path)
      : openPostgres(database.currentUrl ?? database.url, logger, { directUrl: database.directUrl });
  try {
    await backend.checkConnections?.();
    if (isThere && !(await isMigrated(backend.query))) throw new NoDatabase(database);
    if (!isInspected) await backend.migrate();
    const { readClock } = backend;
    const clock =
      now || !readClock ? machineClock(now ?? Date.now) : await startDatabaseClock(readClock, logger);
    return { backend, clock };
  } catch (error) {
    await backend.close().catch(() => undefined);
    throw error;
  }
}

function cannotOpen(database: Config['database'], cause: unknown): Error {
  if (cause instanceof NoDatabase) return cause;
  // Node reports a refused connection to a name with two addresses as an error without a message.
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  const reason = first instanceof Error ? first.message : String(first);
  if (database.kind === 'postgres' && cause instanceof DirectUrlUnusable) {
    const { directUrl = '' } = database;
    const given = withoutCredentials(typeof directUrl === 'string' ? directUrl : directUrl());
    return new DatabaseUnusable(`DATABASE_DIRECT_URL (${given}): ${cause.message}`, { cause });
  }
  const advice = cause instanceof DatabaseTooOld ? '' : ' Check DATABASE_URL and that it can be reached.';
  return new DatabaseUnusable(`Cannot open the database ${nameOf(database)}: ${reason}.${advice}`, { cause });
}

class DatabaseUnusable extends Error {
  override name = 'DatabaseUnusable';
}

export class NoDatabase extends Error {
  override name = 'NoDatabase';

  constructor(database: Config['database']) {
    super(`There is no database at ${nameOf(database)}; run this with the environment of the service.`);
  }
}

function nameOf(database: Config['database']): string {
  return database.kind === 'sqlite' ? database.path : withoutCredentials(database.url);
}

function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return 'PostgreSQL';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
