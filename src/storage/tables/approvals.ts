import type { Selectable } from 'kysely';
import type { Approvals, RememberedApproval } from '../ports/approvals.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

export function createApprovals({ query, now }: Database): Approvals {
  const inForce = ({ tenant, user }: { tenant: string; user: string }) =>
    query
      .selectFrom('approvals')
      .selectAll()
      .where('tenant', '=', tenant)
      .where('user_id', '=', user)
      .where('withdrawn_at', 'is', null);

  return {
    async remember({ id, tenant, user, server, place, tool, definition, conversation }) {
      await query
        .insertInto('approvals')
        .values({
          id,
          tenant,
          user_id: user,
          server,
          place,
          tool,
          definition,
          conversation: conversation ?? everywhere,
          created_at: now(),
          withdrawn_at: null,
        })
        .onConflict((same) => same.column('id').doNothing())
        .execute();
    },
    async isRemembered({ server, place, tool, definition, conversation, ...user }) {
      const row = await inForce(user)
        .where('server', '=', server)
        .where('place', '=', place)
        .where('tool', '=', tool)
        .where('definition', '=', definition)
        .where('conversation', 'in', [everywhere, conversation])
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
    async list(user) {
      const rows = await inForce(user).orderBy('created_at', 'desc').orderBy('id').execute();
      const seen = new Map(rows.toReversed().map((row) => [keyOf(row), row]));
      return rows.filter((row) => seen.get(keyOf(row)) === row).map(toApproval);
    },
    async withdraw(user, id) {
      const row = await inForce(user).where('id', '=', id).executeTakeFirst();
      if (!row) return null;
      await query
        .updateTable('approvals')
        .set({ withdrawn_at: now() })
        .where('tenant', '=', row.tenant)
        .where('user_id', '=', row.user_id)
        .where('server', '=', row.server)
        .where('place', '=', row.place)
        .where('tool', '=', row.tool)
        .where('conversation', '=', row.conversation)
        .where('withdrawn_at', 'is', null)
        .execute();
      return toApproval(row);
    },
  };
}

/** In the column of the conversation. */
const everywhere = '';

type Row = Selectable<Tables['approvals']>;

function keyOf({ server, place, tool, conversation }: Row): string {
  return JSON.stringify([server, place, tool, conversation]);
}

function toApproval(row: Row): RememberedApproval {
  const { id, tenant, user_id: user, server, place, tool, conversation, created_at: createdAt } = row;
  const definition = row.definition ?? '';
  const where = conversation === everywhere ? null : conversation;
  return { id, tenant, user, server, place, tool, definition, conversation: where, createdAt };
}
