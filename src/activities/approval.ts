/**
 * Approvals of tool calls: whether a call needs one, the question, and whether the call is the one that was approved.
 *
 * An approval is valid only for the call that was shown: the question names the call, and the workflow keeps a digest of
 * its arguments, which must match the arguments that are about to be used.
 */
import type { Logger } from 'pino';
import type { ServerConfig } from '../platform/config/config.ts';
import { digestOf, isDigestOf, sealDigest } from '../credentials/sealing/sealed-values.ts';
import {
  isShowable,
  ownTool,
  shownArguments,
  approvalMessage,
  toolApprovalMessage,
} from '@interlude-ai/core/elicitation/approval.ts';
import type { ApprovalDetails } from '@interlude-ai/core/elicitation/approval.ts';
import { canPresent } from '@interlude-ai/core/elicitation/elicitation.ts';
import { identityOf } from '../remote/server-name.ts';
import type { ElicitationRow } from '../storage/schema/question-tables.ts';
import type { TimedQuestion } from '../storage/tables/elicitations.ts';
import type { CatalogueTool } from '../storage/schema/account-tables.ts';
import type { ToolCallRow } from '../storage/schema/turn-tables.ts';
import { aboutTurn } from '../platform/telemetry/events.ts';
import type { AskingTurn } from '../turn/ask.ts';
import type { CallAsks, GivenApproval } from '../turn/step.ts';
import type { ApprovalRefusal, CallFailure } from '../turn/call-failure.ts';
import type { ToolOutcome } from '../turn/event.ts';
import type { Turn } from '../turn/turn.ts';
import { agentContext, answerContent, asksOf, openQuestions, serverContext, toAsked } from './questions.ts';
import type { Question, QuestionParts } from './questions.ts';

export interface ApprovalParts extends QuestionParts {
  logger: Logger;
}

/** A call that a person has to approve. */
interface ApprovedCall {
  turn: Turn;
  call: ToolCallRow;
  /** Absent for a tool in TypeScript, whose name is that of the call. */
  at?: {
    server: ServerConfig;
    tool: string;
    /** As the server listed it. Undefined for a tool that it has not listed, and for a remote agent. */
    listed: CatalogueTool | undefined;
  };
}

type Approval =
  /** `given`: approved by an answer, which must be checked; absent when a remembered approval allows the call. */
  | { kind: 'approved'; given?: GivenApproval }
  | CallAsks
  | { kind: 'refused'; outcome: ToolOutcome; failure: CallFailure }
  /** The turn is over, or the call is finished. */
  | { kind: 'over' };

/** Opens the question if it was not asked yet. `questions`: all questions of the call. */
export async function approvalOf(
  parts: ApprovalParts,
  approved: ApprovedCall & { turn: AskingTurn },
  questions: TimedQuestion[],
  given: GivenApproval | undefined,
): Promise<Approval> {
  const { turn, call, at } = approved;
  const { toolName, toolCallId } = call;
  const title = at?.server.title ?? null;
  const refused = (why: ApprovalRefusal, reason?: string): Approval => ({
    kind: 'refused',
    outcome: why === 'decline' || why === 'cancel' || why === 'expired' ? why : 'not_asked',
    failure: { code: 'approval', why, tool: toolName, server: title, reason },
  });
  let [asked] = questions.filter(({ question }) => isApproval(question));
  if (!asked) {
    const { tenant, user, conversation, capabilities } = turn;
    if (user === null) return refused('no-user');
    const remembered = { ...rememberedAs(approved), tenant, user, conversation };
    if (await parts.storage.approvals.isRemembered(remembered)) return { kind: 'approved' };
    if (!isShowable(call.input))
      return {
        kind: 'refused',
        outcome: 'not_asked',
        failure: { code: 'approval_too_long', tool: toolName, server: title },
      };
    if (!canPresent('form', capabilities)) return refused('unsupported');
    const opened = await openQuestions(parts, { turn, toolCallId }, [approvalQuestion(parts, approved)]);
    if (opened.kind === 'over' || opened.kind === 'already-connected') return { kind: 'over' };
    if (opened.kind !== 'opened') return refused(opened.kind);
    [asked] = opened.questions;
    if (!asked) return { kind: 'over' };
  }
  const { question } = asked;
  const approval = given ?? approvalGivenIn(parts, approved, question);
  switch (question.status) {
    case 'pending':
      return asksOf([asked], approval) ?? { kind: 'over' };
    case 'accept':
      // An earlier attempt asked and its worker died: the digest must still reach the workflow.
      if (!given) return { kind: 'asks', questions: [toAsked(asked)], approval };
      return { kind: 'approved', given };
    default: {
      const details = (await answerContent(parts, question)) as ApprovalDetails | null | undefined;
      return refused(question.status, details?.reason);
    }
  }
}

/** Logs a call that is not what was approved. Stores the approval if the user wants it remembered. */
export async function isAsApproved(
  parts: ApprovalParts,
  approved: ApprovedCall,
  { elicitationId, digest, definition = '' }: GivenApproval,
): Promise<boolean> {
  const { elicitations } = parts.storage;
  const question = await elicitations.get(elicitationId);
  const responseId = question?.responseId ?? null;
  const answer = responseId === null ? null : await elicitations.recorded(elicitationId, responseId);
  const isAccepted = question?.status === 'accept' && answer?.action === 'accept';
  const mismatch = isAccepted ? mismatchOf(parts, approved, question, digest) : 'answer';
  if (mismatch !== null || !question) {
    const { turn, call, at } = approved;
    const about = {
      ...aboutTurn(turn),
      toolCallId: call.toolCallId,
      elicitationId,
      server: at?.server.name,
      toolName: at?.tool ?? call.toolName,
      mismatch,
    };
    parts.logger.error(about, 'a call is not what its user approved, and was not sent');
    return false;
  }
  await remember(parts, approved, { question, definition });
  return true;
}

/** What differs from the approved call; null if nothing does. */
function mismatchOf(
  { keys }: ApprovalParts,
  approved: ApprovedCall,
  question: ElicitationRow,
  digest: string,
): string | null {
  const { turn, call, at } = approved;
  const { toolCallId, toolName, input } = call;
  const { context } = question.request;
  const isOfCall =
    question.tenant === turn.tenant &&
    question.user === turn.user &&
    question.turnId === turn.turnId &&
    context.trigger === 'approval' &&
    context.toolCallId === toolCallId &&
    context.server === at?.server.name &&
    context.toolName === (at?.tool ?? toolName);
  if (!isOfCall) return 'question';
  if (context.arguments !== shownArguments(input)) return 'shown arguments';
  const isSame = isDigestOf(keys, { turnId: turn.turnId, toolCallId }, subjectOf(approved), digest);
  return isSame ? null : 'arguments';
}

/** `definition`: when the user was asked. Their approval is not for a description that came after it. */
async function remember(
  parts: ApprovalParts,
  approved: ApprovedCall,
  { question, definition }: { question: ElicitationRow; definition: string },
): Promise<void> {
  const details = (await answerContent(parts, question)) as ApprovalDetails | null | undefined;
  const { tenant, user } = approved.turn;
  if (details?.remember === undefined || user === null) return;
  const conversation = details.remember === 'always' ? null : approved.turn.conversation;
  await parts.storage.approvals.remember({
    ...rememberedAs(approved),
    definition,
    tenant,
    user,
    id: question.id,
    conversation,
  });
}

function approvalQuestion(parts: ApprovalParts, { turn, call, at }: ApprovedCall): Question {
  const context = at ? serverContext(parts, turn, at.server) : agentContext(parts, turn);
  const agent = context.agent ?? turn.agent;
  return {
    place: `approval/${turn.turnId}/${call.toolCallId}`,
    request: {
      mode: 'form',
      message: at
        ? approvalMessage(agent, at.server.title, at.tool)
        : toolApprovalMessage(agent, call.toolName),
      requestedSchema: { type: 'object', properties: {} },
      context: {
        ...context,
        trigger: 'approval',
        toolName: at?.tool ?? call.toolName,
        toolCallId: call.toolCallId,
        arguments: shownArguments(call.input),
      },
    },
  };
}

export function isApproval({ request }: ElicitationRow): boolean {
  return request.context.trigger === 'approval';
}

function approvalGivenIn(
  { keys }: ApprovalParts,
  approved: ApprovedCall,
  { id: elicitationId }: ElicitationRow,
): GivenApproval {
  const { turn, call } = approved;
  const digest = sealDigest(keys, { turnId: turn.turnId, toolCallId: call.toolCallId }, subjectOf(approved));
  const { definition } = rememberedAs(approved);
  return { elicitationId, digest, ...(definition !== '' && { definition }) };
}

/** The server is part of the digest: the same arguments at another server are another call. */
function subjectOf({ turn, call, at }: ApprovedCall): unknown {
  if (!at) return { agent: turn.agent, tool: call.toolName, arguments: call.input };
  const { server, tool } = at;
  return { server: server.name, place: identityOf(server), tool, arguments: call.input };
}

/** An agent's own tool is the team's code: remembered approvals survive new versions of it. */
function rememberedAs({ turn, call, at }: ApprovedCall) {
  if (!at) return { ...ownTool(turn.agent, call.toolName), definition: '' };
  const { server, tool, listed } = at;
  return { server: server.name, place: identityOf(server), tool, definition: definitionOf(listed) };
}

/** Changes when the server describes the tool differently, so that remembered approvals no longer apply. */
export function definitionOf(listed: CatalogueTool | undefined): string {
  if (!listed) return '';
  const { title = null, description = null, inputSchema, annotations = null } = listed;
  return digestOf([title, description, inputSchema, annotations]);
}
