/**
 * Whether a live turn only waits for people, so that a new message may replace it, and which accepted answers the end of a
 * turn or a call leaves unused. Both use what was read while the turn, its pending questions and its unfinished calls are locked.
 */
import type { Transaction } from 'kysely';
import type { ElicitationRequest, Status } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ToolCallRow } from '../schema/turn-tables.ts';
import { fromJson } from '../schema.ts';
import type { Row, Tables } from '../schema.ts';
import { fromColumn } from '../log/append.ts';
import { isPostgres } from '../database.ts';

/** An unfinished call, and the questions that it has asked or shared. */
export interface OpenCall {
  toolCallId: string;
  state: ToolCallRow['state'];
  /** The call that delegated to the agent that makes this one; null: the turn's own agent makes it. */
  delegatedBy: string | null;
  questions: CallQuestion[];
  /** When the newest effect of its tool began; 0: there is none. */
  newestEffectAt: number;
}

interface CallQuestion {
  id: string;
  status: Status;
  createdAt: number;
  settledAt: number | null;
  /** Asked by a tool in TypeScript, whose code runs while it waits. */
  isOfTool: boolean;
}

interface OpenWork {
  calls: OpenCall[];
  /** An effect of a tool has begun and has not finished. */
  isEffectUnderWay: boolean;
}

/**
 * A model step is under way only if its agent has no unfinished call: then the call that delegated to it is an innermost one,
 * without a question.
 */
export function onlyWaits({ calls, isEffectUnderWay }: OpenWork): boolean {
  if (calls.length === 0 || isEffectUnderWay) return false;
  const delegating = new Set(calls.map(({ delegatedBy }) => delegatedBy));
  const innermost = calls.filter(({ toolCallId }) => !delegating.has(toolCallId));
  return (
    innermost.every(({ questions }) => questions.some(({ status }) => status === 'pending')) &&
    calls.every((call) => acceptedLast(call).length === 0)
  );
}

/**
 * The accepted answers that these calls have not used and never will, because they end now. `alsoEnding`: calls that end with
 * them and have used none. An answer that another call waits for, too, may still be used, or has been.
 */
export async function unusedAnswers(
  write: Transaction<Tables>,
  turnId: string,
  ending: AskingCall[],
  alsoEnding: string[] = [],
): Promise<string[]> {
  const { calls } = await readOpenWork(write, turnId, ending);
  const left = Map.groupBy(
    calls.flatMap((call) => notActedOn(call).map(({ id }) => ({ id, toolCallId: call.toolCallId }))),
    ({ id }) => id,
  );
  if (left.size === 0) return [];
  const waiters = await write
    .selectFrom('question_waiters')
    .select(['elicitation_id as id', 'tool_call_id as toolCallId'])
    .where('elicitation_id', 'in', [...left.keys()])
    .execute();
  const mayUse = ({ id, toolCallId }: (typeof waiters)[number]) =>
    !alsoEnding.includes(toolCallId) && left.get(id)?.every((one) => one.toolCallId !== toolCallId);
  const usable = new Set(waiters.filter(mayUse).map(({ id }) => id));
  return [...left.keys()].filter((id) => !usable.has(id));
}

/** Accepted answers that the call has not used: it has sent no request, and its tool has done nothing since. */
function notActedOn(call: OpenCall): CallQuestion[] {
  return acceptedLast(call).filter(({ isOfTool }) => isOfTool || call.state !== 'started');
}

/** Its state cannot change until the transaction ends. */
export function lockCall(
  write: Transaction<Tables>,
  { turnId, toolCallId }: { turnId: string; toolCallId: string },
): Promise<AskingCall | undefined> {
  return write
    .selectFrom('tool_calls')
    .select(['tool_call_id', 'state', 'delegation', 'has_asked'])
    .where(({ and }) => and({ turn_id: turnId, tool_call_id: toolCallId }))
    .$if(isPostgres(write), (call) => call.forNoKeyUpdate())
    .executeTakeFirst();
}

export async function markUnused(write: Transaction<Tables>, ids: string[]): Promise<void> {
  if (ids.length > 0)
    await write.updateTable('elicitations').set({ is_unused: 1 }).where('id', 'in', ids).execute();
}

/** Answers accepted since the call last asked or had an effect. */
function acceptedLast({ questions, newestEffectAt }: OpenCall): CallQuestion[] {
  const since = Math.max(newestEffectAt, ...questions.map(({ createdAt }) => createdAt));
  return questions.filter(({ status, settledAt }) => status === 'accept' && (settledAt ?? 0) >= since);
}

export type LockedCall = Pick<
  Row<'tool_calls'>,
  'tool_call_id' | 'tool_name' | 'input' | 'state' | 'delegation' | 'created_at' | 'has_asked'
>;

type AskingCall = Pick<LockedCall, 'tool_call_id' | 'state' | 'delegation' | 'has_asked'>;

function askedBy(write: Transaction<Tables>, turnId: string, calls: AskingCall[]) {
  const asking = calls.filter((call) => call.has_asked === 1).map((call) => call.tool_call_id);
  // `in` needs a list that is not empty.
  if (asking.length === 0) return [];
  return write
    .selectFrom('elicitations')
    .innerJoin('question_waiters', 'question_waiters.elicitation_id', 'elicitations.id')
    .select(['id', 'status', 'created_at', 'settled_at', 'request', 'tool_call_id', 'workflow_id'])
    .where('turn_id', '=', turnId)
    .where('tool_call_id', 'in', asking)
    .execute();
}

export async function readOpenWork(
  write: Transaction<Tables>,
  turnId: string,
  calls: AskingCall[],
): Promise<OpenWork> {
  const asked = await askedBy(write, turnId, calls);
  const effects = await write
    .selectFrom('tool_effects')
    .select(({ fn }) => ['workflow_id', 'state', fn.max('created_at').as('newest')])
    .where('turn_id', '=', turnId)
    .groupBy(['workflow_id', 'state'])
    .execute();
  return {
    calls: calls.map((call) => {
      const own = asked.filter((row) => row.tool_call_id === call.tool_call_id);
      const workflows = new Set(own.map((row) => row.workflow_id));
      const ofCall = effects.filter((row) => workflows.has(row.workflow_id));
      return {
        toolCallId: call.tool_call_id,
        state: call.state,
        delegatedBy: fromColumn(call.delegation).delegation?.toolCallId ?? null,
        questions: own.map((row) => ({
          id: row.id,
          status: row.status,
          createdAt: row.created_at,
          settledAt: row.settled_at,
          isOfTool: fromJson<ElicitationRequest>(row.request).context.trigger === 'tool_elicitation',
        })),
        newestEffectAt: Math.max(0, ...ofCall.map(({ newest }) => newest)),
      };
    }),
    isEffectUnderWay: effects.some(({ state }) => state === 'started'),
  };
}
