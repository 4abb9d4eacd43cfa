/** Tool calls that the model asked for, kept so that none runs twice: every change of state is a compare-and-set. */
import type { Expression, ExpressionBuilder, SqlBool, Transaction } from 'kysely';
import type { TurnRef, Delegation } from '../../turn/turn.ts';
import { numberOf, openTo, stateUnlessRefused } from './call-attempt.ts';
import { compileOnce } from '../database.ts';
import { writeToConversation, fromColumn } from '../log/append.ts';
import { fromJson } from '../schema.ts';
import type { Tables } from '../schema.ts';
import type { Database } from '../database.ts';
import { deleteRows, findRows, insertNew } from '../statements.ts';
import { WriteRefused } from '../write-refused.ts';
import {
  announceSettled,
  lockQuestions,
  startingOver,
  stopWaiting,
  waitedForBy,
  writeSettled,
} from './settling.ts';
import type { Settled } from './settling.ts';
import { markUnused, unusedAnswers, lockCall } from './superseding.ts';
import type { NewEvent } from '../log/append.ts';
import type { StoredMessage, ToolCallRow } from '../schema/turn-tables.ts';
import type { CallAttempt } from './call-attempt.ts';

export interface UnfinishedCall extends ToolCallRow {
  /** The agent that made it; absent for the root agent. */
  delegation?: Delegation;
}

/** What the server asked during a call, and how the call continues; sealed by the caller. Numbered from 1. */
interface ToolCallRound {
  round: number;
  sealed: string;
}

/** How a call ends, for the model and for readers of the log. */
export interface CallResult {
  message: Omit<StoredMessage, 'turnId'>;
  event: NewEvent;
}

interface FinishedCall extends CallResult {
  /** An event before the call's own. */
  notice?: NewEvent;
  stoppedWith?: string[];
}

const columns = [
  'tool_call_id',
  'tool_name',
  'input',
  'state',
  'created_at',
  'attempt',
  'held_until',
] as const;

interface CallId {
  turnId: string;
  toolCallId: string;
}

/** `number`: the attempt's. */
type CallOfAttempt = CallId & { number: number };

const selectOne = compileOnce((query, { turnId, toolCallId }: CallId) =>
  query
    .selectFrom('tool_calls')
    .select(columns)
    .where(({ and }) => and({ turn_id: turnId, tool_call_id: toolCallId }))
    .compile(),
);
const updateStarted = compileOnce((query, call: CallOfAttempt) =>
  query
    .updateTable('tool_calls')
    .set({ state: 'started', attempt: call.number })
    .where(openTo(call, call.number, { isStart: true }))
    .where('state', 'in', ['requested', 'paused'])
    .compile(),
);
const updateFinishedBy = compileOnce((write, call: CallOfAttempt) =>
  write
    .updateTable('tool_calls')
    .set({ state: 'finished', attempt: call.number })
    .where(openTo(call, call.number))
    .where('state', '!=', 'finished')
    .returning(['delegation', 'has_asked'])
    .compile(),
);
const updateFinished = compileOnce((write, call: CallId) =>
  write
    .updateTable('tool_calls')
    .set({ state: 'finished' })
    .where(openTo(call, undefined))
    .where('state', '!=', 'finished')
    .returning(['delegation', 'has_asked'])
    .compile(),
);
const deleteRounds = compileOnce((write, { turnId, toolCallId }: CallId) =>
  write
    .deleteFrom('tool_call_rounds')
    .where(({ and }) => and({ turn_id: turnId, tool_call_id: toolCallId }))
    .compile(),
);

/** By turn and call id, with calls of delegated agents. A call is created with the step that asks for it. */
export function createToolCalls(database: Database) {
  const { query, notifications, now, answeringForMs } = database;
  const find = async ({ turnId }: TurnRef, toolCallId: string) => {
    const { rows } = await selectOne(query, { turnId, toolCallId });
    return rows[0];
  };

  return {
    /**
     * As `get`, for the attempt that continues it. `isHeld`: not taken, because an earlier attempt holds it. An expired hold
     * still counts until the database has responded to this process for `holdMs` without an outage, because its holder could
     * not renew it either.
     */
    async take(
      turn: TurnRef,
      toolCallId: string,
      by: CallAttempt,
      holdMs = 0,
    ): Promise<(ToolCallRow & { isHeld?: true }) | null> {
      // 0: no hold has run out.
      const ranOutBy = answeringForMs() < holdMs ? 0 : now();
      // Nothing is older than a first attempt, which leaves its number with its first write.
      const row =
        by.attempt === 1
          ? await find(turn, toolCallId)
          : await query
              .updateTable('tool_calls')
              .set({ attempt: numberOf(by) })
              .where(openTo({ ...turn, toolCallId }, numberOf(by)))
              .where(isFreeFor(numberOf(by), ranOutBy))
              .returning(columns)
              .executeTakeFirst();
      if (row && row.attempt <= numberOf(by)) return toToolCall(row);
      await stateUnlessRefused(query, turn, toolCallId, by);
      const call = await find(turn, toolCallId);
      if (!call) return null;
      const isHeld =
        call.state !== 'finished' && call.attempt < numberOf(by) && (call.held_until ?? 0) > ranOutBy;
      return { ...toToolCall(call), ...(isHeld && { isHeld }) };
    },
    /** Keeps later attempts from taking the call for this long, by the database's clock. 0 releases it. */
    async hold({ turnId }: TurnRef, toolCallId: string, ms: number, by: CallAttempt): Promise<void> {
      await query
        .updateTable('tool_calls')
        .set({ attempt: numberOf(by), held_until: ms === 0 ? null : now() + ms })
        .where(openTo({ turnId, toolCallId }, numberOf(by)))
        .where('state', '!=', 'finished')
        .execute();
    },
    async get(turn: TurnRef, toolCallId: string): Promise<ToolCallRow | null> {
      const row = await find(turn, toolCallId);
      return row ? toToolCall(row) : null;
    },
    /**
     * Compare-and-set `requested` or `paused` → `started`. False: another attempt has started it. Rejects with `WriteRefused`
     * when the turn was asked to stop, or has ended.
     */
    async start(turn: TurnRef, toolCallId: string, by: CallAttempt): Promise<boolean> {
      const { turnId } = turn;
      const { numAffectedRows } = await updateStarted(query, { turnId, toolCallId, number: numberOf(by) });
      if (Number(numAffectedRows) > 0) return true;
      await stateUnlessRefused(query, turn, toolCallId, by, { isStart: true });
      return false;
    },
    /** `started` → what it was before, for a request that certainly had no effect (refused with 401, connection refused). */
    async release(turn: TurnRef, toolCallId: string, by: CallAttempt): Promise<void> {
      const rounds = query
        .selectFrom('tool_call_rounds')
        .select('round')
        .where(({ and }) => and({ turn_id: turn.turnId, tool_call_id: toolCallId }));
      const result = await query
        .updateTable('tool_calls')
        .set(({ case: when, exists }) => ({
          state: when()
            .when(exists(rounds))
            .then<ToolCallRow['state']>('paused')
            .else<ToolCallRow['state']>('requested')
            .end(),
        }))
        .where(openTo({ ...turn, toolCallId }, numberOf(by)))
        .where('state', '=', 'started')
        .executeTakeFirst();
      if (result.numUpdatedRows === 0n) await stateUnlessRefused(query, turn, toolCallId, by);
    },
    /**
     * Returns how often the call has failed since it was requested, or since its last round. 0: another attempt has taken it over.
     * Infinity: it is finished.
     */
    async countFailure(turn: TurnRef, toolCallId: string, by: CallAttempt): Promise<number> {
      const row = await query
        .updateTable('tool_calls')
        .set(({ eb }) => ({ failures: eb('failures', '+', 1) }))
        .where(openTo({ ...turn, toolCallId }, numberOf(by)))
        .where('state', '!=', 'finished')
        .returning('failures')
        .executeTakeFirst();
      if (row) return row.failures;
      const call = await find(turn, toolCallId);
      return call && call.state !== 'finished' ? 0 : Infinity;
    },
    /**
     * Adds a round, in one transaction with `started` → `state`: `paused`, or still `started` while a connection is held.
     * Keeping a round again is a no-op; false: another process was first, and its round counts.
     */
    keepRound: (
      turn: TurnRef,
      toolCallId: string,
      { round, sealed }: ToolCallRound,
      state: 'paused' | 'started',
      by: CallAttempt,
    ): Promise<boolean> =>
      query.transaction().execute(async (write) => {
        const at = now();
        const call = await write
          .updateTable('tool_calls')
          .set({ state, failures: 0 })
          .where(openTo({ ...turn, toolCallId }, numberOf(by)))
          .where('state', '=', 'started')
          .executeTakeFirst();
        if (call.numUpdatedRows === 0n) {
          await stateUnlessRefused(write, turn, toolCallId, by);
          return false;
        }
        const row = { turn_id: turn.turnId, tool_call_id: toolCallId, round, sealed, created_at: at };
        return (await insertNew(write, 'tool_call_rounds', row, ['turn_id', 'tool_call_id', 'round'])) > 0;
      }),
    /**
     * A call's progress, with its event, in one transaction. False, and nothing is written, when it had as much progress
     * already, is finished, or belongs to another attempt.
     */
    async noteProgress(
      turn: TurnRef,
      toolCallId: string,
      progress: number,
      event: NewEvent,
      by: CallAttempt,
    ): Promise<boolean> {
      const at = now();
      const noting = query.transaction().execute(async (write) => {
        const call = await write
          .updateTable('tool_calls')
          .set({ progress })
          .where(openTo({ ...turn, toolCallId }, numberOf(by)))
          .where('state', '!=', 'finished')
          .where((row) => row.or([row('progress', 'is', null), row('progress', '<', progress)]))
          .executeTakeFirst();
        if (call.numUpdatedRows === 0n) return false;
        await writeToConversation(write, turn, { events: [event] }, at);
        return true;
      });
      const hasGrown = await noting.catch((error: unknown) => {
        if (error instanceof WriteRefused) return false;
        throw error;
      });
      if (hasGrown) notifications.announce(turn);
      return hasGrown;
    },
    /** In order. Deleted when the call is finished; if its turn ends first, when it is abandoned. */
    async rounds({ turnId }: TurnRef, toolCallId: string): Promise<ToolCallRound[]> {
      const call = { turn_id: turnId, tool_call_id: toolCallId };
      const rows = await findRows(query, 'tool_call_rounds', call, 'round');
      return rows.map(({ round, sealed }) => ({ round, sealed }));
    },
    /**
     * → `finished`, with the message for the calling model and the event for the log, in one transaction. The first finish
     * counts. Without `by` the attempt need not be the newest. The call leaves its questions: those that no other call waits
     * for are settled as withdrawn, in the same transaction.
     *
     * `stoppedWith`: the call ends without a result of its own, as do these other calls, which have not started. Accepted
     * answers that it has not used are marked as unused, unless another call has waited for them, too.
     */
    async finish(
      turn: TurnRef,
      toolCallId: string,
      result: FinishedCall,
      by?: CallAttempt,
    ): Promise<boolean> {
      const finished = await startingOver(query, (write, toLock, needs) =>
        finish(write, toLock, needs, { turn, toolCallId, result, by }, now()),
      );
      if (!finished) return false;
      notifications.announce(turn);
      announceSettled(database, finished);
      return true;
    },
    /** The calls of a turn that have rounds, also after the turn's end. */
    async withRounds({ turnId }: TurnRef): Promise<ToolCallRow[]> {
      const rows = await query
        .selectFrom('tool_calls')
        .select([...columns])
        .where('turn_id', '=', turnId)
        .where('tool_call_id', 'in', (of) =>
          of.selectFrom('tool_call_rounds').select('tool_call_id').where('turn_id', '=', turnId),
        )
        .execute();
      return rows.map(toToolCall);
    },
    /** For all calls of an ended turn, once they are abandoned. */
    async forgetRounds({ turnId }: TurnRef): Promise<void> {
      await deleteRows(query, 'tool_call_rounds', { turn_id: turnId });
    },
    /** The code that unfinished calls need, and how many need it. */
    async codeInUse(): Promise<Map<string, number>> {
      const rows = await query
        .selectFrom('tool_calls')
        .select(({ fn }) => ['code', fn.countAll<number>().as('calls')])
        .where('code', 'is not', null)
        .where('state', '<>', 'finished')
        .groupBy('code')
        .execute();
      return new Map(rows.map(({ code, calls }) => [code ?? '', Number(calls)]));
    },
    /** Also those of delegated agents. */
    async unfinished(turn: TurnRef): Promise<UnfinishedCall[]> {
      const rows = await query
        .selectFrom('tool_calls')
        .select([...columns, 'delegation'])
        .where('turn_id', '=', turn.turnId)
        .where('state', '!=', 'finished')
        .orderBy('created_at')
        .orderBy('tool_call_id')
        .execute();
      return rows.map((row) => ({ ...toToolCall(row), ...fromColumn(row.delegation) }));
    },
  };
}

/** For `where`: no earlier attempt holds the call. `ranOutBy`: holds until then have run out. */
function isFreeFor(
  number: number,
  ranOutBy: number,
): (row: ExpressionBuilder<Tables, 'tool_calls'>) => Expression<SqlBool> {
  return (row) =>
    row.or([
      row('held_until', 'is', null),
      row('held_until', '<=', ranOutBy),
      row('attempt', '=', number),
      row('state', '=', 'finished'),
    ]);
}

interface Finishing {
  turn: TurnRef;
  toolCallId: string;
  result: FinishedCall;
  by: CallAttempt | undefined;
}

/** Null: the call was finished already, or does not exist. */
async function finish(
  write: Transaction<Tables>,
  toLock: string[],
  needs: (ids: string[]) => void,
  { turn, toolCallId, result: { message, event, notice, stoppedWith }, by }: Finishing,
  at: number,
): Promise<Settled | null> {
  const { tenant, conversation, turnId } = turn;
  const questions = await lockQuestions(write, toLock);
  const before = stoppedWith && (await lockCall(write, { turnId, toolCallId }));
  const {
    rows: [row],
  } = by
    ? await updateFinishedBy(write, { turnId, toolCallId, number: numberOf(by) })
    : await updateFinished(write, { turnId, toolCallId });
  if (!row) {
    await stateUnlessRefused(write, turn, toolCallId, by);
    return null;
  }
  if (row.has_asked === 1) {
    const unused = before ? await unusedAnswers(write, turnId, [before], stoppedWith) : [];
    needs([...(await waitedForBy(write, turnId, { toolCallId })), ...unused]);
    await markUnused(write, unused);
  }
  await deleteRounds(write, { turnId, toolCallId });
  const left = await stopWaiting(write, questions, { toolCallId }, at);
  const settled = await writeSettled(write, left, { at });
  // The result goes to the agent that made the call.
  const caller = { tenant, conversation, turnId, ...fromColumn(row.delegation) };
  const events = [...(notice ? [notice] : []), event];
  await writeToConversation(write, caller, { messages: [message], events }, at);
  return settled;
}

export function toToolCall(row: {
  tool_call_id: string;
  tool_name: string;
  input: string;
  state: ToolCallRow['state'];
  created_at: number;
}): ToolCallRow {
  const { tool_call_id: toolCallId, tool_name: toolName, input, state, created_at: createdAt } = row;
  return { toolCallId, toolName, input: fromJson(input), state, createdAt };
}
