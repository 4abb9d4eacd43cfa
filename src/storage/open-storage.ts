/**
 * Opens the configured database, brings its schema up to date, and puts the modules of this folder together.
 */
import { existsSync } from 'node:fs';
import { sql } from 'kysely';
import { pino } from 'pino';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { createEndedSessions } from './tables/ended-sessions.ts';
import { createAccountPermits } from './tables/account-permits.ts';
import { createApiKeys } from './tables/api-keys.ts';
import { countReplies, createMcpSessions } from './tables/mcp-sessions.ts';
import { createOutbox } from './tables/outbox.ts';
import { createPushConfigs } from './tables/push-configs.ts';
import { createSlackTables } from './tables/slack.ts';
import { createApprovals } from './tables/approvals.ts';
import { createAudit } from './tables/audit.ts';
import { createConnectAttempts } from './tables/connect-attempts.ts';
import { createConnections } from './tables/connections.ts';
import { createConversations } from './tables/conversations.ts';
import { lastSeqs } from './log/append.ts';
import { createElicitations } from './tables/elicitations.ts';
import { createLocks } from './locks.ts';
import { readFigures } from './tables/figures.ts';
import { createIdempotencyKeys } from './tables/idempotency-keys.ts';
import { createInstallation } from './tables/installation.ts';
import { createKeyProofs } from './tables/key-proofs.ts';
import { openQuestionIds } from './tables/open-questions.ts';
import { createPolls } from './tables/polls.ts';
import { createMergeQueue } from './log/merge-queue.ts';
import { createImages } from './tables/images.ts';
import { createLearnedEras } from './tables/learned-eras.ts';
import { createMessages } from './tables/messages.ts';
import { createOversight } from './tables/oversight.ts';
import { createOAuthRecords } from './tables/oauth-records.ts';
import { isMigrated } from './migrations/migrate.ts';
import { openPostgres } from './postgres/open-postgres.ts';
import { DirectUrlUnusable } from './postgres/pooler.ts';
import { createSealedValues } from './tables/sealed-values.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { createSteps } from './tables/steps.ts';
import type { ElicitationRow, QuestionObserver } from './ports/elicitations.ts';
import type { OutboxObserver } from './ports/outbox.ts';
import type { Storage } from './storage.ts';
import type { Database } from './database.ts';
import { machineClock, startDatabaseClock } from './clock.ts';
import type { DatabaseClock } from './clock.ts';
import type { Backend } from './engine.ts';
import { DatabaseUnavailable } from './transient-errors.ts';
import { createToolCalls } from './tables/tool-calls.ts';
import { createExposedTools } from './tables/exposed-tools.ts';
import { createToolEffects } from './tables/tool-effects.ts';
import { createToolCatalogue } from './tables/tool-catalogue.ts';
import { createTurnLog, mergeTurn } from './log/turn-log.ts';
import { createTurnEndings } from './notifications/turn-endings.ts';
import { createTurnTraces } from './tables/turn-traces.ts';
import { createTurns } from './tables/turns.ts';
import { createVersions } from './tables/versions.ts';
import { createWorkflowCode } from './tables/workflow-code.ts';
import { createNotifications } from './notifications/notifications.ts';
import type { Notifications } from './notifications/notifications.ts';

export interface StorageOptions {
  logger?: Logger;
  /** Overrides the database's own poll interval. */
  pollMs?: number;
  /** Rejects, and makes nothing, where no process of a service has made the database yet. */
  isThere?: boolean;
  questions?: QuestionObserver;
  /** Gets the marks of the outbox that this process is to deliver at once. */
  outbox?: OutboxObserver;
  /** Epoch milliseconds; the database's clock by default. */
  now?: () => number;
  /** The clock of deadlines; `now` where that is given, the database's clock by default. */
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
  const { kind, query, channel } = backend;
  const notifications = createNotifications({
    pollMs: options.pollMs ?? backend.pollMs,
    channel,
    version: backend.version,
    lastSeqs: (refs) => lastSeqs(query, refs),
    openQuestions: (users) => openQuestionIds(query, users),
    replies: (sessions) => countReplies(query, sessions),
    logger,
  });
  const endings = createTurnEndings({
    pollMs: options.pollMs ?? backend.pollMs,
    channel: backend.endingsChannel,
    version: backend.version,
    query,
    logger,
  });
  const parts: Database = {
    kind,
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
  return {
    turnLog: createTurnLog(parts, mergeQueue, logger),
    turns: createTurns(parts),
    turnTraces: createTurnTraces(parts),
    messages: createMessages(parts),
    images: createImages(parts),
    steps: createSteps(parts),
    conversations: createConversations(parts),
    toolCalls: createToolCalls(parts),
    idempotencyKeys: createIdempotencyKeys(parts),
    elicitations: createElicitations(parts, logger),
    polls: createPolls(parts),
    outbox: createOutbox(parts),
    connections: createConnections(parts, createLocks(backend.lock)),
    oauth: createOAuthRecords(parts),
    connectAttempts: createConnectAttempts(parts),
    accountPermits: createAccountPermits(parts),
    approvals: createApprovals(parts),
    endedSessions: createEndedSessions(parts),
    mcpSessions: createMcpSessions(parts),
    learnedEras: createLearnedEras(parts),
    pushConfigs: createPushConfigs(parts),
    slack: createSlackTables(parts),
    toolCatalogue: createToolCatalogue(parts),
    workflowCode: createWorkflowCode(parts),
    versions: createVersions(parts),
    exposedTools: createExposedTools(parts),
    toolEffects: createToolEffects(parts),
    apiKeys: createApiKeys(parts),
    audit: createAudit(parts),
    oversight: createOversight(parts),
    sealed: createSealedValues(parts),
    keyProofs: createKeyProofs(parts),
    now: clock.now,
    clockAheadMs: clock.aheadMs,
    installation: createInstallation(parts),
    figures: () => readFigures(parts),
    async ping() {
      await backend.checkFile?.();
      if (kind === 'sqlite') return void (await sql`select 1`.execute(query));
      const { rows } = await sql<{ isReadOnly: boolean }>`
        select current_setting('transaction_read_only')::boolean as "isReadOnly"`.execute(query);
      if (rows[0]?.isReadOnly === true) throw new DatabaseUnavailable(readOnly);
    },
    async close() {
      clock.close();
      await mergeQueue.settled();
      await Promise.all([notifications.close(), endings.close()]);
      await backend.close();
    },
  };
}

/** As PostgreSQL says it when something is written. */
const readOnly = Object.assign(new Error('the database is read-only'), { code: '25006' });

const noObserver: QuestionObserver = { opened() {}, settled() {} };

/** Whoever follows the questions to a user hears of each, too. */
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
  { now, isThere = false }: Pick<StorageOptions, 'now' | 'isThere'>,
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
    await backend.migrate();
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
  return new DatabaseUnusable(
    `Cannot open the database ${nameOf(database)}: ${reason}. Check DATABASE_URL and that it can be reached.`,
    { cause },
  );
}

class DatabaseUnusable extends Error {
  override name = 'DatabaseUnusable';
}

class NoDatabase extends Error {
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
