/**
 * Whether a tool call is the one that its user approved, and what they want remembered of it.
 *
 * An approval is good for the very call that was shown: the question names the call, and the digest that went round with
 * it has to be that of the arguments that are about to be used.
 */
import type { Logger } from 'pino';
import { openAnswer } from '../credentials/sealing/sealed-answer.ts';
import { isDigestOf } from '../credentials/sealing/sealed-digest.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import { shownArguments } from '../elicitation/approval.ts';
import type { ApprovalDetails } from '../elicitation/approval.ts';
import type { ApprovedTool } from '../storage/ports/approvals.ts';
import type { Answer } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';
import type { GivenApproval } from '../turn/tool-call.ts';
import type { Turn } from '../turn/turn.ts';

export interface ApprovalParts {
  storage: Pick<Storage, 'elicitations' | 'approvals'>;
  keys: KeyRing;
  logger: Pick<Logger, 'error'>;
}

/** What is about to be done. */
export interface CallToCheck {
  turn: Turn;
  toolCallId: string;
  /** The workflow that has asked. */
  workflowId: string | undefined;
  /** Undefined for a tool of the agent's own. */
  server: string | undefined;
  tool: string;
  /** The arguments. */
  input: unknown;
  /** What the digest is of: the same arguments at another place are another call. */
  subject: unknown;
  /** What is kept where the user wants the tool's calls to go out without being asked. */
  remembered: Omit<ApprovedTool, 'tenant' | 'user'>;
}

/** False: it is not what was approved, which is logged. What the user wants remembered is kept. */
export async function isAsApproved(
  parts: ApprovalParts,
  call: CallToCheck,
  approval: GivenApproval,
): Promise<boolean> {
  const { elicitationId, responseId } = approval;
  const answer =
    responseId === null ? null : await parts.storage.elicitations.answer(elicitationId, responseId);
  const mismatch = await mismatchOf(parts, call, approval, answer);
  if (mismatch !== null) {
    const { turn, toolCallId, server, tool } = call;
    const about = { turnId: turn.turnId, toolCallId, elicitationId, server, tool, mismatch };
    parts.logger.error(about, 'a call is not what its user approved, and was not sent');
    return false;
  }
  if (answer) await remember(parts, call, elicitationId, answer);
  return true;
}

/** What does not fit; null when everything does. */
async function mismatchOf(
  { storage, keys }: ApprovalParts,
  { turn, toolCallId, workflowId, server, tool, input, subject }: CallToCheck,
  { elicitationId, responseId, digest }: GivenApproval,
  answer: Answer | null,
): Promise<string | null> {
  const row = await storage.elicitations.get(elicitationId);
  if (!row || answer?.action !== 'accept' || row.status !== 'accept' || row.responseId !== responseId)
    return 'answer';
  const { context } = row.request;
  const isOfCall =
    row.tenant === turn.tenant &&
    row.user === turn.user &&
    row.turnId === turn.turnId &&
    row.workflowId === workflowId &&
    context.trigger === 'approval' &&
    context.toolCallId === toolCallId &&
    context.server === server &&
    context.toolName === tool;
  if (!isOfCall) return 'question';
  if (context.arguments !== shownArguments(input)) return 'shown arguments';
  return isDigestOf(keys, { turnId: turn.turnId, toolCallId }, subject, digest) ? null : 'arguments';
}

async function remember(
  { storage, keys }: ApprovalParts,
  { turn, remembered }: CallToCheck,
  id: string,
  { sealedContent }: Answer,
): Promise<void> {
  if (sealedContent === null) return;
  const { remember: scope } = JSON.parse(openAnswer(keys, id, sealedContent)) as ApprovalDetails;
  const { tenant, user } = turn;
  if (scope === undefined || user === null) return;
  const conversation = scope === 'always' ? null : turn.conversation;
  await storage.approvals.remember({ ...remembered, tenant, user, id, conversation });
}
