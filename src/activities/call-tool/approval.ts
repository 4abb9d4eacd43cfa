/**
 * Whether a call may be sent without, or by, a user's approval.
 *
 * An approval is good for the very call that was shown: the question names the call, and the digest that went round with
 * it has to be that of the arguments that are about to be sent.
 */
import { activityInfo } from '@temporalio/activity';
import { openAnswer } from '../../credentials/sealing/sealed-answer.ts';
import { isDigestOf, sealDigest } from '../../credentials/sealing/sealed-digest.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { needsApproval, policyFor, shownArguments } from '../../elicitation/approval.ts';
import type { ApprovalDetails } from '../../elicitation/approval.ts';
import { approvalRefusedForModel, notAsApprovedForModel } from '../../elicitation/approval-wording.ts';
import { placeOf } from '../../remote/server-name.ts';
import type { ApprovedTool } from '../../storage/ports/approvals.ts';
import type { Answer } from '../../storage/ports/elicitations.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AttemptResult, GivenApproval } from '../../turn/tool-call.ts';
import { finishCall } from './attempt.ts';
import type { CallParts, ServerAttempt } from './attempt.ts';

interface Parts extends CallParts {
  storage: Pick<Storage, 'toolCalls' | 'elicitations' | 'approvals'>;
  keys: KeyRing;
}

/** How the attempt ends where nobody has approved the call that has to; null: it may be sent. */
export async function endUnlessApproved(parts: Parts, attempt: ServerAttempt): Promise<AttemptResult | null> {
  const { input, by, call, server, known, tool } = attempt;
  const { turn, toolCallId } = input;
  if (input.approval) return endUnlessAsApproved(parts, attempt, input.approval);
  // It was sent before, which took no approval then: what has begun comes to its end.
  const hasBegun = input.round > 0 || (call.state !== 'requested' && by.attempt > 1);
  if (hasBegun || !needsApproval(policyFor(server.approval, tool), known?.annotations)) return null;
  const { user } = turn;
  if (user === null)
    return finishCall(parts, attempt, approvalRefusedForModel('no-user', call.toolName, server.title));
  const { conversation } = turn;
  if (await parts.storage.approvals.isRemembered({ ...approvedTool(attempt, user), conversation }))
    return null;
  const digest = sealDigest(parts.keys, { turnId: turn.turnId, toolCallId }, subjectOf(attempt));
  return {
    kind: 'approval-required',
    user,
    ask: { kind: 'approval', server: server.name, tool, toolCallId, digest },
  };
}

async function endUnlessAsApproved(
  parts: Parts,
  attempt: ServerAttempt,
  approval: GivenApproval,
): Promise<AttemptResult | null> {
  const { input, server, tool } = attempt;
  const { turn, toolCallId } = input;
  const { elicitationId, responseId } = approval;
  const answer =
    responseId === null ? null : await parts.storage.elicitations.answer(elicitationId, responseId);
  const mismatch = await mismatchOf(parts, attempt, approval, answer);
  if (mismatch !== null) {
    const about = { turnId: turn.turnId, toolCallId, elicitationId, server: server.name, tool, mismatch };
    parts.logger.error(about, 'a call is not what its user approved, and was not sent');
    return finishCall(parts, attempt, notAsApprovedForModel(server.title));
  }
  if (answer) await remember(parts, attempt, elicitationId, answer);
  return null;
}

/** What does not fit; null when everything does. */
async function mismatchOf(
  { storage, keys }: Parts,
  attempt: ServerAttempt,
  { elicitationId, responseId, digest }: GivenApproval,
  answer: Answer | null,
): Promise<string | null> {
  const { input, server, tool, call } = attempt;
  const { turn, toolCallId } = input;
  const row = await storage.elicitations.get(elicitationId);
  if (!row || answer?.action !== 'accept' || row.status !== 'accept' || row.responseId !== responseId)
    return 'answer';
  const { context } = row.request;
  const isOfCall =
    row.tenant === turn.tenant &&
    row.user === turn.user &&
    row.turnId === turn.turnId &&
    row.workflowId === activityInfo().workflowExecution?.workflowId &&
    context.trigger === 'approval' &&
    context.toolCallId === toolCallId &&
    context.server === server.name &&
    context.toolName === tool;
  if (!isOfCall) return 'question';
  if (context.arguments !== shownArguments(call.input)) return 'shown arguments';
  const { turnId } = turn;
  return isDigestOf(keys, { turnId, toolCallId }, subjectOf(attempt), digest) ? null : 'arguments';
}

async function remember(
  { storage, keys }: Parts,
  attempt: ServerAttempt,
  id: string,
  { sealedContent }: Answer,
): Promise<void> {
  if (sealedContent === null) return;
  const { remember: scope } = JSON.parse(openAnswer(keys, id, sealedContent)) as ApprovalDetails;
  const { user, conversation } = attempt.input.turn;
  if (scope === undefined || user === null) return;
  const where = scope === 'always' ? null : conversation;
  await storage.approvals.remember({ ...approvedTool(attempt, user), id, conversation: where });
}

/** What is approved: the same arguments at another place are another call. */
function subjectOf({ server, tool, call }: ServerAttempt): unknown {
  return { server: server.name, place: placeOf(server), tool, arguments: call.input };
}

function approvedTool({ input, server, tool }: ServerAttempt, user: string): ApprovedTool {
  return { tenant: input.turn.tenant, user, server: server.name, place: placeOf(server), tool };
}
