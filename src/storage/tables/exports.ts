/** What a person gets who wants a copy of their data: rows as they are, oldest first. */
import type { ConversationRef, TurnOwner } from '../../turn/turn.ts';
import { fromColumns } from '../columns.ts';
import type { Database } from '../database.ts';
import { isConversation } from '../log/append.ts';
import { contentFromRow } from '../log/coded-rows.ts';
import { toLogEntry } from '../log/turn-log.ts';
import { fromJson } from '../schema.ts';
import { findRows } from '../statements.ts';
import { conversationColumns } from './conversations.ts';
import type { ConversationRow } from './conversations.ts';
import { toElicitation } from './elicitation-rows.ts';
import { selectTurns, toTurn } from './turn-rows.ts';
import type { TurnRow } from './turn-rows.ts';

export function createExports({ query }: Database) {
  return {
    async conversationsOf({
      tenant,
      user,
    }: Pick<TurnOwner, 'tenant'> & { user: string }): Promise<ConversationRow[]> {
      const rows = await query
        .selectFrom('conversations')
        .select(conversationColumns)
        .where(({ and }) => and({ tenant, user_id: user }))
        .orderBy('created_at')
        .execute();
      return rows.map(fromColumns);
    },
    async turnsOf(ref: ConversationRef): Promise<TurnRow[]> {
      const rows = await selectTurns(query, ref).orderBy('turns.created_at').execute();
      return rows.map(toTurn);
    },
    async messagesOf(ref: ConversationRef, turnId: string) {
      const rows = await query
        .selectFrom('messages')
        .select(['id', 'role', 'content', 'created_at as at'])
        .where('turn_id', '=', turnId)
        .where(isConversation(ref))
        .orderBy('position')
        .execute();
      return rows.map(({ content, ...row }) => ({ ...row, content: contentFromRow(content) }));
    },
    async entriesOf(turnId: string) {
      const rows = await findRows(query, 'turn_events', { turn_id: turnId }, 'seq');
      return rows.map((row) => toLogEntry(row));
    },
    imagesOf: (turnId: string) =>
      query.selectFrom('images').select(['digest', 'data']).where('turn_id', '=', turnId).execute(),
    async callsOf(turnId: string) {
      const rows = await findRows(query, 'tool_calls', { turn_id: turnId }, 'created_at');
      return rows.map(({ tool_call_id: toolCallId, tool_name: toolName, input, state, created_at: at }) => ({
        toolCallId,
        toolName,
        input: fromJson<unknown>(input),
        state,
        at,
      }));
    },
    async questionsOf(turnId: string) {
      const rows = await findRows(query, 'elicitations', { turn_id: turnId }, 'created_at', 'id');
      return Promise.all(
        rows.map(async (row) => {
          const answers = await findRows(query, 'elicitation_answers', { elicitation_id: row.id });
          return { question: toElicitation(row), answers: answers.map(fromColumns) };
        }),
      );
    },
  };
}
