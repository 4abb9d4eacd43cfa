/**
 * The schema's migrations, forward only. A released migration is never edited or renamed: databases remember it by name.
 *
 * Any number of processes may start at once: one migrates, the others wait. Everything happens in one transaction, which
 * takes an advisory lock first on PostgreSQL, and is immediate on SQLite.
 */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Migration } from 'kysely/migration';
import { isPostgres } from '../database.ts';
import type { Tables } from '../schema.ts';
import { accountsAndSurfaces } from './051-accounts-and-surfaces.ts';
import { turnsAndQuestions } from './051-turns-and-questions.ts';
import { retention } from './052-retention.ts';
import { limits } from './053-limits.ts';
import { auditChain } from './054-audit-chain.ts';
import { answeredQuestions } from './055-answered-questions.ts';
import { indexes } from './056-indexes.ts';
import { versionsOfProcesses } from './057-versions-of-processes.ts';

/** Named like the last of the 51 migrations that it replaces: a database that has all of those is up to date. */
const initial = '051-failed-requests';

const migrations: Record<string, Migration> = {
  [initial]: { up: (db) => execute(db, `${turnsAndQuestions}${accountsAndSurfaces}`) },
  '052-retention': { up: (db) => execute(db, retention) },
  '053-limits': { up: (db) => execute(db, limits) },
  '054-audit-chain': { up: (db) => execute(db, auditChain) },
  '055-answered-questions': { up: (db) => execute(db, answeredQuestions) },
  '056-indexes': { up: (db) => execute(db, indexes) },
  '057-versions-of-processes': { up: (db) => execute(db, versionsOfProcesses) },
};

async function execute(db: Kysely<unknown>, text: string): Promise<void> {
  const statements = text.split(';\n').filter((statement) => statement.trim());
  for (const statement of statements) await sql.raw(statement).execute(db);
}

export async function migrate(query: Kysely<Tables>): Promise<void> {
  await query.transaction().execute(async (db) => {
    if (isPostgres(db)) await sql.raw(takeLock).execute(db);
    const names = await executedMigrations(db);
    const last = names.at(-1);
    if (last !== undefined && last < initial) throw new DatabaseTooOld(last);
    // For a rollback: the migrator refuses a database with unknown migrations, so those of later releases are added as
    // no-ops. A migration works with the release before it.
    const known = Object.fromEntries(names.map((name) => [name, { up: () => Promise.resolve() }]));
    const provider = { getMigrations: () => Promise.resolve({ ...known, ...migrations }) };
    const { error } = await new Migrator({ db, provider }).migrateToLatest();
    if (error) throw error instanceof Error ? error : new Error('the migration failed', { cause: error });
  });
}

/** Whether any release has created its tables there. */
export async function isMigrated(db: Kysely<Tables>): Promise<boolean> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  return tables.some(({ name }) => name === 'kysely_migration');
}

/** Compared with this release. Changes nothing. */
export interface MigrationState {
  /** They run when a process of this release starts. */
  pending: string[];
  /** Of later releases. */
  unknown: string[];
  /** This release cannot migrate the database. */
  isTooOld: boolean;
}

export async function readMigrationState(db: Kysely<Tables>): Promise<MigrationState> {
  const executed = await executedMigrations(db);
  const last = executed.at(-1);
  return {
    pending: Object.keys(migrations).filter((name) => !executed.includes(name)),
    unknown: executed.filter((name) => name > initial && !(name in migrations)),
    isTooOld: last !== undefined && last < initial,
  };
}

/** Their names, in order. */
async function executedMigrations(db: Kysely<Tables>): Promise<string[]> {
  if (!(await isMigrated(db))) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return rows.map(({ name }) => name).toSorted();
}

export class DatabaseTooOld extends Error {
  override name = 'DatabaseTooOld';

  constructor(last: string) {
    super(
      `it is too old for this version (its newest migration is ${last}). Start commit 53bbe43d with it once, the last that brings it up to date`,
    );
  }
}

/** The key of Kysely's own lock, which is a session lock; this one ends with the transaction. */
const takeLock = `
  set local lock_timeout = 0;
  select pg_advisory_xact_lock(3853314791062309107);
  set local lock_timeout to default`;
