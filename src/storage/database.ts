/**
 * Opens the configured database, brings its schema up to date, and puts the modules of this folder together.
 */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { pino } from 'pino';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { createAccountPermits } from './account-permits.ts';
import { createApiKeys } from './api-keys.ts';
import { createAudit } from './audit.ts';
import { createConnectAttempts } from './connect-attempts.ts';
import { createConnections } from './connections.ts';
import { createConversations } from './conversations.ts';
import { lastSeqs } from './conversation-write.ts';
import { createElicitations } from './elicitations.ts';
import { createLocks } from './locks.ts';
import type { SharedLock } from './locks.ts';
import { createIdempotencyKeys } from './idempotency-keys.ts';
import { createKeyProofs } from './key-proofs.ts';
import { createLooks } from './looks.ts';
import { createMergeQueue } from './merge-queue.ts';
import { createMessages } from './messages.ts';
import { createOAuthRecords } from './oauth-records.ts';
import { openPostgres } from './postgres.ts';
import { createSealedValues } from './sealed-values.ts';
import { openSqlite } from './sqlite.ts';
import { createSteps } from './steps.ts';
import type { Storage } from './storage.ts';
import type { Database, Tables } from './tables.ts';
import { createToolCalls } from './tool-calls.ts';
import { createToolCatalogue } from './tool-catalogue.ts';
import { createTurnLog, mergeTurn } from './turn-log.ts';
import { createTurnEndings } from './turn-endings.ts';
import { createTurns } from './turns.ts';
import { createWakeUps } from './wake-ups.ts';
import type { Carrier } from './wake-ups.ts';

/** What differs between the two databases. */
export interface Backend {
  kind: Database['kind'];
  query: Kysely<Tables>;
  /** Brings the schema up to date. */
  migrate(): Promise<void>;
  /** For the log, and for the ends of turns. */
  carrier: Carrier | null;
  endingsCarrier: Carrier | null;
  lock: SharedLock;
  /** How often followers look for what no hint told them. */
  pollMs: number;
  /** Changes whenever somebody else has written, and then only. */
  version?(): Promise<number>;
  /** Rejects when what is written now would be lost although every statement succeeds. */
  checkFile?(): Promise<void>;
  close(): Promise<void>;
}

export interface StorageOptions {
  logger?: Logger;
  /** Overrides the database's own poll interval. */
  pollMs?: number;
  /** Epoch milliseconds. */
  now?: () => number;
}

export async function openStorage(
  database: Config['database'],
  options: StorageOptions = {},
): Promise<Storage> {
  const { logger = pino({ level: 'silent' }), now = Date.now } = options;
  const backend = await openBackend(database, logger).catch((error: unknown) => {
    throw cannotOpen(database, error);
  });
  const { kind, query, carrier } = backend;
  const wakeUps = createWakeUps({
    pollMs: options.pollMs ?? backend.pollMs,
    carrier,
    version: backend.version,
    lastSeqs: (refs) => lastSeqs(query, refs),
    logger,
  });
  const endings = createTurnEndings({
    pollMs: options.pollMs ?? backend.pollMs,
    carrier: backend.endingsCarrier,
    version: backend.version,
    query,
    logger,
  });
  const parts: Database = { kind, query, wakeUps, endings, now };
  const mergeQueue = createMergeQueue((turn) => mergeTurn(parts, turn), logger);
  return {
    turnLog: createTurnLog(parts, mergeQueue, logger),
    turns: createTurns(parts),
    messages: createMessages(parts),
    steps: createSteps(parts),
    conversations: createConversations(parts),
    toolCalls: createToolCalls(parts),
    idempotencyKeys: createIdempotencyKeys(parts),
    elicitations: createElicitations(parts),
    looks: createLooks(parts),
    connections: createConnections(parts, createLocks(backend.lock)),
    oauth: createOAuthRecords(parts),
    connectAttempts: createConnectAttempts(parts),
    accountPermits: createAccountPermits(parts),
    toolCatalogue: createToolCatalogue(parts),
    apiKeys: createApiKeys(parts),
    audit: createAudit(parts),
    sealed: createSealedValues(parts),
    keyProofs: createKeyProofs(parts),
    async ping() {
      await backend.checkFile?.();
      await sql`select 1`.execute(query);
    },
    async close() {
      await mergeQueue.settled();
      await Promise.all([wakeUps.close(), endings.close()]);
      await backend.close();
    },
  };
}

async function openBackend(database: Config['database'], logger: Logger): Promise<Backend> {
  const backend =
    database.kind === 'sqlite' ? await openSqlite(database.path) : openPostgres(database.url, logger);
  try {
    await backend.migrate();
    return backend;
  } catch (error) {
    await backend.close().catch(() => undefined);
    throw error;
  }
}

function cannotOpen(database: Config['database'], cause: unknown): Error {
  // Node reports a refused connection to a name with two addresses as an error without a message.
  const first: unknown = cause instanceof AggregateError ? cause.errors[0] : cause;
  const reason = first instanceof Error ? first.message : String(first);
  const name = database.kind === 'sqlite' ? database.path : withoutCredentials(database.url);
  return new DatabaseUnusable(
    `Cannot open the database ${name}: ${reason}. Check DATABASE_URL and that it can be reached.`,
    { cause },
  );
}

class DatabaseUnusable extends Error {
  override name = 'DatabaseUnusable';
}

function withoutCredentials(url: string): string {
  if (!URL.canParse(url)) return 'PostgreSQL';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
