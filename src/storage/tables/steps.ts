/**
 * The model's steps, each kept once. Of several attempts at a step, the newest counts: it has left its number in the step's
 * row, and writes of older ones are refused, here or where the log is written. A first attempt leaves its number only when
 * the step is kept, because nothing can be older.
 *
 * Locks the turn's row before the step's row, and that before what the end of a turn locks, and the conversation.
 */
import type { Transaction } from 'kysely';
import type { LeftOut } from '../../turn/left-out.ts';
import type { StepFinish } from '../../turn/step.ts';
import type { TurnRef, Usage } from '../../turn/turn.ts';
import type { NewEvent, StepAttempt } from '../log/append.ts';
import type { StoredMessage, ToolCallRow } from '../schema/turn-tables.ts';
import type { Ended, Ending, EndedTurn } from './turn-end.ts';
import { chunks, isConversation, stepKey, writeToConversation, isSaidIn, columnOf } from '../log/append.ts';
import { compileOnce, isPostgres } from '../database.ts';
import { announceSettled } from './settling.ts';
import { endTurn } from './turn-end.ts';
import type { Database } from '../database.ts';
import type { Row, Tables } from '../schema.ts';
import { findRow } from '../statements.ts';
import { isOver, WriteRefused } from '../write-refused.ts';

type StepStart =
  /** `isRepeat`: an older attempt has written to the log. */
  | { kind: 'begun'; isRepeat: boolean }
  /** An older attempt has finished it, and counts. */
  | { kind: 'kept'; finish: StepFinish };

type KeptStep =
  /** `ended`: the turn has ended with it. */
  | { kind: 'kept'; ended: Ended | null }
  /** It was kept before, with this finish; nothing is written. */
  | { kind: 'known'; finish: StepFinish };

interface Kept {
  finish: StepFinish;
  usage: Usage;
  messages: Omit<StoredMessage, 'turnId'>[];
  events: NewEvent[];
  /** `code`: the code that the call needs, which has to stay until the call is finished. */
  calls: (Omit<ToolCallRow, 'state' | 'createdAt'> & { code?: string })[];
  /** Messages of the transcript, by id, of which the model is given less from now on. */
  leftOut?: ReadonlyMap<string, LeftOut>;
  /** The turn ends with the step, as completed, unless it is stopping already. The caller has to be its workflow. */
  ending?: Pick<Ending, 'resultOf'>;
}

const selectStep = compileOnce((query, { turnId, key }: { turnId: string; key: string }) =>
  query
    .selectFrom('turns')
    .leftJoin('turn_steps', (join) =>
      join.onRef('turn_steps.turn_id', '=', 'turns.turn_id').on('turn_steps.key', '=', key),
    )
    .select(['status', 'ending_at', 'attempt', 'finish'])
    .where('turns.turn_id', '=', turnId)
    .compile(),
);
const lockRunning = compileOnce((write, { turnId }: { turnId: string }) =>
  write
    .selectFrom('turns')
    .select('turn_id')
    .where(({ and }) => and({ turn_id: turnId, status: 'running' }))
    .where('ending_at', 'is', null)
    .$if(isPostgres(write), (row) => row.forNoKeyUpdate())
    .compile(),
);
const upsertStep = compileOnce((write, row: Row<'turn_steps'>) => {
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

export function createSteps(database: Database) {
  const { query, notifications, now } = database;
  return {
    /** From now on, writes of older attempts at the step are refused. */
    begin: (turn: TurnRef, of: StepAttempt): Promise<StepStart> =>
      of.attempt === 1
        ? beginFirst(query, turn, of)
        : query.transaction().execute((write) => beginAgain(write, turn, of)),
    /** As `TurnLog.append`, for an attempt at a step. */
    async append(turn: TurnRef, of: StepAttempt, events: NewEvent[]): Promise<void> {
      if (events.length === 0) return;
      const at = now();
      await query.transaction().execute((write) => writeToConversation(write, turn, { events, of }, at));
      notifications.announce(turn);
    },
    /** Everything that a step leaves behind, in one transaction. */
    async keep(turn: TurnRef, of: StepAttempt, kept: Kept): Promise<KeptStep> {
      const at = now();
      const done = await query.transaction().execute((write) => keepStep(write, turn, of, kept, at));
      if (done.kind === 'known') return done;
      notifications.announce(turn);
      const { end } = done;
      if (!end) return { kind: 'kept', ended: null };
      announceSettled(database, { questions: end.ended?.questions ?? [], marks: end.marks });
      return { kind: 'kept', ended: end.ended };
    },
  };
}

async function keepStep(
  write: Transaction<Tables>,
  turn: TurnRef,
  of: StepAttempt,
  { finish, usage, messages, events, calls, leftOut = new Map(), ending }: Kept,
  at: number,
): Promise<Extract<KeptStep, { kind: 'known' }> | { kind: 'kept'; end: EndedTurn | null }> {
  if (calls.length > 0) await lockTurn(write, turn);
  const isEnd = ending !== undefined && (await lockUnlessStopping(write, turn));
  const known = await takeRow(write, turn, of, { finish, usage });
  if (known) return { kind: 'known', finish: known };
  for (const [id, left_out] of leftOut)
    await write
      .updateTable('messages')
      .set({ left_out })
      .where(isConversation(turn))
      .where('id', '=', id)
      .execute();
  const rows = calls.map(({ toolCallId, toolName, input, code = null }) => ({
    turn_id: turn.turnId,
    tool_call_id: toolCallId,
    tool_name: toolName,
    input: JSON.stringify(input ?? null),
    state: 'requested' as const,
    attempt: 0,
    has_asked: 0,
    failures: 0,
    code,
    delegation: columnOf(turn),
    created_at: at,
  }));
  for (const chunk of chunks(rows)) await write.insertInto('tool_calls').values(chunk).execute();
  if (isEnd) {
    const end = await endTurn(write, turn, 'completed', { ...ending, messages, events, isOwn: true }, at);
    return { kind: 'kept', end };
  }
  await writeToConversation(write, turn, { messages, events }, at);
  return { kind: 'kept', end: null };
}

async function beginFirst(query: Database['query'], turn: TurnRef, of: StepAttempt): Promise<StepStart> {
  const {
    rows: [row],
  } = await selectStep(query, { turnId: turn.turnId, key: stepKey(turn, of) });
  if (row?.finish) return { kind: 'kept', finish: row.finish };
  if (row && isStopping(row)) throw new WriteRefused('turn-ended');
  if ((row?.attempt ?? 0) > of.attempt) throw new WriteRefused('newer-attempt');
  return { kind: 'begun', isRepeat: false };
}

async function beginAgain(write: Transaction<Tables>, turn: TurnRef, of: StepAttempt): Promise<StepStart> {
  const { turnId } = turn;
  const finish = await takeRow(write, turn, of, null);
  if (finish) return { kind: 'kept', finish };
  // After this lock, what an older attempt is writing is in the log, and its next write sees the row.
  await write
    .updateTable('conversations')
    .set((row) => ({ created_at: row.ref('created_at') }))
    .where(isConversation(turn))
    .execute();
  const { said, ...row } = await write
    .selectFrom('turns')
    .select((row) => [
      'status',
      'ending_at',
      row
        .selectFrom('turn_events')
        .select((count) => count.fn.countAll<number>().as('said'))
        .where('turn_id', '=', turnId)
        .where(isSaidIn(turn, of.step))
        .as('said'),
    ])
    .where('turns.turn_id', '=', turnId)
    .executeTakeFirstOrThrow();
  if (isStopping(row)) throw new WriteRefused('turn-ended');
  return { kind: 'begun', isRepeat: Number(said) > 0 };
}

/** A turn that was asked to stop begins no step, although its workflow may not know yet. */
function isStopping({ status, ending_at }: Pick<Row<'turns'>, 'status' | 'ending_at'>): boolean {
  return ending_at !== null || isOver(status);
}

/** The end of a turn closes the calls that it sees, so it has to come before all of this, or after. */
async function lockTurn(write: Transaction<Tables>, { turnId }: TurnRef): Promise<void> {
  if (!isPostgres(write)) return;
  await write.selectFrom('turns').select('turn_id').where('turn_id', '=', turnId).forShare().execute();
}

/** False: it is to be cancelled, or has ended. */
async function lockUnlessStopping(write: Transaction<Tables>, { turnId }: TurnRef): Promise<boolean> {
  const { rows } = await lockRunning(write, { turnId });
  return rows.length > 0;
}

/** Null, or the step's finish if it is kept already. */
async function takeRow(
  write: Transaction<Tables>,
  turn: TurnRef,
  of: StepAttempt,
  kept: Pick<Kept, 'finish' | 'usage'> | null,
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
  const step = await findRow(write, 'turn_steps', { turn_id: turn.turnId, key });
  if (!step?.finish) throw new WriteRefused('newer-attempt');
  return step.finish;
}
