import type { Selectable } from 'kysely';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';

interface ApprovingUser {
  tenant: string;
  user: string;
}

interface ApprovedTool extends ApprovingUser {
  server: string;
  /** The server's address when it was approved. The approval does not apply at another address. */
  place: string;
  /** The tool's own name at its server. */
  tool: string;
  /**
   * A digest of the server's description of the tool, '' if there is none. The approval does not apply to another
   * description.
   */
  definition: string;
}

interface NewApproval extends ApprovedTool {
  /** The id of the question in which it was given. */
  id: string;
  /** Null: in all conversations. */
  conversation: string | null;
}

export interface RememberedApproval extends NewApproval {
  createdAt: number;
}

/** Tools that a user has approved in advance. */
export function createApprovals({ query, now }: Database) {
  const inForce = ({ tenant, user }: { tenant: string; user: string }) =>
    query
      .selectFrom('approvals')
      .selectAll()
      .where('tenant', '=', tenant)
      .where('user_id', '=', user)
      .where('withdrawn_at', 'is', null);

  return {
    /** A no-op for an existing id, also after its withdrawal. */
    async remember({
      id,
      tenant,
      user,
      server,
      place,
      tool,
      definition,
      conversation,
    }: NewApproval): Promise<void> {
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
    async isRemembered({
      server,
      place,
      tool,
      definition,
      conversation,
      ...user
    }: ApprovedTool & { conversation: string }): Promise<boolean> {
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
    /** Those in force, newest first. */
    async list(user: ApprovingUser): Promise<RememberedApproval[]> {
      const rows = await inForce(user).orderBy('created_at', 'desc').orderBy('id').execute();
      const seen = new Map(rows.toReversed().map((row) => [keyOf(row), row]));
      return rows.filter((row) => seen.get(keyOf(row)) === row).map(toApproval);
    },
    /** Together with equal ones. Null when this user has none in force under this id. */
    async withdraw(user: ApprovingUser, id: string): Promise<RememberedApproval | null> {
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

/** Value of the column `conversation`. */
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
