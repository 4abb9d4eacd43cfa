/**
 * Deletes data by its age, in batches of one short transaction each. Any number of processes may do it at once. A turn that has not
 * ended is never touched, whatever its age; nor is one that Temporal or a server still has to be notified of.
 */
import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';
import type { ConversationRef } from '../../turn/turn.ts';
import { isPostgres } from '../database.ts';
import type { Database } from '../database.ts';
import type { ConnectionKey } from '../schema/account-tables.ts';
import type { TurnData } from '../schema/session-tables.ts';
import type { Tables } from '../schema.ts';
import { insertNew } from '../statements.ts';
import { lockForRemoval, keepLastUse, removeEmptyConversation, removeTurns } from './erasure.ts';

type Write = Transaction<Tables>;

/** In place of deleted content of an answer. Null means that there was none. */
export const deletedContent = '';

/** Turns that ended after the first time, up to and including the second. */
interface Range {
  after: number;
  until: number;
}

export function createRetention({ query, now }: Database) {
  return {
    /**
     * Deletes this data of the next turns that ended before, and returns the number of turns; 0: nothing is left, or another process
     * is at it.
     */
    deleteOfTurns: (kind: TurnData, endedBefore: number, limit: number): Promise<number> =>
      query.transaction().execute(async (write) => {
        await insertNew(write, 'retention', { kind, ended_until: 0 }, ['kind']);
        const row = await write
          .selectFrom('retention')
          .select('ended_until')
          .where('kind', '=', kind)
          .$if(isPostgres(write), (one) => one.forUpdate().skipLocked())
          .executeTakeFirst();
        if (!row) return 0;
        const after = row.ended_until;
        const next = await write
          .selectFrom('turns')
          .select('ended_at')
          .where('ended_at', '>', after)
          .where('ended_at', '<', endedBefore)
          .orderBy('ended_at')
          .limit(limit)
          .execute();
        const until = next.at(-1)?.ended_at;
        if (until === undefined || until === null) return 0;
        await deleteData[kind](write, { after, until });
        await write.updateTable('retention').set({ ended_until: until }).where('kind', '=', kind).execute();
        return next.length;
      }),

    /**
     * Deletes whole turns that ended before, with everything in them, and conversations that have no turn left. A conversation with
     * a live turn is left alone: the model would lose messages between two steps.
     */
    deleteTurns: (endedBefore: number, limit: number): Promise<number> =>
      query.transaction().execute(async (write) => {
        const old = await write
          .selectFrom('turns')
          .select(['turn_id', 'tenant', 'conversation', 'user_id', 'created_at'])
          .where('ended_at', '<', endedBefore)
          .where(({ not, exists }) => not(exists(liveBeside(write))))
          .where((row) =>
            row.not(
              row.exists(
                row.selectFrom('outbox').select('id').whereRef('outbox.turn_id', '=', 'turns.turn_id'),
              ),
            ),
          )
          .orderBy('ended_at')
          .limit(limit)
          .execute();
        if (old.length === 0) return 0;
        await keepLastUse(write, old, now());
        const ids = old.map((row) => row.turn_id);
        const locked = await write
          .selectFrom('turns')
          .select(['turn_id', 'tenant', 'conversation'])
          .where('turn_id', 'in', ids)
          .orderBy('turn_id')
          .$if(isPostgres(write), (some) => some.forUpdate().skipLocked())
          .execute();
        if (locked.length === 0) return 0;
        const free = locked.map((row) => row.turn_id);
        // In one order, so that processes never wait for each other.
        await lockForRemoval(write, free, distinct(locked));
        // A turn may have begun before the locks were taken.
        const idle = await write
          .selectFrom('turns')
          .select(['turn_id', 'tenant', 'conversation'])
          .where('turn_id', 'in', free)
          .where(({ not, exists }) => not(exists(liveBeside(write))))
          .execute();
        await removeTurns(
          write,
          idle.map((row) => row.turn_id),
        );
        for (const ref of distinct(idle)) await removeEmptyConversation(write, ref);
        return idle.length;
      }),

    /** The chain of the audit keeps the hashes of what was sealed; the rest waits. */
    async deleteAudit(before: number, limit: number): Promise<number> {
      const entries = query
        .selectFrom('audit')
        .select('id')
        .where('at', '<', before)
        .where('position', 'is not', null)
        .orderBy('at')
        .limit(limit)
        .$if(isPostgres(query), (some) => some.forUpdate().skipLocked());
      const { numDeletedRows } = await query
        .deleteFrom('audit')
        .where('id', 'in', entries)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },

    deleteErasures: (before: number, limit: number): Promise<number> =>
      deleteBefore(query, { table: 'erasures', column: 'at', before, limit }),

    /** Accounts of users who have neither connected them nor begun a turn since, as far as turns are kept; see `keepLastUse`. */
    async unusedConnections(before: number, limit: number): Promise<(ConnectionKey & { user: string })[]> {
      const rows = await query
        .selectFrom('connections')
        .select(['tenant', 'server', 'user_id'])
        .where('status', '!=', 'removed')
        .where('user_id', '!=', '')
        .where('updated_at', '<', before)
        .where((row) =>
          row.not(
            row.exists(
              row
                .selectFrom('turns')
                .select('turn_id')
                .whereRef('turns.tenant', '=', 'connections.tenant')
                .whereRef('turns.user_id', '=', 'connections.user_id')
                .where((turn) =>
                  turn.or([turn('turns.created_at', '>=', before), turn('turns.ended_at', 'is', null)]),
                ),
            ),
          ),
        )
        .orderBy('updated_at')
        .limit(limit)
        .execute();
      return rows.map(({ tenant, server, user_id: user }) => ({ tenant, server, user }));
    },

    /** What has expired and is of no use to anyone: at most `limit` rows of each kind. */
    async deleteExpired(limit: number): Promise<number> {
      const before = now();
      let deleted = 0;
      for (const table of expiring)
        deleted += await deleteBefore(query, { table, column: 'expires_at', before, limit });
      return deleted;
    },
  };
}

interface Old {
  table: 'erasures' | (typeof expiring)[number];
  column: 'at' | 'expires_at';
  before: number;
  limit: number;
}

async function deleteBefore(query: Kysely<Tables>, { table, column, before, limit }: Old): Promise<number> {
  const row = isPostgres(query) ? sql.raw('ctid') : sql.raw('rowid');
  const { numAffectedRows = 0n } = await sql`delete from ${sql.table(table)} where ${row} in (
    select ${row} from ${sql.table(table)} where ${sql.ref(column)} < ${before} limit ${limit}
    ${isPostgres(query) ? sql.raw('for update skip locked') : sql.raw('')}
  )`.execute(query);
  return Number(numAffectedRows);
}

/** For a condition on `turns`. */
function liveBeside(write: Write) {
  return write
    .selectFrom('turns as live')
    .select('live.turn_id')
    .where(sql<boolean>`live.tenant = turns.tenant and live.conversation = turns.conversation`)
    .where('live.status', 'in', ['starting', 'running']);
}

/** Attempts to sign in, sessions, permits. Their own functions leave expired rows alone. */
const expiring = [
  'account_permits',
  'connect_attempts',
  'ended_sessions',
  'mcp_sessions',
  'oauth_attempts',
  'slack_tickets',
] as const;

const deleteData: Record<TurnData, (write: Write, range: Range) => Promise<void>> = {
  /** What remains of the log says when the turn began and how it ended: readers of its stream come to an end. */
  async log(write, range) {
    await write
      .deleteFrom('turn_events')
      .where('turn_id', 'in', endedIn(write, range))
      .where('key', 'not in', ['turn-started', 'turn-ended'])
      .execute();
    await write
      .updateTable('tool_calls')
      .set({ input: '{}' })
      .where('turn_id', 'in', endedIn(write, range))
      .where('input', '!=', '{}')
      .execute();
  },
  /** The row stays: who answered what, and when, belongs to the audit. */
  async answers(write, range) {
    const questions = write
      .selectFrom('elicitations')
      .select('id')
      .where('turn_id', 'in', endedIn(write, range));
    await write
      .updateTable('elicitation_answers')
      .set({ sealed_content: deletedContent })
      .where('sealed_content', '!=', deletedContent)
      .where('elicitation_id', 'in', questions)
      .execute();
  },
  async images(write, range) {
    await write.deleteFrom('images').where('turn_id', 'in', endedIn(write, range)).execute();
  },
  /** What servers wanted back, results of the steps of tools, and targets of notifications. */
  async state(write, range) {
    for (const table of ['tool_call_rounds', 'push_configs'] as const)
      await write.deleteFrom(table).where('turn_id', 'in', endedIn(write, range)).execute();
    await write
      .updateTable('tool_effects')
      .set({ sealed: null })
      .where('turn_id', 'in', endedIn(write, range))
      .where('sealed', 'is not', null)
      .execute();
  },
};

function endedIn(write: Write, { after, until }: Range) {
  return write
    .selectFrom('turns')
    .select('turn_id')
    .where('ended_at', '>', after)
    .where('ended_at', '<=', until);
}

function distinct(rows: ConversationRef[]): ConversationRef[] {
  const named = new Map(rows.map((row) => [JSON.stringify([row.tenant, row.conversation]), row]));
  return [...named].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row);
}
