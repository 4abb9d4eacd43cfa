/**
 * The model's steps, each kept once. Of several attempts at one, the newest counts: it has left its number in the
 * step's row, and what an older one still writes is refused, here or where the log is written. A first attempt leaves
 * its number only when the step is kept, because nothing can be older.
 *
 * The row of the turn is locked before the row of the step, and that before the row of its conversation.
 */
import type { Selectable, Transaction } from 'kysely';
import type { TurnRef } from '../../turn/turn.ts';
import { chunks, isConversation, stepKey, writeToConversation } from '../log/append.ts';
import { isSaidIn } from '../log/void-text.ts';
import { compileOnce } from '../compile-once.ts';
import { columnOf } from './delegation.ts';
import type { StepFinish } from '../../turn/step.ts';
import type { StepAttempt, StepStart, Steps } from '../ports/steps.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../schema.ts';
import { isOver, WriteRefused } from '../write-refused.ts';

const selectStep = compileOnce((query, { turnId, key }: { turnId: string; key: string }) =>
  query
    .selectFrom('turns')
    .leftJoin('turn_steps', (join) =>
      join.onRef('turn_steps.turn_id', '=', 'turns.turn_id').on('turn_steps.key', '=', key),
    )
    .select(['status', 'attempt', 'finish'])
    .where('turns.turn_id', '=', turnId)
    .compile(),
);
const upsertStep = compileOnce((write, row: Selectable<Tables['turn_steps']>) => {
  const { turn_id, key, attempt, finish, input_tokens, output_tokens } = row;
  const values = { attempt, finish, input_tokens, output_tokens };
  return write
    .insertInto('turn_steps')
    .values({ turn_id, key, ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['turn_id', 'key'])
        .doUpdateSet(values)
        .where('turn_steps.attempt', '<=', attempt)
        .where('turn_steps.finish', 'is', null),
    )
    .returning('key')
    .compile();
});

export function createSteps({ kind, query, notifications, now }: Database): Steps {
  return {
    begin: (turn, of) =>
      of.attempt === 1
        ? beginFirst(query, turn, of)
        : query.transaction().execute((write) => beginAgain(write, turn, of)),
    async append(turn, of, events) {
      if (events.length === 0) return;
      const at = now();
      await query.transaction().execute((write) => writeToConversation(write, turn, { events, of }, at));
      notifications.announce(turn);
    },
    async keep(turn, of, { finish, usage, messages, events, calls }) {
      const at = now();
      const before = await query.transaction().execute(async (write) => {
        if (kind === 'postgres' && calls.length > 0) await lockTurn(write, turn);
        const already = await takeRow(write, turn, of, { finish, usage });
        if (already) return already;
        const rows = calls.map(({ toolCallId, toolName, input }) => ({
          turn_id: turn.turnId,
          tool_call_id: toolCallId,
          tool_name: toolName,
          input: JSON.stringify(input ?? null),
          state: 'requested' as const,
          attempt: 0,
          has_asked: 0,
          delegation: columnOf(turn),
          created_at: at,
        }));
        for (const chunk of chunks(rows)) await write.insertInto('tool_calls').values(chunk).execute();
        await writeToConversation(write, turn, { messages, events }, at);
        return null;
      });
      if (before === null) notifications.announce(turn);
      return before;
    },
  };
}

async function beginFirst(query: Database['query'], turn: TurnRef, of: StepAttempt): Promise<StepStart> {
  const {
    rows: [row],
  } = await selectStep(query, { turnId: turn.turnId, key: stepKey(turn, of) });
  if (row?.finish) return { kind: 'kept', finish: row.finish };
  if (row && isOver(row.status)) throw new WriteRefused('turn-ended');
  if ((row?.attempt ?? 0) > of.attempt) throw new WriteRefused('newer-attempt');
  return { kind: 'begun', isRepeat: false };
}

async function beginAgain(write: Transaction<Tables>, turn: TurnRef, of: StepAttempt): Promise<StepStart> {
  const { turnId } = turn;
  const finish = await takeRow(write, turn, of, null);
  if (finish) return { kind: 'kept', finish };
  // What an older attempt is just writing is in the log when this has its lock; the next it writes sees the row.
  await write
    .updateTable('conversations')
    .set((row) => ({ created_at: row.ref('created_at') }))
    .where(isConversation(turn))
    .execute();
  const { status, said } = await write
    .selectFrom('turns')
    .select((row) => [
      'status',
      row
        .selectFrom('turn_events')
        .select((count) => count.fn.countAll<number>().as('said'))
        .where('turn_id', '=', turnId)
        .where(isSaidIn(turn, of.step))
        .as('said'),
    ])
    .where('turns.turn_id', '=', turnId)
    .executeTakeFirstOrThrow();
  if (isOver(status)) throw new WriteRefused('turn-ended');
  return { kind: 'begun', isRepeat: Number(said) > 0 };
}

/** The end of a turn closes the calls that it sees: it comes before all of this, or after. */
async function lockTurn(write: Transaction<Tables>, { turnId }: TurnRef): Promise<void> {
  await write.selectFrom('turns').select('turn_id').where('turn_id', '=', turnId).forShare().execute();
}

/** Null, or how the step ended when it is kept already. */
async function takeRow(
  write: Transaction<Tables>,
  turn: TurnRef,
  of: StepAttempt,
  kept: Pick<Parameters<Steps['keep']>[2], 'finish' | 'usage'> | null,
): Promise<StepFinish | null> {
  const key = stepKey(turn, of);
  const { rows: taken } = await upsertStep(write, {
    turn_id: turn.turnId,
    key,
    attempt: of.attempt,
    finish: kept?.finish ?? null,
    input_tokens: kept?.usage.inputTokens ?? null,
    output_tokens: kept?.usage.outputTokens ?? null,
  });
  if (taken.length > 0) return null;
  const { finish } = await write
    .selectFrom('turn_steps')
    .select('finish')
    .where('turn_id', '=', turn.turnId)
    .where('key', '=', key)
    .executeTakeFirstOrThrow();
  if (finish === null) throw new WriteRefused('newer-attempt');
  return finish;
}
