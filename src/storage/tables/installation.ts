/** The row that says which installation the database belongs to, and what is asked of turns when it does not fit Temporal. */
import { randomUUID } from 'node:crypto';
import type { Selectable, Transaction } from 'kysely';
import { chunks } from '../log/append.ts';
import type { Installation, InstallationRow } from '../ports/installation.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';
import { addSettledMarks } from './outbox.ts';
import { advanced, announceSettled, lockPendingOf, writeSettled } from './settling.ts';
import { toTurn } from './turn-rows.ts';

const key = 'this';

export function createInstallation(database: Database): Installation {
  const { query, now } = database;

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
      const settled = await query.transaction().execute(async (write) => {
        // Locks the turn's row; the due time keeps others from looking at it while its workflow is started.
        const turn = await write
          .updateTable('turns')
          .set({ due_at: now() + startMs, build_id: buildId })
          .where('turn_id', '=', turnId)
          .where('status', '=', 'running')
          .returning('turn_id')
          .executeTakeFirst();
        if (!turn) return null;
        const at = now();
        const closed = (await lockPendingOf(write, turnId)).map((row) =>
          advanced(row, { type: 'abandoned' }, at),
        );
        const settled = await writeSettled(write, closed, { at, isEnd: true });
        await forgetQuestions(write, turnId);
        await write.deleteFrom('tool_call_rounds').where('turn_id', '=', turnId).execute();
        await write
          .updateTable('tool_calls')
          .set({ state: 'requested', attempt: 0, progress: null })
          .where('turn_id', '=', turnId)
          .where('state', '!=', 'finished')
          .execute();
        return settled;
      });
      if (!settled) return false;
      announceSettled(database, settled);
      return true;
    },
    async catchUp({ turnId }) {
      await query.transaction().execute(async (write) => {
        const settled = await write
          .selectFrom('elicitations')
          .select('id')
          .where('turn_id', '=', turnId)
          .where('status', '!=', 'pending')
          .execute();
        await write
          .updateTable('tool_calls')
          .set({ attempt: 0 })
          .where('turn_id', '=', turnId)
          .where('state', '!=', 'finished')
          .execute();
        await write
          .updateTable('turn_steps')
          .set({ attempt: 0 })
          .where('turn_id', '=', turnId)
          .where('finish', 'is', null)
          .execute();
        const ids = settled.map(({ id }) => id);
        await addSettledMarks(write, ids, now(), undefined);
      });
    },
  };
}

/**
 * Its unfinished calls are made anew and ask anew: what they asked before is no question of theirs, and the places of those
 * questions are free.
 */
async function forgetQuestions(write: Transaction<Tables>, turnId: string): Promise<void> {
  const asked = write
    .selectFrom('question_waiters')
    .innerJoin('tool_calls', 'tool_calls.tool_call_id', 'question_waiters.tool_call_id')
    .select('elicitation_id')
    .where('tool_calls.turn_id', '=', turnId)
    .where('tool_calls.state', '!=', 'finished');
  const questions = await write
    .updateTable('elicitations')
    .set((row) => ({ place: row.ref('id') }))
    .where('turn_id', '=', turnId)
    .where('id', 'in', asked)
    .returning('id')
    .execute();
  for (const chunk of chunks(questions.map(({ id }) => id)))
    await write.deleteFrom('question_waiters').where('elicitation_id', 'in', chunk).execute();
}

/** As long as the start of a turn is tried for. */
const startMs = 30_000;

function toRow(row: Selectable<Tables['installation']>): InstallationRow {
  const { id, generation, token } = row;
  return { id, generation, token, nextToken: row.next_token, dueAt: row.due_at };
}
