/** When a run ends because the turn waits for people, and its questions as interrupts. Pure. */
import { isApproval } from '@interlude-ai/core/elicitation/approval.ts';
import { isWaitingFor } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { FoldedTurn, ItemOf } from '../../turn/fold-turn.ts';

/**
 * Whether every agent of the turn waits for a person: it has called tools, and each call waits for one of these questions, or is
 * a delegate that waits.
 */
export function isPaused({ items, end }: FoldedTurn, pending: readonly ElicitationEvent[]): boolean {
  if (end) return false;
  const isCallOpen = (item: (typeof items)[number]): item is ItemOf<'call'> =>
    item.type === 'call' && item.endedAt === null;
  const waits = (agent: string | undefined): boolean => {
    const own = items.filter(({ parentToolCallId }) => parentToolCallId === agent);
    if (own.some(({ type, endedAt }) => type === 'step' && endedAt === null)) return false;
    const calls = own.filter(isCallOpen);
    const isWaiting = ({ id, call }: ItemOf<'call'>) =>
      pending.some(({ context }) => isWaitingFor(context, call)) || (call.agent !== undefined && waits(id));
    return calls.length > 0 && calls.every(isWaiting);
  };
  return waits(undefined);
}

export interface Interrupt {
  id: string;
  reason: string;
  message: string;
  toolCallId?: string;
  responseSchema?: Record<string, unknown>;
  expiresAt?: string;
  subagentRunId?: string;
  metadata: { interlude: Record<string, unknown> };
}

export interface Asking {
  /** Where the person can answer, signed in. */
  page: string;
  /** A client of before 1.0 refuses every run of the thread once an interrupt has expired, so the time is in the metadata only. */
  isOld: boolean;
  /** What was wrong with the last answer. */
  errors: string | undefined;
}

export function toInterrupt(
  question: ElicitationEvent,
  { items }: FoldedTurn,
  { page, isOld, errors }: Asking,
): Interrupt {
  const { elicitationId: id, mode, message, context, expiresAt } = question;
  const { trigger: reason, toolCallId } = context;
  const call = items.find((item) => item.type === 'call' && item.id === toolCallId);
  const subagentRunId = call?.parentToolCallId;
  const schema = mode === 'form' ? { responseSchema: responseSchemaOf(question) } : {};
  const address = mode === 'url' ? { url: question.url } : {};
  const interlude = { mode, ...address, page, expiresAt, context, ...(errors !== undefined && { errors }) };
  return {
    id,
    reason,
    message,
    ...(toolCallId !== undefined && { toolCallId }),
    ...schema,
    ...(!isOld && { expiresAt }),
    ...(subagentRunId !== undefined && { subagentRunId }),
    metadata: { interlude },
  };
}

function responseSchemaOf(question: Extract<ElicitationEvent, { mode: 'form' }>): Record<string, unknown> {
  return isApproval(question.context) ? approvalSchema : question.requestedSchema;
}

const approvalSchema = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', title: 'Approve' },
    remember: {
      type: 'string',
      enum: ['conversation', 'always'],
      title: 'Approve the next calls too',
      description: 'Only with approval; absent: this call only',
    },
    reason: { type: 'string', maxLength: 1_000, title: 'Why not', description: 'Only without approval' },
  },
  required: ['approved'],
};
