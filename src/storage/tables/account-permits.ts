import type { AccountPermits } from '../ports/account-permits.ts';
import type { Database } from '../database.ts';

export function createAccountPermits({ query, now }: Database): AccountPermits {
  return {
    async give({ tenant, server, user, expiresAt }) {
      await query.deleteFrom('account_permits').where('expires_at', '<=', now()).execute();
      await query
        .insertInto('account_permits')
        .values({ tenant, server, user_id: user, expires_at: expiresAt })
        .onConflict((same) =>
          same.columns(['tenant', 'server', 'user_id']).doUpdateSet({ expires_at: expiresAt }),
        )
        .execute();
    },
    async holds({ tenant, server, user }) {
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
