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

const selectTurn = compileOnce((query, { turnId }: OfTurn) =>
  query
    .selectFrom('turns')
    .select(['tenant', 'conversation', 'user_id', 'agent', 'created_at', 'ended_at', 'trace_parent'])
    .select(({ exists, selectFrom }) => [
      exists(
        selectFrom('elicitations').select('id').whereRef('elicitations.turn_id', '=', 'turns.turn_id'),
      ).as('has_asked'),
      exists(
        selectFrom('tool_calls')
          .select('tool_call_id')
          .whereRef('tool_calls.turn_id', '=', 'turns.turn_id')
          .where('delegation', 'is not', null),
      ).as('has_delegated'),
    ])
    .where('turn_id', '=', turnId)
    .compile(),
);
/** One row for each call that waits for a question. */
const selectQuestions = compileOnce((query, { turnId }: OfTurn) =>
  query
    .selectFrom('elicitations')
    .leftJoin('question_waiters', 'question_waiters.elicitation_id', 'elicitations.id')
    .leftJoin('tool_calls', (join) =>
      join
        .onRef('tool_calls.turn_id', '=', 'elicitations.turn_id')
        .onRef('tool_calls.tool_call_id', '=', 'question_waiters.tool_call_id'),
    )
    .select([
      'elicitations.id',
      'elicitations.created_at as asked_at',
      'elicitations.settled_at',
      'tool_calls.delegation',
    ])
    .where('elicitations.turn_id', '=', turnId)
    .compile(),
);
const selectCalls = compileOnce((query, { turnId }: OfTurn) =>
  query
    .selectFrom('tool_calls')
    .select(['tool_call_id', 'delegation', 'created_at'])
    .where('turn_id', '=', turnId)
    .compile(),
);
const takePhase = compileOnce((write, { turnId, phase }: OfTurn & { phase: string }) =>
  write
    .updateTable('turns')
    .set({ traced_phase: phase })
    .where('turn_id', '=', turnId)
    .where((row) => row.or([row('traced_phase', 'is', null), row('traced_phase', '!=', phase)]))
    .compile(),
);
const takePhaseOfDelegate = compileOnce(
  (write, { turnId, delegate, phase }: OfTurn & { delegate: string; phase: string }) =>
    write
      .updateTable('tool_calls')
      .set({ traced_phase: phase })
      .where('turn_id', '=', turnId)
      .where('tool_call_id', '=', delegate)
      .where((row) => row.or([row('traced_phase', 'is', null), row('traced_phase', '!=', phase)]))
      .compile(),
);

const none = { rows: [] };

export function createTurnTraces({ query, now }: Pick<Database, 'query' | 'now'>): TurnTraces {
  return {
    async read({ turnId, delegation }) {
      const {
        rows: [row],
      } = await selectTurn(query, { turnId });
      if (!row || row.trace_parent === null) return null;
      // Most turns have neither.
      const [questions, calls] = await Promise.all([
        row.has_asked ? selectQuestions(query, { turnId }) : none,
        row.has_delegated || delegation ? selectCalls(query, { turnId }) : none,
      ]);
      return {
        tenant: row.tenant,
        conversation: row.conversation,
        turnId,
        agent: row.agent,
        user: row.user_id,
        traceParent: row.trace_parent,
        startedAt: row.created_at,
        endedAt: row.ended_at,
        readAt: now(),
        questions: toQuestions(questions.rows),
        delegates: toDelegates(calls.rows, delegation),
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
    async take({ turnId }, delegate, phase) {
      const { numAffectedRows } =
        delegate === null
          ? await takePhase(query, { turnId, phase })
          : await takePhaseOfDelegate(query, { turnId, delegate, phase });
      return Number(numAffectedRows) > 0;
    },
  };
}

interface WaitedFor {
  id: string;
  asked_at: number;
  settled_at: number | null;
  delegation: string | null;
}

function toQuestions(rows: WaitedFor[]): TracedQuestion[] {
  return [...Map.groupBy(rows, ({ id }) => id)].flatMap(([id, [row, ...others]]) => {
    if (!row) return [];
    const agents = [row, ...others].map(
      ({ delegation }) => fromColumn(delegation).delegation?.toolCallId ?? null,
    );
    return { id, askedAt: row.asked_at, settledAt: row.settled_at, agents };
  });
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
