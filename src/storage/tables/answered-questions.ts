/** What a user has answered, and how the calls ended that asked. */
import type { Kysely } from 'kysely';
import { toolEventKey } from '../../turn/call-result.ts';
import type { ToolOutcome } from '../../turn/event.ts';
import { eventFromRow } from '../log/coded-rows.ts';
import { fromColumn, keyOf } from '../log/append.ts';
import type { ElicitationRow } from '../schema/question-tables.ts';
import type { Tables } from '../schema.ts';
import { toElicitation } from './elicitation-rows.ts';
import type { AskedOf } from './open-questions.ts';

export interface AnsweredRow {
  question: ElicitationRow;
  /** Null: it belongs to no call, or its call is not known any more. */
  end: ToolOutcome | 'running' | null;
}

const mostShown = 50;

export async function answeredQuestionsOf(
  query: Kysely<Tables>,
  { tenant, user }: AskedOf,
): Promise<AnsweredRow[]> {
  const rows = await query
    .selectFrom('elicitations')
    .selectAll()
    .where(({ and }) => and({ tenant, user_id: user }))
    .where('status', 'in', ['accept', 'decline'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(mostShown)
    .execute();
  const questions = rows.map(toElicitation);
  const ends = await endsOfCalls(query, questions);
  return questions.map((question) => ({ question, end: ends.get(nameOf(question)) ?? null }));
}

type Call = Pick<ElicitationRow, 'turnId' | 'request'>;

function nameOf({ turnId, request: { context } }: Call): string {
  return `${turnId} ${context.toolCallId ?? ''}`;
}

async function endsOfCalls(
  query: Kysely<Tables>,
  questions: Call[],
): Promise<Map<string, ToolOutcome | 'running'>> {
  if (questions.length === 0) return new Map();
  const calls = await query
    .selectFrom('tool_calls')
    .select(['turn_id', 'tool_call_id', 'state', 'delegation'])
    .where(({ or, and }) =>
      or(
        questions.map(({ turnId, request }) =>
          and({ turn_id: turnId, tool_call_id: request.context.toolCallId ?? '' }),
        ),
      ),
    )
    .execute();
  const named = calls.map(({ turn_id: turnId, tool_call_id: id, state, delegation }) => ({
    name: `${turnId} ${id}`,
    turnId,
    key: keyOf(fromColumn(delegation).delegation?.toolCallId, toolEventKey(id)),
    state,
  }));
  const finished = named.filter(({ state }) => state === 'finished');
  const events =
    finished.length === 0
      ? []
      : await query
          .selectFrom('turn_events')
          .select(['turn_id', 'key', 'event'])
          .where(({ or, and }) => or(finished.map(({ turnId, key }) => and({ turn_id: turnId, key }))))
          .execute();
  const ends = new Map<string, ToolOutcome | 'running'>();
  for (const { name, turnId, key, state } of named) {
    const row = events.find((event) => event.turn_id === turnId && event.key === key);
    const end = state === 'finished' ? row && outcomeIn(row.event) : 'running';
    if (end !== undefined) ends.set(name, end);
  }
  return ends;
}

function outcomeIn(row: string): ToolOutcome | undefined {
  const event = eventFromRow(row);
  if (event.type === 'tool-output-available') return 'ok';
  return event.type === 'tool-output-error' ? (event.outcome ?? 'failed') : undefined;
}
