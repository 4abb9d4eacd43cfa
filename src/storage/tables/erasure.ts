/**
 * Deletes turns, conversations and users with everything that belongs to them. What remains is the audit, or its hashes (see
 * audit-chain.ts), and the list of erasures, which is repeated on a restored backup.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';
import type { ConversationRef, TurnOwner, TurnRef } from '../../turn/turn.ts';
import { turnWorkflowId } from '../../turn/turn.ts';
import { isPostgres } from '../database.ts';
import type { Database } from '../database.ts';
import { isConversation, chunks } from '../log/append.ts';
import type { AuditEntry } from '../schema/question-tables.ts';
import type { Erasure } from '../schema/session-tables.ts';
import type { Tables } from '../schema.ts';
import { deleteRows, deleteRowsOf, findRow, findRows, updateRows } from '../statements.ts';
import { insertAudit } from './audit.ts';
import { addForgetMarks } from './outbox.ts';
import { isOver } from '../write-refused.ts';

type Write = Transaction<Tables>;

interface User {
  tenant: string;
  user: string;
}

/** `busy`: its turn has not ended, and nothing was deleted. */
export type RemovedConversation =
  | { kind: 'removed' }
  | { kind: 'missing' }
  | { kind: 'busy'; turnId: string };

/** Workflows that deliver a turn outside of the service, and have no search attributes. */
type DeliveryWorkflows = (of: { turnId: string; deliveryIds: string[]; isInSlack: boolean }) => string[];

interface Removal {
  /** Another owner's conversation is `missing`. Null: whoever owns it. */
  owner: Pick<TurnOwner, 'user' | 'service'> | null;
  deliveriesOf: DeliveryWorkflows;
  audit: AuditEntry;
  /** For the list of erasures; null: its user is on the list. */
  erasedAt: number | null;
}

export function createErasure({ query, now }: Database) {
  return {
    /** With its turns, questions, images and deliveries. Queues the deletion of its histories at Temporal. */
    removeConversation: (
      ref: ConversationRef,
      { owner, deliveriesOf, audit, erasedAt }: Removal,
    ): Promise<RemovedConversation> =>
      query.transaction().execute(async (write) => {
        const { tenant, conversation } = ref;
        const here = { tenant, conversation };
        await keepLastUse(write, await findRows(write, 'turns', here), now());
        const locked = await write
          .selectFrom('turns')
          .select('turn_id')
          .where(isConversation(ref))
          .orderBy('turn_id')
          .$if(isPostgres(write), (some) => some.forUpdate())
          .execute();
        await lockForRemoval(
          write,
          locked.map((row) => row.turn_id),
          [ref],
        );
        const row = await findRow(write, 'conversations', here);
        const isOwn = !owner || (row?.user_id === owner.user && row.service === (owner.service ?? null));
        if (!row || !isOwn) return { kind: 'missing' };
        // No turn begins any more; one may have begun before the lock.
        const turns = await findRows(write, 'turns', here);
        const live = turns.find(({ status }) => !isOver(status));
        if (live) return { kind: 'busy', turnId: live.turn_id };
        const ids = turns.map(({ turn_id: turnId }) => turnId);
        const pushes = await findRows(write, 'push_configs', { tenant, conversation });
        const inSlack = await findRows(write, 'slack_deliveries', { tenant, conversation });
        const shown = new Set(inSlack.map((delivery) => delivery.turn_id));
        const workflows = ids.flatMap((turnId) => {
          const turn: TurnRef = { tenant, conversation, turnId };
          const deliveryIds = pushes.flatMap((push) => (push.turn_id === turnId ? [push.delivery_id] : []));
          const deliveries = deliveriesOf({ turnId, deliveryIds, isInSlack: shown.has(turnId) });
          return [turnWorkflowId(turn), ...deliveries].map((workflowId) => ({ workflowId, turn }));
        });
        await removeTurns(write, ids);
        for (const some of chunks(ids)) await deleteRowsOf(write, 'mcp_calls', 'turn_id', some);
        await deleteRows(write, 'idempotency_keys', { tenant, user_id: row.user_id ?? '', conversation });
        for (const table of ['slack_threads', 'approvals', 'conversations'] as const)
          await deleteRows(write, table, { tenant, conversation });
        const at = now();
        await addForgetMarks(write, workflows, at);
        if (erasedAt !== null) await note(write, { tenant, conversation, at: erasedAt });
        await insertAudit(write, audit);
        return { kind: 'removed' };
      }),

    /** Whether servers that keep calls of its ended turns open have not been notified yet. */
    async hasUnnotifiedServers({ tenant, conversation }: ConversationRef): Promise<boolean> {
      const found = await query
        .selectFrom('turns')
        .innerJoin('outbox', (join) => join.on('outbox.id', '=', sql<string>`'abandon/' || turns.turn_id`))
        .select('outbox.id')
        .where('turns.tenant', '=', tenant)
        .where('turns.conversation', '=', conversation)
        .limit(1)
        .executeTakeFirst();
      return found !== undefined;
    },

    note: (erasure: Erasure): Promise<void> => note(query, erasure),

    /**
     * Everything but conversations and the accounts that have to be revoked; their own functions remove those first. Of the audit,
     * what was sealed: the chain keeps its hashes.
     */
    removeUser: ({ tenant, user }: User, isOwnerOf: (owner: string) => boolean): Promise<void> =>
      query.transaction().execute(async (write) => {
        const own = { tenant, user_id: user };
        await deleteRows(write, 'connections', { ...own, status: 'removed' });
        for (const table of ['account_permits', 'approvals', 'idempotency_keys', 'tool_catalogue'] as const)
          await deleteRows(write, table, own);
        await deleteRows(write, 'connect_attempts', own);
        await deleteRows(write, 'connect_attempts', { tenant, actor: user });
        const sessions = await write.selectFrom('mcp_sessions').select(['id', 'owner']).execute();
        const ended = sessions.flatMap(({ id, owner }) => (isOwnerOf(owner) ? [id] : []));
        for (const ids of chunks(ended)) await deleteRowsOf(write, 'mcp_sessions', 'id', ids);
        for (const { team, slack_user } of await findRows(write, 'slack_users', own))
          for (const table of ['slack_events', 'slack_threads', 'slack_tickets', 'slack_users'] as const)
            await deleteRows(write, table, { team, slack_user });
        await updateRows(write, 'slack_installations', { tenant, installed_by: user }, { installed_by: '' });
        await write
          .deleteFrom('audit')
          .where('tenant', '=', tenant)
          .where('position', 'is not', null)
          .where(({ or }) => or([sql<boolean>`actor = ${user}`, isKeyFor(user)]))
          .execute();
      }),

    /** Of a user, for an export: oldest first. */
    auditOf: ({ tenant, user }: User) =>
      query
        .selectFrom('audit')
        .select(['at', 'action', 'detail', 'address', 'turn_id', 'elicitation_id'])
        .where('tenant', '=', tenant)
        .where(({ or }) => or([sql<boolean>`actor = ${user}`, isKeyFor(user)]))
        .orderBy('at')
        .execute(),

    /** Oldest first. */
    async list(): Promise<Erasure[]> {
      const rows = await query.selectFrom('erasures').selectAll().orderBy('at').orderBy('id').execute();
      return rows.map(({ tenant, user_id: user, conversation, at }) =>
        user === null ? { tenant, conversation: conversation ?? '', at } : { tenant, user, at },
      );
    },
  };
}

async function note(query: Kysely<Tables>, erasure: Erasure): Promise<void> {
  const { tenant, at } = erasure;
  const what =
    'user' in erasure
      ? { user_id: erasure.user, conversation: null }
      : { user_id: null, conversation: erasure.conversation };
  await query
    .insertInto('erasures')
    .values({ id: randomUUID(), tenant, at, ...what })
    .execute();
}

/** `actorOf` in service/principal.ts names keys that act for users. */
function isKeyFor(user: string) {
  const end = ` for ${user}`;
  return sql<boolean>`(actor like 'key %' and substr(actor, length(actor) - length(${end}) + 1) = ${end})`;
}

/** Children before what they refer to. Rows that expire by themselves are not among them. */
const partsOfTurns = [
  'tool_effects',
  'tool_call_rounds',
  'tool_calls',
  'turn_steps',
  'messages',
  'turn_events',
  'slack_messages',
  'slack_deliveries',
  'push_configs',
  'elicitations',
  'outbox',
  'turns',
] as const;

/** An account that has just changed looks newly connected, and a refused secret of it is not replaced. */
const notNewMs = 60 * 60 * 1000;

/** Locks questions, calls and conversations for the removal of these turns, whose rows are locked, in the order of settling.ts. */
export async function lockForRemoval(
  write: Write,
  turnIds: string[],
  conversations: ConversationRef[],
): Promise<void> {
  if (isPostgres(write))
    for (const ids of chunks(turnIds)) {
      await write
        .selectFrom('elicitations')
        .select('id')
        .where('turn_id', 'in', ids)
        .orderBy('id')
        .forUpdate()
        .execute();
      await write
        .selectFrom('tool_calls')
        .select('tool_call_id')
        .where('turn_id', 'in', ids)
        .orderBy('turn_id')
        .orderBy('tool_call_id')
        .forUpdate()
        .execute();
    }
  for (const ref of conversations) await lockConversation(write, ref);
}

/**
 * Before these turns are deleted: their users' accounts were used when they began. Connections are locked before turns.
 */
export async function keepLastUse(
  write: Write,
  turns: { tenant: string; user_id: string | null; created_at: number }[],
  now: number,
): Promise<void> {
  const last = new Map<string, { tenant: string; user: string; at: number }>();
  for (const { tenant, user_id: user, created_at: begunAt } of turns) {
    if (user === null) continue;
    const at = Math.min(begunAt, now - notNewMs);
    const key = JSON.stringify([tenant, user]);
    last.set(key, { tenant, user, at: Math.max(at, last.get(key)?.at ?? 0) });
  }
  const inOrder = [...last].toSorted(([one], [other]) => (one < other ? -1 : 1));
  for (const [, { tenant, user, at }] of inOrder)
    await write
      .updateTable('connections')
      .set({ updated_at: at })
      .where(({ and }) => and({ tenant, user_id: user }))
      .where('status', '!=', 'removed')
      .where('updated_at', '<', at)
      .execute();
}

/** Call it only for turns that have ended. */
export async function removeTurns(write: Write, turnIds: string[]): Promise<void> {
  for (const ids of chunks(turnIds)) {
    const questions = await write
      .selectFrom('elicitations')
      .select('id')
      .where('turn_id', 'in', ids)
      .execute();
    const asked = questions.map(({ id }) => id);
    for (const table of ['question_waiters', 'elicitation_answers'] as const)
      await deleteRowsOf(write, table, 'elicitation_id', asked);
    for (const table of partsOfTurns) await deleteRowsOf(write, table, 'turn_id', ids);
  }
}

/** A conversation without any turn is deleted. */
export async function removeEmptyConversation(write: Write, ref: ConversationRef): Promise<void> {
  // The lock comes first, so that no other request can be preparing a turn.
  await lockConversation(write, ref);
  await write
    .deleteFrom('conversations')
    .where(isConversation(ref))
    .where((row) => row.not(row.exists(row.selectFrom('turns').select('turn_id').where(sameConversation))))
    .execute();
}

const sameConversation = sql<boolean>`turns.tenant = conversations.tenant and turns.conversation = conversations.conversation`;

/** The update changes nothing. */
async function lockConversation(write: Write, ref: ConversationRef): Promise<bigint> {
  const { numUpdatedRows } = await write
    .updateTable('conversations')
    .set((row) => ({ created_at: row.ref('created_at') }))
    .where(isConversation(ref))
    .executeTakeFirst();
  return numUpdatedRows;
}
