/**
 * The row that names the installation that the database belongs to, and how turns continue when it does not match Temporal.
 */
import { randomUUID } from 'node:crypto';
import type { TurnRow } from './turn-rows.ts';
import type { Database } from '../database.ts';
import { fromColumns } from '../columns.ts';
import type { Fields } from '../columns.ts';
import type { Row } from '../schema.ts';
import { insertNew, updateRows } from '../statements.ts';
import { addSettledMarks } from './outbox.ts';
import { toTurn } from './turn-rows.ts';

/** The installation that the database belongs to, and its generation. Temporal keeps the same three values in its mark. */
export type InstallationRow = Omit<Fields<Row<'installation'>>, 'key'>;

const key = 'this';

export function createInstallation(database: Database) {
  const { query, now } = database;

  async function read(): Promise<InstallationRow | null> {
    const row = await query.selectFrom('installation').selectAll().executeTakeFirst();
    if (!row) return null;
    const { key: _, ...installation } = fromColumns(row);
    return installation;
  }

  const turns = () => query.selectFrom('turns').selectAll().orderBy('created_at', 'desc').orderBy('turn_id');

  return {
    /** Null until `make` was called. */
    read,
    /** Creates the row, in generation 0; returns the existing one otherwise. */
    async make(): Promise<InstallationRow> {
      const row = {
        key,
        id: randomUUID(),
        generation: 0,
        token: null,
        next_token: randomUUID(),
        due_at: now(),
      };
      await insertNew(query, 'installation', row, ['key']);
      const made = await read();
      if (!made) throw new Error('the row of the installation was made and is gone');
      return made;
    },
    /** True for one caller per interval, which writes the next generation. */
    async claim(everyMs: number): Promise<boolean> {
      const at = now();
      const { numUpdatedRows } = await query
        .updateTable('installation')
        .set({ due_at: at + everyMs })
        .where('due_at', '<=', at)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /** The token of the next generation, the same for all callers; null when the database is no longer in this generation. */
    async intend(generation: number): Promise<string | null> {
      const row = await query
        .updateTable('installation')
        .set(({ fn, val }) => ({ next_token: fn.coalesce('next_token', val(randomUUID())) }))
        .where('generation', '=', generation)
        .returning('next_token')
        .executeTakeFirst();
      return row?.next_token ?? null;
    },
    /** Compare-and-set: the intended generation becomes the database's. */
    async confirm(generation: number): Promise<void> {
      await query
        .updateTable('installation')
        .set(({ ref }) => ({ generation, token: ref('next_token'), next_token: null }))
        .where('generation', '=', generation - 1)
        .where('next_token', 'is not', null)
        .execute();
    },
    /** An operator has decided that the database belongs to this installation. */
    async replace({
      id,
      generation,
      token,
    }: {
      id: string;
      generation: number;
      token: string;
    }): Promise<void> {
      const row = { id, generation, token, next_token: null };
      await query
        .insertInto('installation')
        .values({ key, ...row, due_at: now() })
        .onConflict((there) => there.column('key').doUpdateSet(row))
        .execute();
    },
    /** Turns that have not ended, in all tenants, newest first. */
    async liveTurns(limit?: number): Promise<TurnRow[]> {
      const rows = await turns()
        .where('status', 'in', ['starting', 'running'])
        .$if(limit !== undefined, (some) => some.limit(limit ?? 0))
        .execute();
      return rows.map((row) => toTurn({ ...row, input_tokens: null, output_tokens: null }));
    },
    /** Turns that have begun, ended or not, newest first. */
    async latestTurns(limit: number): Promise<TurnRow[]> {
      const rows = await turns().where('status', '!=', 'starting').limit(limit).execute();
      return rows.map((row) => toTurn({ ...row, input_tokens: null, output_tokens: null }));
    },
    /** Prepares a running turn for a new workflow with this version of the code. False when the turn has ended. */
    async moveTo({ turnId }: Pick<TurnRow, 'turnId'>, buildId: string): Promise<boolean> {
      const { numUpdatedRows } = await query
        .updateTable('turns')
        // The due time keeps others from looking after it while its workflow is started.
        .set({ due_at: now() + startMs, build_id: buildId })
        .where(({ and }) => and({ turn_id: turnId, status: 'running' }))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    /**
     * Prepares a running turn to continue with a workflow that is older than its rows: attempts that the workflow repeats
     * become the newest, and it is notified again of settled questions.
     */
    async catchUp({ turnId }: Pick<TurnRow, 'turnId'>): Promise<void> {
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
        await updateRows(write, 'turn_steps', { turn_id: turnId, finish: null }, { attempt: 0 });
        const ids = settled.map(({ id }) => id);
        await addSettledMarks(write, ids, now(), undefined);
      });
    },
  };
}

/** How long the start of a turn is tried. */
const startMs = 30_000;
