/** What traces need of turns. Read only if traces are on, and then by every activity of a turn. */
import type { ConversationRef, TurnOwner, TurnRef, Delegation } from '../../turn/turn.ts';
import { compileOnce } from '../database.ts';
import type { Database } from '../database.ts';
import { isConversation, fromColumn } from '../log/append.ts';

/** What is known of a turn's trace: where it begins, and when its agents waited for people. */
export interface TurnTrace extends ConversationRef, TurnOwner {
  turnId: string;
  agent: string;
  /** W3C's, of the turn's first span. */
  traceParent: string;
  startedAt: number;
  endedAt: number | null;
  /** By the database's clock. */
  now(): number;
  /** In no order. */
  questions: TracedQuestion[];
  /** Delegated agents, by the calls that delegated to them. */
  delegates: Map<string, TracedDelegate>;
}

export interface TracedQuestion {
  id: string;
  askedAt: number;
  settledAt: number | null;
  /** The agents that wait, or have waited, for it, by the calls that delegated to them; null: the turn's own agent. */
  agents: (string | null)[];
}

interface TracedDelegate {
  agent: string;
  startedAt: number;
  /** The call that delegated to the delegating agent; null: the turn's own agent delegates. */
  delegatedBy: string | null;
}

interface OfTurn {
  turnId: string;
}

/** One row for each question of the turn and each call that waits for it; one row without a question if there is none. */
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

export type TurnTraces = ReturnType<typeof createTurnTraces>;

export function createTurnTraces({ query, now }: Database) {
  return {
    /** Null: it is not traced. `delegates`: calls whose delegates are needed even if they have asked nothing. */
    async read({ turnId, delegation }: TurnRef, delegates: string[] = []): Promise<TurnTrace | null> {
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
    /** `traceparent` of the conversation's newest turn; null: it is not traced, or there is none. */
    async latest(conversation: ConversationRef): Promise<string | null> {
      const row = await query
        .selectFrom('turns')
        .select('trace_parent')
        .where(isConversation(conversation))
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row?.trace_parent ?? null;
    },
    /** When the model asked for the call; null: there is none. */
    async requestedAt({ turnId }: TurnRef, toolCallId: string): Promise<number | null> {
      const row = await query
        .selectFrom('tool_calls')
        .select('created_at')
        .where(({ and }) => and({ turn_id: turnId, tool_call_id: toolCallId }))
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
