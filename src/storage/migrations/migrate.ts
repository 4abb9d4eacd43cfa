/**
 * The schema's migrations, forward only, one file each. A released migration is never edited or renamed: databases remember
 * it by name.
 *
 * Any number of processes may start at once: one migrates, the others wait. Everything happens in one transaction, which
 * takes an advisory lock first on PostgreSQL, and is immediate on SQLite.
 */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Migration } from 'kysely/migration';
import { createConversations } from './001-conversations.ts';
import { createElicitations } from './002-elicitations.ts';
import { createConnections } from './003-connections.ts';
import { createCatalogueKeysAudit } from './004-catalogue-keys-audit.ts';
import { indexTurnReferences } from './005-turn-references.ts';
import { addTimes } from './006-times.ts';
import { createIdempotencyKeys } from './007-idempotency-keys.ts';
import { addDelegations } from './008-delegated-messages.ts';
import { addRounds } from './009-tool-call-rounds.ts';
import { addUsersToCatalogue } from './010-tools-of-users.ts';
import { addConnectAttempts } from './011-connect-attempts.ts';
import { addDueTurns } from './012-due-turns.ts';
import { addEndingTurns } from './013-ending-turns.ts';
import { addAttempts } from './014-attempts.ts';
import { addLooks } from './015-looks.ts';
import { createKeyProofs } from './016-key-proofs.ts';
import { addSharedAccounts } from './017-shared-accounts.ts';
import { addApiKeyUse } from './018-api-key-use.ts';
import { addToolBundles } from './019-tool-bundles.ts';
import { addToolEffects } from './020-tool-effects.ts';
import { createApprovals } from './022-approvals.ts';
import { addKeyRights } from './023-keys-that-act-for-users.ts';
import { createMcpSessions } from './024-mcp-sessions.ts';
import { createExposedTools } from './027-exposed-tools.ts';
import { indexTurnsOfOwners } from './029-turns-of-owners.ts';
import { createPushConfigs } from './030-push-configs.ts';
import { addCallTimes } from './033-mcp-calls-of-age.ts';
import { createSlack } from './034-slack.ts';
import { createSlackDeliveries } from './035-slack-deliveries.ts';
import { createExposedToolsOfAgents } from './036-exposed-tools-of-agents.ts';
import { orderSlackDeliveries } from './037-slack-order.ts';
import { addSurfacesOfAnswers } from './038-surfaces-of-answers.ts';
import { createImages } from './039-images.ts';
import { addWorkflowCode } from './040-workflow-code.ts';
import { createInstallation } from './041-installation.ts';
import { indexTurnDeadlines } from './042-turn-deadlines.ts';
import { addHolds } from './043-held-calls.ts';
import { addArbiter } from './044-one-arbiter.ts';
import { addCodeOfCalls } from './045-plain-tools.ts';
import { addTraces } from './046-traces.ts';
import { indexForOperators } from './047-operators.ts';
import { addLearnedErasAndCallKeys } from './048-eras-and-call-keys.ts';
import { addLeftOut } from './049-left-out.ts';
import { addServicesAndSessions } from './050-services-and-sessions.ts';
import { addFailuresOfCalls } from './051-failed-requests.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

export async function migrate({ kind, query }: Pick<Database, 'kind' | 'query'>): Promise<void> {
  const run = async (db: Kysely<Tables>) => {
    const provider = {
      getMigrations: async () => ({ ...(await migrationsOfLaterReleases(db)), ...migrations }),
    };
    const { error } = await new Migrator({ db, provider }).migrateToLatest();
    if (error) throw error instanceof Error ? error : new Error('the migration failed', { cause: error });
  };
  await query.transaction().execute(async (db) => {
    if (kind === 'postgres') await sql.raw(takeLock).execute(db);
    await run(db);
  });
}

/** Whether any release has created its tables there. */
export async function isMigrated(db: Kysely<Tables>): Promise<boolean> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  return tables.some(({ name }) => name === 'kysely_migration');
}

/**
 * For a rollback: the migrator refuses a database with unknown migrations, so those of later releases are added as no-ops. A
 * migration works with the release before it.
 */
async function migrationsOfLaterReleases(db: Kysely<Tables>): Promise<Record<string, Migration>> {
  if (!(await isMigrated(db))) return {};
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return Object.fromEntries(rows.map(({ name }) => [name, { up: () => Promise.resolve() }]));
}

/** The key of Kysely's own lock, which is a session lock; this one ends with the transaction. */
const takeLock = `
  set local lock_timeout = 0;
  select pg_advisory_xact_lock(3853314791062309107);
  set local lock_timeout to default`;

const migrations: Record<string, Migration> = {
  '001-conversations': { up: createConversations },
  '002-elicitations': { up: createElicitations },
  '003-connections': { up: createConnections },
  '004-catalogue-keys-audit': { up: createCatalogueKeysAudit },
  '005-turn-references': { up: indexTurnReferences },
  '006-times': { up: addTimes },
  '007-idempotency-keys': { up: createIdempotencyKeys },
  '008-delegated-messages': { up: addDelegations },
  '009-tool-call-rounds': { up: addRounds },
  '010-tools-of-users': { up: addUsersToCatalogue },
  '011-connect-attempts': { up: addConnectAttempts },
  '012-due-turns': { up: addDueTurns },
  '013-ending-turns': { up: addEndingTurns },
  '014-attempts': { up: addAttempts },
  '015-looks': { up: addLooks },
  '016-key-proofs': { up: createKeyProofs },
  '017-shared-accounts': { up: addSharedAccounts },
  '018-api-key-use': { up: addApiKeyUse },
  '019-tool-bundles': { up: addToolBundles },
  '020-tool-effects': { up: addToolEffects },
  '022-approvals': { up: createApprovals },
  '023-keys-that-act-for-users': { up: addKeyRights },
  '024-mcp-sessions': { up: createMcpSessions },
  '027-exposed-tools': { up: createExposedTools },
  '029-turns-of-owners': { up: indexTurnsOfOwners },
  '030-push-configs': { up: createPushConfigs },
  '033-mcp-calls-of-age': { up: addCallTimes },
  '034-slack': { up: createSlack },
  '035-slack-deliveries': { up: createSlackDeliveries },
  '036-exposed-tools-of-agents': { up: createExposedToolsOfAgents },
  '037-slack-order': { up: orderSlackDeliveries },
  '038-surfaces-of-answers': { up: addSurfacesOfAnswers },
  '039-images': { up: createImages },
  '040-workflow-code': { up: addWorkflowCode },
  '041-installation': { up: createInstallation },
  '042-turn-deadlines': { up: indexTurnDeadlines },
  '043-held-calls': { up: addHolds },
  '044-one-arbiter': { up: addArbiter },
  '045-plain-tools': { up: addCodeOfCalls },
  '046-traces': { up: addTraces },
  '047-operators': { up: indexForOperators },
  '048-eras-and-call-keys': { up: addLearnedErasAndCallKeys },
  '049-left-out': { up: addLeftOut },
  '050-services-and-sessions': { up: addServicesAndSessions },
  '051-failed-requests': { up: addFailuresOfCalls },
};
