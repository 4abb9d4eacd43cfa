/** What traces need of turns. Read only where traces are on, and then by every activity of a turn. */
import type { Delegation } from '../../turn/turn.ts';
import { compileOnce } from '../compile-once.ts';
import type { Database } from '../database.ts';
import { isConversation } from '../log/append.ts';
import type { TracedDelegate, TracedQuestion, TurnTraces } from '../ports/turn-traces.ts';
import { fromColumn } from './delegation.ts';

interface OfTurn {
  turnId: string;
}

/** One row for each question of the turn and each call that waits for it; one without a question where nothing was asked. */
const selectTrace = compileOnce((query, { turnId }: OfTurn) =>
  query
    .selectFrom('turns')
    .leftJoin('elicitations', 'elicitations.turn_id', 'turns.turn_id')
    .leftJoin('question_waiters', 'question_waiters.elicitation_id', 'elicitations.id')
    .leftJoin('tool_calls', (join) =>
      join
        .onRef('tool_calls.turn_id', '=', 'turns.turn_id')
        .onRef('tool_calls.tool_call_id', '=', 'question_waiters.tool_call_id'),
    )
    .select([
      'turns.tenant',
      'turns.conversation',
      'turns.user_id',
      'turns.agent',
      'turns.created_at',
      'turns.ended_at',
      'turns.trace_parent',
      'elicitations.id as question',
      'elicitations.created_at as asked_at',
      'elicitations.settled_at',
      'tool_calls.delegation',
    ])
    .where('turns.turn_id', '=', turnId)
    .compile(),
);
const selectCalls = compileOnce((query, { turnId }: OfTurn) =>
  query
    .selectFrom('tool_calls')
    .select(['tool_call_id', 'delegation', 'created_at'])
    .where('turn_id', '=', turnId)
    .compile(),
);

export function createTurnTraces({ query, now }: Pick<Database, 'query' | 'now'>): TurnTraces {
  return {
    async read({ turnId, delegation }, delegates = []) {
      const { rows } = await selectTrace(query, { turnId });
      const [row] = rows;
      if (!row || row.trace_parent === null) return null;
      // Most turns delegate nothing.
      const isDelegating =
        delegation !== undefined || delegates.length > 0 || rows.some((one) => one.delegation !== null);
      const calls = isDelegating ? (await selectCalls(query, { turnId })).rows : [];
      return {
        tenant: row.tenant,
        conversation: row.conversation,
        turnId,
        agent: row.agent,
        user: row.user_id,
        traceParent: row.trace_parent,
        startedAt: row.created_at,
        endedAt: row.ended_at,
        now,
        questions: toQuestions(rows),
        delegates: toDelegates(calls, delegation),
      };
    },
    async latest(conversation) {
      const row = await query
        .selectFrom('turns')
        .select('trace_parent')
        .where(isConversation(conversation))
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.trace_parent ?? null;
    },
    async requestedAt({ turnId }, toolCallId) {
      const row = await query
        .selectFrom('tool_calls')
        .select('created_at')
        .where('turn_id', '=', turnId)
        .where('tool_call_id', '=', toolCallId)
        .executeTakeFirst();
      return row?.created_at ?? null;
    },
  };
}

interface WaitedFor {
  question: string | null;
  asked_at: number | null;
  settled_at: number | null;
  delegation: string | null;
}

function toQuestions(rows: WaitedFor[]): TracedQuestion[] {
  const questions = new Map<string, TracedQuestion>();
  for (const { question: id, asked_at: askedAt, settled_at: settledAt, delegation } of rows) {
    if (id === null || askedAt === null) continue;
    const agent = fromColumn(delegation).delegation?.toolCallId ?? null;
    const known = questions.get(id);
    if (known) known.agents.push(agent);
    else questions.set(id, { id, askedAt, settledAt, agents: [agent] });
  }
  return [...questions.values()];
}

/** Delegates that have called something, and `one`. */
function toDelegates(
  calls: { tool_call_id: string; delegation: string | null; created_at: number }[],
  one: Delegation | undefined,
): Map<string, TracedDelegate> {
  const delegates = new Map<string, TracedDelegate>();
  for (const of of [one, ...calls.map(({ delegation }) => fromColumn(delegation).delegation)]) {
    const by = of && calls.find(({ tool_call_id: id }) => id === of.toolCallId);
    if (!by) continue;
    delegates.set(of.toolCallId, {
      agent: of.path.at(-1) ?? '',
      startedAt: by.created_at,
      delegatedBy: fromColumn(by.delegation).delegation?.toolCallId ?? null,
    });
  }
  return delegates;
}
