import { fromColumns, toColumns } from '../columns.ts';
import type { Fields } from '../columns.ts';
import type { Database } from '../database.ts';
import type { ConnectionKey } from '../schema/account-tables.ts';
import type { Row } from '../schema.ts';
import { deleteRows, findRow, upsert } from '../statements.ts';

/**
 * A person on the way to an account that another system keeps. Its result is recognised by the id for days: the person may
 * close the window early, or come back late, and has connected an account all the same.
 */
export interface ConnectAttempt
  extends ConnectionKey, Omit<Fields<Row<'connect_attempts'>>, 'user' | 'elicitationId'> {
  /** The question that asked for it; null: the user connects without one. */
  elicitationId: string | null;
}

/** How long an attempt may be resumed. */
const underwayMs = 12 * 3_600_000;

export type ConnectAttempts = ReturnType<typeof createConnectAttempts>;

export function createConnectAttempts({ query, now }: Database) {
  const open = () => query.selectFrom('connect_attempts').selectAll().where('expires_at', '>', now());

  return {
    async save(attempt: ConnectAttempt): Promise<void> {
      const { id, tenant, server, user, elicitationId, actor, createdAt, expiresAt } = attempt;
      const row = { id, tenant, server, user: user ?? '', elicitationId: elicitationId ?? '', actor };
      await query
        .insertInto('connect_attempts')
        .values(toColumns({ ...row, createdAt, expiresAt }))
        .execute();
    },
    /** Null when unknown, expired or dropped. */
    async get(id: string): Promise<ConnectAttempt | null> {
      const row = await open().where('id', '=', id).executeTakeFirst();
      return row ? toAttempt(row) : null;
    },
    /** Those that may still lead to an account, newest first. */
    async openOf(key: ConnectionKey): Promise<ConnectAttempt[]> {
      const own = open().where(({ and }) => and(keyOf(key)));
      const rows = await own.orderBy('created_at', 'desc').orderBy('id').execute();
      return rows.map(toAttempt);
    },
    /** Whether this user has begun an attempt within the last twelve hours that may still lead to an account. */
    async isUnderway({ tenant, actor }: { tenant: string; actor: string }): Promise<boolean> {
      const since = now() - underwayMs;
      const own = open().where(({ and }) => and({ tenant, actor }));
      return (await own.where('created_at', '>', since).limit(1).executeTakeFirst()) !== undefined;
    },
    /** What still comes of them is discarded. */
    async dropOf(key: ConnectionKey): Promise<void> {
      await deleteRows(query, 'connect_attempts', keyOf(key));
    },
  };
}

function keyOf({ tenant, server, user }: ConnectionKey) {
  return { tenant, server, user_id: user ?? '' };
}

function toAttempt(row: Row<'connect_attempts'>): ConnectAttempt {
  const { user, elicitationId, ...attempt } = fromColumns(row);
  return { ...attempt, user: orNull(user), elicitationId: orNull(elicitationId) };
}

const orNull = (text: string): string | null => (text === '' ? null : text);

interface OAuthAttempt extends Omit<Fields<Row<'oauth_attempts'>>, 'elicitationId'> {
  /** The question that asked for it; null: the user connects without one. */
  elicitationId: string | null;
}

/** Attempts of OAuth flows, which are single-use and expire, and records by key. Payloads are sealed by the caller. */
export type OAuthRecords = ReturnType<typeof createOAuthRecords>;

export function createOAuthRecords({ query, now }: Database) {
  return {
    async saveAttempt({ elicitationId, ...attempt }: OAuthAttempt): Promise<void> {
      const { stateHash, sessionHash, sealed, expiresAt } = attempt;
      const row = { stateHash, elicitationId: elicitationId ?? '', sessionHash, sealed, expiresAt };
      await query.insertInto('oauth_attempts').values(toColumns(row)).execute();
    },
    /** Single use: returns the attempt and forgets it, or null when unknown, used or expired. */
    async takeAttempt(stateHash: string, at: number): Promise<OAuthAttempt | null> {
      const row = await query
        .deleteFrom('oauth_attempts')
        .where('state_hash', '=', stateHash)
        .returningAll()
        .executeTakeFirst();
      if (!row || row.expires_at <= at) return null;
      const { elicitationId, ...attempt } = fromColumns(row);
      return { ...attempt, elicitationId: orNull(elicitationId) };
    },
    /** `key` names a server or authorization server. */
    async remember(key: string, sealed: string): Promise<void> {
      await upsert(query, 'oauth_records', { key }, { sealed, updated_at: now() });
    },
    async recall(key: string): Promise<{ sealed: string; updatedAt: number } | null> {
      const row = await findRow(query, 'oauth_records', { key });
      return row ? { sealed: row.sealed, updatedAt: row.updated_at } : null;
    },
    async forget(key: string): Promise<void> {
      await deleteRows(query, 'oauth_records', { key });
    },
  };
}

type AccountPermit = Fields<Row<'account_permits'>>;

/**
 * Permits to connect and disconnect the shared account of a server, given on the command line for a limited time, to users
 * who are no operators.
 */
export function createAccountPermits({ query, now }: Database) {
  return {
    /** Replaces the expiry of an earlier one. */
    async give({ tenant, server, user, expiresAt }: AccountPermit): Promise<void> {
      await upsert(query, 'account_permits', { tenant, server, user_id: user }, { expires_at: expiresAt });
    },
    async holds({ tenant, server, user }: Omit<AccountPermit, 'expiresAt'>): Promise<boolean> {
      const permit = await findRow(query, 'account_permits', { tenant, server, user_id: user });
      return permit !== undefined && permit.expires_at > now();
    },
  };
}
