/** The row that says which installation the database belongs to, and what is asked of turns when it does not fit Temporal. */
import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { writeToConversation } from '../log/append.ts';
import type { Installation, InstallationRow } from '../ports/installation.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';
import { settledEvent, toElicitation } from './elicitation-rows.ts';
import { toTurn } from './turn-rows.ts';

const key = 'this';

export function createInstallation({ query, notifications, questions, now }: Database): Installation {
  async function read(): Promise<InstallationRow | null> {
    const row = await query.selectFrom('installation').selectAll().executeTakeFirst();
    return row ? toRow(row) : null;
  }

  const turns = () => query.selectFrom('turns').selectAll().orderBy('created_at', 'desc').orderBy('turn_id');

  return {
    read,
    async make() {
      const row = {
        key,
        id: randomUUID(),
        generation: 0,
        token: null,
        next_token: randomUUID(),
        due_at: now(),
      };
      await query
        .insertInto('installation')
        .values(row)
        .onConflict((there) => there.column('key').doNothing())
        .execute();
      const made = await read();
      if (!made) throw new Error('the row of the installation was made and is gone');
      return made;
    },
    async claim(everyMs) {
      const at = now();
      const { numUpdatedRows } = await query
        .updateTable('installation')
        .set({ due_at: at + everyMs })
        .where('due_at', '<=', at)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    async intend(generation) {
      const row = await query
        .updateTable('installation')
        .set(({ fn, val }) => ({ next_token: fn.coalesce('next_token', val(randomUUID())) }))
        .where('generation', '=', generation)
        .returning('next_token')
        .executeTakeFirst();
      return row?.next_token ?? null;
    },
    async confirm(generation) {
      await query
        .updateTable('installation')
        .set(({ ref }) => ({ generation, token: ref('next_token'), next_token: null }))
        .where('generation', '=', generation - 1)
        .where('next_token', 'is not', null)
        .execute();
    },
    async replace({ id, generation, token }) {
      const row = { id, generation, token, next_token: null };
      await query
        .insertInto('installation')
        .values({ key, ...row, due_at: now() })
        .onConflict((there) => there.column('key').doUpdateSet(row))
        .execute();
    },
    async liveTurns(limit) {
      const rows = await turns()
        .where('status', 'in', ['starting', 'running'])
        .$if(limit !== undefined, (some) => some.limit(limit ?? 0))
        .execute();
      return rows.map((row) => toTurn({ ...row, input_tokens: null, output_tokens: null }));
    },
    async latestTurns(limit) {
      const rows = await turns().where('status', '!=', 'starting').limit(limit).execute();
      return rows.map((row) => toTurn({ ...row, input_tokens: null, output_tokens: null }));
    },
    async rewind({ turnId }, buildId) {
      const at = now();
      const closed = await query.transaction().execute(async (write) => {
        // Locks the turn's row; the due time keeps others from looking at it while its workflow is started.
        const turn = await write
          .updateTable('turns')
          .set({ due_at: at + startMs, build_id: buildId })
          .where('turn_id', '=', turnId)
          .where('status', '=', 'running')
          .returning(['tenant', 'conversation'])
          .executeTakeFirst();
        if (!turn) return null;
        const rows = await write
          .updateTable('elicitations')
          .set({ status: 'cancel', settled_at: at })
          .where('turn_id', '=', turnId)
          .where('status', '=', 'pending')
          .returningAll()
          .execute();
        await write.deleteFrom('tool_call_rounds').where('turn_id', '=', turnId).execute();
        await write
          .updateTable('tool_calls')
          .set({ state: 'requested', attempt: 0, progress: null })
          .where('turn_id', '=', turnId)
          .where('state', '!=', 'finished')
          .execute();
        const settled = rows.map(toElicitation);
        await writeToConversation(write, { ...turn, turnId }, { events: settled.map(settledEvent) }, at);
        return { turn: { ...turn, turnId }, settled };
      });
      if (!closed) return false;
      notifications.announce(closed.turn);
      for (const question of closed.settled) questions.settled(question);
      return true;
    },
  };
}

/** As long as the start of a turn is tried for. */
const startMs = 30_000;

function toRow(row: Selectable<Tables['installation']>): InstallationRow {
  const { id, generation, token } = row;
  return { id, generation, token, nextToken: row.next_token, dueAt: row.due_at };
}
