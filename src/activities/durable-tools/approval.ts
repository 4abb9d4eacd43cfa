/** Approvals of tools in TypeScript: before such a tool is begun, and when it is. */
import { activityInfo } from '@temporalio/activity';
import { sealDigest } from '../../credentials/sealing/sealed-digest.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { isShowable, ownTool } from '../../elicitation/approval.ts';
import {
  approvalRefusedForModel,
  notAsApprovedForModel,
  tooLongToApproveForModel,
} from '../../elicitation/approval-wording.ts';
import type { ToolCallRow } from '../../storage/ports/tool-calls.ts';
import type { Storage } from '../../storage/storage.ts';
import type { DurableCallPermit, GivenApproval } from '../../turn/tool-call.ts';
import type { Turn } from '../../turn/turn.ts';
import { isAsApproved } from '../approved-call.ts';
import type { ApprovalParts } from '../approved-call.ts';
import { finishToolCall } from '../tool-results.ts';

interface PermitParts {
  storage: Pick<Storage, 'toolCalls' | 'approvals'>;
  keys: KeyRing;
}

/** Of a call whose agent wants it approved. */
export async function permitCall(
  { storage, keys }: PermitParts,
  turn: Turn,
  call: ToolCallRow,
): Promise<DurableCallPermit> {
  if (call.state === 'finished') return { kind: 'finished' };
  const { tenant, user, conversation, agent, turnId } = turn;
  const { toolName, toolCallId } = call;
  if (user === null) {
    const text = approvalRefusedForModel('no-user', toolName, null);
    await finishToolCall(storage, turn, call, { kind: 'error', text });
    return { kind: 'finished' };
  }
  const tool = ownTool(agent, toolName);
  if (await storage.approvals.isRemembered({ ...tool, tenant, user, conversation }))
    return { kind: 'permitted' };
  if (!isShowable(call.input)) {
    const text = tooLongToApproveForModel(toolName, null);
    await finishToolCall(storage, turn, call, { kind: 'error', text });
    return { kind: 'finished' };
  }
  const digest = sealDigest(keys, { turnId, toolCallId }, subjectOf(turn, call));
  return {
    kind: 'approval-required',
    user,
    ask: { kind: 'tool-approval', tool: toolName, toolCallId, digest },
  };
}

/** Where it is not what was approved, the model is told, and nobody may begin it. */
export async function endUnlessAsApproved(
  parts: ApprovalParts & { storage: Pick<Storage, 'toolCalls'> },
  turn: Turn,
  call: ToolCallRow,
  approval: GivenApproval,
): Promise<'approved' | 'ended'> {
  const { toolCallId, toolName: tool, input } = call;
  const checked = {
    turn,
    toolCallId,
    workflowId: askedIn(toolCallId),
    server: undefined,
    tool,
    input,
    subject: subjectOf(turn, call),
    remembered: ownTool(turn.agent, tool),
  };
  if (await isAsApproved(parts, checked, approval)) return 'approved';
  await finishToolCall(parts.storage, turn, call, { kind: 'error', text: notAsApprovedForModel(null) });
  return 'ended';
}

/** The agent's workflow, under which the tool's is named. */
function askedIn(toolCallId: string): string | undefined {
  const own = activityInfo().workflowExecution?.workflowId;
  const end = `/tool/${toolCallId}`;
  return own?.endsWith(end) ? own.slice(0, -end.length) : undefined;
}

function subjectOf({ agent }: Turn, { toolName, input }: ToolCallRow): unknown {
  return { agent, tool: toolName, arguments: input };
}
