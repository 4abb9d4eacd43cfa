/** What the model asked for, kept so that no call runs twice: every change of state is a compare-and-set. */
import type { TurnRef } from '../turn/turn.ts';
import { chunks, writeToConversation } from './conversation-write.ts';
import { columnOf, fromColumn } from './delegation.ts';
import type { ToolCallRow, ToolCalls } from './storage.ts';
import { fromJson } from './tables.ts';
import type { Database } from './tables.ts';

export function createToolCalls({ query, wakeUps, now }: Database): ToolCalls {
  const select = ({ turnId }: TurnRef) =>
    query
      .selectFrom('tool_calls')
      .select(['tool_call_id', 'tool_name', 'input', 'state'])
      .where('turn_id', '=', turnId);

  const move = async (
    { turnId }: TurnRef,
    toolCallId: string,
    from: ToolCallRow['state'],
    to: ToolCallRow['state'],
  ) => {
    const result = await query
      .updateTable('tool_calls')
      .set({ state: to })
      .where('turn_id', '=', turnId)
      .where('tool_call_id', '=', toolCallId)
      .where('state', '=', from)
      .executeTakeFirst();
    return result.numUpdatedRows > 0n;
  };

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
    start: (turn, toolCallId) => move(turn, toolCallId, 'requested', 'started'),
    async release(turn, toolCallId) {
      await move(turn, toolCallId, 'started', 'requested');
    },
    async finish(turn, toolCallId, { message, event, notice }) {
      const at = now();
      const finished = await query.transaction().execute(async (write) => {
        const row = await write
          .updateTable('tool_calls')
          .set({ state: 'finished' })
          .where('turn_id', '=', turn.turnId)
          .where('tool_call_id', '=', toolCallId)
          .where('state', '!=', 'finished')
          .returning('delegation')
          .executeTakeFirst();
        if (!row) return false;
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

function toToolCall(row: {
  tool_call_id: string;
  tool_name: string;
  input: string;
  state: ToolCallRow['state'];
}): ToolCallRow {
  const { tool_call_id: toolCallId, tool_name: toolName, input, state } = row;
  return { toolCallId, toolName, input: fromJson(input), state };
}
