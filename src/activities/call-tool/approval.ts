/** Whether a call of a server's tool may be sent without, or by, a user's approval. */
import { activityInfo } from '@temporalio/activity';
import { sealDigest } from '../../credentials/sealing/sealed-digest.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { isShowable, needsApproval, policyFor } from '../../elicitation/approval.ts';
import {
  approvalRefusedForModel,
  notAsApprovedForModel,
  tooLongToApproveForModel,
} from '../../elicitation/approval-wording.ts';
import { identityOf } from '../../remote/server-name.ts';
import type { ApprovedTool } from '../../storage/ports/approvals.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AttemptResult } from '../../turn/tool-call.ts';
import { isAsApproved } from '../approved-call.ts';
import type { CallToCheck } from '../approved-call.ts';
import { finishCall } from './attempt.ts';
import type { CallParts, ServerAttempt } from './attempt.ts';

interface Parts extends CallParts {
  storage: Pick<Storage, 'toolCalls' | 'elicitations' | 'approvals'>;
  keys: KeyRing;
}

/** How the attempt ends where nobody has approved the call that has to; null: it may be sent. */
export async function endUnlessApproved(parts: Parts, attempt: ServerAttempt): Promise<AttemptResult | null> {
  const { input, by, call, server, known, tool } = attempt;
  const { turn, toolCallId, approval } = input;
  if (approval) {
    if (await isAsApproved(parts, callToCheck(attempt), approval)) return null;
    return finishCall(parts, attempt, notAsApprovedForModel(server.title));
  }
  // It was sent before, which took no approval then: what has begun comes to its end.
  const hasBegun = input.round > 0 || (call.state !== 'requested' && by.attempt > 1);
  if (hasBegun || !needsApproval(policyFor(server.approval, tool), known?.annotations)) return null;
  const { tenant, user, conversation } = turn;
  if (user === null)
    return finishCall(parts, attempt, approvalRefusedForModel('no-user', call.toolName, server.title));
  const { approvals } = parts.storage;
  if (await approvals.isRemembered({ ...remembered(attempt), tenant, user, conversation })) return null;
  if (!isShowable(call.input))
    return finishCall(parts, attempt, tooLongToApproveForModel(call.toolName, server.title));
  const digest = sealDigest(parts.keys, { turnId: turn.turnId, toolCallId }, subjectOf(attempt));
  return {
    kind: 'approval-required',
    user,
    ask: { kind: 'approval', server: server.name, tool, toolCallId, digest },
  };
}

function callToCheck(attempt: ServerAttempt): CallToCheck {
  const { input, server, tool, call } = attempt;
  return {
    turn: input.turn,
    toolCallId: input.toolCallId,
    workflowId: activityInfo().workflowExecution?.workflowId,
    server: server.name,
    tool,
    input: call.input,
    subject: subjectOf(attempt),
    remembered: remembered(attempt),
  };
}

function subjectOf({ server, tool, call }: ServerAttempt): unknown {
  return { server: server.name, place: identityOf(server), tool, arguments: call.input };
}

function remembered({ server, tool }: ServerAttempt): Omit<ApprovedTool, 'tenant' | 'user'> {
  return { server: server.name, place: identityOf(server), tool };
}
