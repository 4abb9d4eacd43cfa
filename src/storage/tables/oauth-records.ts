/** The state of OAuth flows: attempts, which are single-use and expire, and sealed records by key. */
import type { OAuthRecords } from '../ports/oauth-records.ts';
import type { Database } from '../database.ts';

export function createOAuthRecords({ query, now }: Database): OAuthRecords {
  return {
    async saveAttempt({ stateHash, elicitationId, sessionHash, sealed, expiresAt }) {
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
    async takeAttempt(stateHash, at) {
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
    async remember(key, sealed) {
      const values = { sealed, updated_at: now() };
      await query
        .insertInto('oauth_records')
        .values({ key, ...values })
        .onConflict((conflict) => conflict.column('key').doUpdateSet(values))
        .execute();
    },
    async recall(key) {
      const row = await query
        .selectFrom('oauth_records')
        .selectAll()
        .where('key', '=', key)
        .executeTakeFirst();
      return row ? { sealed: row.sealed, updatedAt: row.updated_at } : null;
    },
    async forget(key) {
      await query.deleteFrom('oauth_records').where('key', '=', key).execute();
    },
  };
}
