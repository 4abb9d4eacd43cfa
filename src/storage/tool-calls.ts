/** What the model asked for, kept so that no call runs twice: every change of state is a compare-and-set. */
import type { ExpressionBuilder } from 'kysely';
import type { TurnRef } from '../turn/turn.ts';
import { chunks, writeToConversation } from './conversation-write.ts';
import { columnOf, fromColumn } from './delegation.ts';
import type { ToolCallRow, ToolCalls } from './storage.ts';
import { fromJson } from './tables.ts';
import type { Database, Tables } from './tables.ts';

type State = ToolCallRow['state'];

export function createToolCalls({ query, wakeUps, now }: Database): ToolCalls {
  const select = ({ turnId }: TurnRef) =>
    query
      .selectFrom('tool_calls')
      .select(['tool_call_id', 'tool_name', 'input', 'state'])
      .where('turn_id', '=', turnId);

  const ofCall = (turn: TurnRef, toolCallId: string) => (row: ExpressionBuilder<Tables, 'tool_calls'>) =>
    row.and({ turn_id: turn.turnId, tool_call_id: toolCallId });

  return {
    async request(turn, calls) {
      const at = now();
      const delegation = columnOf(turn);
      const rows = calls.map(({ toolCallId, toolName, input }) => ({
        turn_id: turn.turnId,
        tool_call_id: toolCallId,
        tool_name: toolName,
        input: JSON.stringify(input ?? null),
        state: 'requested' as const,
        delegation,
        created_at: at,
      }));
      await query.transaction().execute(async (write) => {
        for (const chunk of chunks(rows)) {
          await write
            .insertInto('tool_calls')
            .values(chunk)
            .onConflict((conflict) => conflict.columns(['turn_id', 'tool_call_id']).doNothing())
            .execute();
        }
      });
    },
    async get(turn, toolCallId) {
      const row = await select(turn).where('tool_call_id', '=', toolCallId).executeTakeFirst();
      return row ? toToolCall(row) : null;
    },
    async start(turn, toolCallId) {
      const result = await query
        .updateTable('tool_calls')
        .set({ state: 'started' })
        .where(ofCall(turn, toolCallId))
        .where('state', 'in', ['requested', 'paused'])
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },
    async release(turn, toolCallId) {
      const rounds = query
        .selectFrom('tool_call_rounds')
        .select('round')
        .where('turn_id', '=', turn.turnId)
        .where('tool_call_id', '=', toolCallId);
      await query
        .updateTable('tool_calls')
        .set(({ case: when, exists }) => ({
          state: when().when(exists(rounds)).then<State>('paused').else<State>('requested').end(),
        }))
        .where(ofCall(turn, toolCallId))
        .where('state', '=', 'started')
        .execute();
    },
    async keepRound(turn, toolCallId, { round, sealed }, state) {
      return query.transaction().execute(async (write) => {
        const call = await write
          .updateTable('tool_calls')
          .set({ state })
          .where(ofCall(turn, toolCallId))
          .where('state', '=', 'started')
          .executeTakeFirst();
        if (call.numUpdatedRows === 0n) return false;
        const kept = await write
          .insertInto('tool_call_rounds')
          .values({ turn_id: turn.turnId, tool_call_id: toolCallId, round, sealed, created_at: now() })
          .onConflict((conflict) => conflict.columns(['turn_id', 'tool_call_id', 'round']).doNothing())
          .executeTakeFirst();
        return Number(kept.numInsertedOrUpdatedRows) > 0;
      });
    },
    async noteProgress(turn, toolCallId, progress, event) {
      const at = now();
      const hasGrown = await query.transaction().execute(async (write) => {
        const call = await write
          .updateTable('tool_calls')
          .set({ progress })
          .where(ofCall(turn, toolCallId))
          .where('state', '!=', 'finished')
          .where((row) => row.or([row('progress', 'is', null), row('progress', '<', progress)]))
          .executeTakeFirst();
        if (call.numUpdatedRows === 0n) return false;
        await writeToConversation(write, turn, { events: [event] }, at);
        return true;
      });
      if (hasGrown) wakeUps.announce(turn);
      return hasGrown;
    },
    rounds: ({ turnId }, toolCallId) =>
      query
        .selectFrom('tool_call_rounds')
        .select(['round', 'sealed'])
        .where('turn_id', '=', turnId)
        .where('tool_call_id', '=', toolCallId)
        .orderBy('round')
        .execute(),
    async finish(turn, toolCallId, { message, event, notice }) {
      const at = now();
      const finished = await query.transaction().execute(async (write) => {
        const row = await write
          .updateTable('tool_calls')
          .set({ state: 'finished' })
          .where(ofCall(turn, toolCallId))
          .where('state', '!=', 'finished')
          .returning('delegation')
          .executeTakeFirst();
        if (!row) return false;
        await write
          .deleteFrom('tool_call_rounds')
          .where('turn_id', '=', turn.turnId)
          .where('tool_call_id', '=', toolCallId)
          .execute();
        const { tenant, conversation, turnId } = turn;
        // Whoever ends the call, its result goes to the agent that made it.
        const caller = { tenant, conversation, turnId, ...fromColumn(row.delegation) };
        await writeToConversation(
          write,
          caller,
          { messages: [message], events: [...(notice ? [notice] : []), event] },
          at,
        );
        return true;
      });
      if (finished) wakeUps.announce(turn);
      return finished;
    },
    async unfinished(turn) {
      const rows = await select(turn)
        .where('state', '!=', 'finished')
        .orderBy('created_at')
        .orderBy('tool_call_id')
        .execute();
      return rows.map(toToolCall);
    },
  };
}

export function toToolCall(row: {
  tool_call_id: string;
  tool_name: string;
  input: string;
  state: ToolCallRow['state'];
}): ToolCallRow {
  const { tool_call_id: toolCallId, tool_name: toolName, input, state } = row;
  return { toolCallId, toolName, input: fromJson(input), state };
}
