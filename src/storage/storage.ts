/**
 * Everything that Interlude keeps in its own database, as the rest of the program sees it.
 *
 * Contract for every function: idempotent where it takes a key, one transaction each, times are epoch
 * milliseconds, and "compare-and-set" functions return whether they changed anything. How a question ends is decided
 * here, in the transaction that has locked its row. A write to a turn that has ended, or by an attempt that a newer one
 * has replaced, is refused: `WriteRefused`.
 */
import type { Logger } from 'pino';
import { createSharedCounts } from './counts.ts';
import type { Database } from './database.ts';
import type { DatabaseState } from './database-state.ts';
import { createLocks } from './locks.ts';
import type { SharedLock } from './locks.ts';
import type { MigrationState } from './migrations/migrate.ts';
import { createTurnLog } from './log/turn-log.ts';
import { createApiKeys } from './tables/api-keys.ts';
import { createApprovals } from './tables/approvals.ts';
import { createAuditChain } from './tables/audit-chain.ts';
import { createAudit } from './tables/audit.ts';
import { createAccountPermits, createConnectAttempts, createOAuthRecords } from './tables/connecting.ts';
import { createConnections } from './tables/connections.ts';
import { createConversations, createMessages } from './tables/conversations.ts';
import { createElicitations } from './tables/elicitations.ts';
import { createErasure } from './tables/erasure.ts';
import { createExports } from './tables/exports.ts';
import { createIdempotencyKeys } from './tables/idempotency-keys.ts';
import { createImages } from './tables/images.ts';
import { createInstallation } from './tables/installation.ts';
import { createOutbox } from './tables/outbox.ts';
import { createOversight, readFigures } from './tables/oversight.ts';
import { createPolls } from './tables/polls.ts';
import { createPushConfigs } from './tables/push-configs.ts';
import { createRetention } from './tables/retention.ts';
import { createKeyProofs, createSealedValues } from './tables/sealed-values.ts';
import { createEndedSessions, createMcpSessions } from './tables/sessions.ts';
import { createSlackTables } from './tables/slack.ts';
import { createSteps } from './tables/steps.ts';
import { createToolCalls } from './tables/tool-calls.ts';
import { createExposedTools, createLearnedEras, createToolCatalogue } from './tables/tool-catalogue.ts';
import { createToolEffects } from './tables/tool-effects.ts';
import { createTurnTraces } from './tables/turn-traces.ts';
import { createTurns } from './tables/turns.ts';
import { createVersions, createWorkflowCode } from './tables/versions.ts';
import type { MergeQueue } from './log/turn-log.ts';

type Parts = ReturnType<typeof storageParts>;

export interface Storage extends Parts {
  /** The database's clock, in epoch milliseconds. Compare stored times with it: the clocks of processes differ. */
  now(): number;
  /** How far this process's clock is ahead of the database's; null where both are the same. */
  clockAheadMs(): number | null;
  /** Resolves when the database answers; rejects with the driver's error. */
  ping(): Promise<void>;
  /** For operators, before a deploy. `isPooled`: a pooler answers, and there is no direct address. */
  state(): Promise<DatabaseState & { migrations: MigrationState; isPooled: boolean }>;
  close(): Promise<void>;
}

export function storageParts(database: Database, lock: SharedLock, mergeQueue: MergeQueue, logger: Logger) {
  return {
    turnLog: createTurnLog(database, mergeQueue, logger),
    turns: createTurns(database),
    turnTraces: createTurnTraces(database),
    messages: createMessages(database),
    images: createImages(database),
    steps: createSteps(database),
    conversations: createConversations(database),
    toolCalls: createToolCalls(database),
    idempotencyKeys: createIdempotencyKeys(database),
    elicitations: createElicitations(database, logger),
    polls: createPolls(database),
    outbox: createOutbox(database),
    connections: createConnections(database, createLocks(lock)),
    oauth: createOAuthRecords(database),
    connectAttempts: createConnectAttempts(database),
    accountPermits: createAccountPermits(database),
    approvals: createApprovals(database),
    endedSessions: createEndedSessions(database),
    mcpSessions: createMcpSessions(database),
    learnedEras: createLearnedEras(database),
    pushConfigs: createPushConfigs(database),
    slack: createSlackTables(database),
    toolCatalogue: createToolCatalogue(database),
    workflowCode: createWorkflowCode(database),
    versions: createVersions(database),
    exposedTools: createExposedTools(database),
    toolEffects: createToolEffects(database),
    apiKeys: createApiKeys(database),
    audit: createAudit(database),
    auditChain: createAuditChain(database),
    oversight: createOversight(database),
    retention: createRetention(database),
    erasure: createErasure(database),
    exports: createExports(database),
    sealed: createSealedValues(database),
    keyProofs: createKeyProofs(database),
    installation: createInstallation(database),
    counts: createSharedCounts(database, logger),
    figures: () => readFigures(database),
  };
}
