import type { ExpressionBuilder, Selectable } from 'kysely';
import type { ConnectAttempt, ConnectAttempts } from '../ports/connect-attempts.ts';
import type { ConnectionKey } from '../ports/connections.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

/** As long as an attempt is taken up again. */
const underwayMs = 12 * 3_600_000;

export function createConnectAttempts({ query, now }: Database): ConnectAttempts {
  const open = () => query.selectFrom('connect_attempts').selectAll().where('expires_at', '>', now());

  return {
    async save({ id, tenant, server, user, elicitationId, actor, createdAt, expiresAt }) {
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
    async get(id) {
      const row = await open().where('id', '=', id).executeTakeFirst();
      return row ? toAttempt(row) : null;
    },
    async openOf(key) {
      const rows = await open().where(isOf(key)).orderBy('created_at', 'desc').orderBy('id').execute();
      return rows.map(toAttempt);
    },
    async isUnderway({ tenant, actor }) {
      const since = now() - underwayMs;
      const own = open().where('tenant', '=', tenant).where('actor', '=', actor);
      return (await own.where('created_at', '>', since).limit(1).executeTakeFirst()) !== undefined;
    },
    async dropOf(key) {
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
