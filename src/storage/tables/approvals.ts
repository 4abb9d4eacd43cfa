import { fromColumns, toColumns } from '../columns.ts';
import type { Database } from '../database.ts';
import type { Row } from '../schema.ts';
import { insertNew, updateRows } from '../statements.ts';

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
  const inForce = ({ tenant, user }: ApprovingUser) =>
    query
      .selectFrom('approvals')
      .selectAll()
      .where(({ and }) => and({ tenant, user_id: user, withdrawn_at: null }));

  return {
    /** A no-op for an existing id, also after its withdrawal. */
    async remember(approval: NewApproval): Promise<void> {
      const { id, tenant, user, server, place, tool, definition } = approval;
      const conversation = approval.conversation ?? everywhere;
      const row = toColumns({ id, tenant, user, server, place, tool, definition, conversation });
      await insertNew(query, 'approvals', { ...row, created_at: now(), withdrawn_at: null }, ['id']);
    },
    async isRemembered(call: ApprovedTool & { conversation: string }): Promise<boolean> {
      const { server, place, tool, definition, conversation } = call;
      const row = await inForce(call)
        .where(({ and }) => and({ server, place, tool, definition }))
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
      const { tenant, user_id, server, place, tool, conversation } = row;
      const equal = { tenant, user_id, server, place, tool, conversation, withdrawn_at: null };
      await updateRows(query, 'approvals', equal, { withdrawn_at: now() });
      return toApproval(row);
    },
  };
}

/** Value of the column `conversation`. */
const everywhere = '';

function keyOf({ server, place, tool, conversation }: Row<'approvals'>): string {
  return JSON.stringify([server, place, tool, conversation]);
}

function toApproval({ withdrawn_at: _, ...row }: Row<'approvals'>): RememberedApproval {
  const { definition, conversation, ...approval } = fromColumns(row);
  const where = conversation === everywhere ? null : conversation;
  return { ...approval, definition: definition ?? '', conversation: where };
}
