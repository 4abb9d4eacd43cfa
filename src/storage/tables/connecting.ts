import type { ExpressionBuilder, Selectable } from 'kysely';
import type { ConnectionKey } from '../schema/account-tables.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

/**
 * A person on the way to an account that another system keeps. Its result is recognised by the id for days: the person may
 * close the window early, or come back late, and has connected an account all the same.
 */
export interface ConnectAttempt extends ConnectionKey {
  /** Random, without meaning. */
  id: string;
  /** The question that asked for it; null: the user connects without one. */
  elicitationId: string | null;
  /** The user who began it; for a shared account, `user` is null. */
  actor: string;
  createdAt: number;
  expiresAt: number;
}

/** How long an attempt may be resumed. */
const underwayMs = 12 * 3_600_000;

export type ConnectAttempts = ReturnType<typeof createConnectAttempts>;

export function createConnectAttempts({ query, now }: Database) {
  const open = () => query.selectFrom('connect_attempts').selectAll().where('expires_at', '>', now());

  return {
    async save({
      id,
      tenant,
      server,
      user,
      elicitationId,
      actor,
      createdAt,
      expiresAt,
    }: ConnectAttempt): Promise<void> {
      await query.deleteFrom('connect_attempts').where('expires_at', '<=', now()).execute();
      await query
        .insertInto('connect_attempts')
        .values({
          id,
          tenant,
          server,
          user_id: user ?? '',
          elicitation_id: elicitationId ?? '',
          actor,
          created_at: createdAt,
          expires_at: expiresAt,
        })
        .execute();
    },
    /** Null when unknown, expired or dropped. */
    async get(id: string): Promise<ConnectAttempt | null> {
      const row = await open().where('id', '=', id).executeTakeFirst();
      return row ? toAttempt(row) : null;
    },
    /** Those that may still lead to an account, newest first. */
    async openOf(key: ConnectionKey): Promise<ConnectAttempt[]> {
      const rows = await open().where(isOf(key)).orderBy('created_at', 'desc').orderBy('id').execute();
      return rows.map(toAttempt);
    },
    /** Whether this user has begun an attempt within the last twelve hours that may still lead to an account. */
    async isUnderway({ tenant, actor }: { tenant: string; actor: string }): Promise<boolean> {
      const since = now() - underwayMs;
      const own = open().where('tenant', '=', tenant).where('actor', '=', actor);
      return (await own.where('created_at', '>', since).limit(1).executeTakeFirst()) !== undefined;
    },
    /** What still comes of them is discarded. */
    async dropOf(key: ConnectionKey): Promise<void> {
      await query.deleteFrom('connect_attempts').where(isOf(key)).execute();
    },
  };
}

function isOf({ tenant, server, user }: ConnectionKey) {
  return (row: ExpressionBuilder<Tables, 'connect_attempts'>) =>
    row.and([row('tenant', '=', tenant), row('server', '=', server), row('user_id', '=', user ?? '')]);
}

function toAttempt(row: Selectable<Tables['connect_attempts']>): ConnectAttempt {
  return {
    id: row.id,
    tenant: row.tenant,
    server: row.server,
    user: row.user_id === '' ? null : row.user_id,
    elicitationId: row.elicitation_id === '' ? null : row.elicitation_id,
    actor: row.actor,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

interface OAuthAttempt {
  /** SHA-256 of the state parameter. */
  stateHash: string;
  /** The question that asked for it; null: the user connects without one. */
  elicitationId: string | null;
  /** SHA-256 of the browser session the attempt belongs to. */
  sessionHash: string;
  sealed: string;
  expiresAt: number;
}

/** Attempts of OAuth flows, which are single-use and expire, and records by key. Payloads are sealed by the caller. */
export type OAuthRecords = ReturnType<typeof createOAuthRecords>;

export function createOAuthRecords({ query, now }: Database) {
  return {
    async saveAttempt({
      stateHash,
      elicitationId,
      sessionHash,
      sealed,
      expiresAt,
    }: OAuthAttempt): Promise<void> {
      await query.deleteFrom('oauth_attempts').where('expires_at', '<=', now()).execute();
      await query
        .insertInto('oauth_attempts')
        .values({
          state_hash: stateHash,
          elicitation_id: elicitationId ?? '',
          session_hash: sessionHash,
          sealed,
          expires_at: expiresAt,
        })
        .execute();
    },
    /** Single use: returns the attempt and forgets it, or null when unknown, used or expired. */
    async takeAttempt(stateHash: string, at: number): Promise<OAuthAttempt | null> {
      const row = await query
        .deleteFrom('oauth_attempts')
        .where('state_hash', '=', stateHash)
        .returningAll()
        .executeTakeFirst();
      if (!row || row.expires_at <= at) return null;
      return {
        stateHash,
        elicitationId: row.elicitation_id === '' ? null : row.elicitation_id,
        sessionHash: row.session_hash,
        sealed: row.sealed,
        expiresAt: row.expires_at,
      };
    },
    /** `key` names a server or authorization server. */
    async remember(key: string, sealed: string): Promise<void> {
      const values = { sealed, updated_at: now() };
      await query
        .insertInto('oauth_records')
        .values({ key, ...values })
        .onConflict((conflict) => conflict.column('key').doUpdateSet(values))
        .execute();
    },
    async recall(key: string): Promise<{ sealed: string; updatedAt: number } | null> {
      const row = await query
        .selectFrom('oauth_records')
        .selectAll()
        .where('key', '=', key)
        .executeTakeFirst();
      return row ? { sealed: row.sealed, updatedAt: row.updated_at } : null;
    },
    async forget(key: string): Promise<void> {
      await query.deleteFrom('oauth_records').where('key', '=', key).execute();
    },
  };
}

interface AccountPermit {
  tenant: string;
  server: string;
  user: string;
}

/**
 * Permits to connect and disconnect the shared account of a server, given on the command line for a limited time, to users
 * who are no operators.
 */
export function createAccountPermits({ query, now }: Database) {
  return {
    /** Replaces the expiry of an earlier one. */
    async give({ tenant, server, user, expiresAt }: AccountPermit & { expiresAt: number }): Promise<void> {
      await query.deleteFrom('account_permits').where('expires_at', '<=', now()).execute();
      await query
        .insertInto('account_permits')
        .values({ tenant, server, user_id: user, expires_at: expiresAt })
        .onConflict((same) =>
          same.columns(['tenant', 'server', 'user_id']).doUpdateSet({ expires_at: expiresAt }),
        )
        .execute();
    },
    async holds({ tenant, server, user }: AccountPermit): Promise<boolean> {
      const row = await query
        .selectFrom('account_permits')
        .select('expires_at')
        .where('tenant', '=', tenant)
        .where('server', '=', server)
        .where('user_id', '=', user)
        .where('expires_at', '>', now())
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
