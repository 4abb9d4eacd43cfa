/**
 * What follows from the outcome of one request of a tool call: the attempt ends, or another request goes out. The line
 * between "did not run" and "unknown" is drawn by the outcome itself; what has been sent before counts here.
 */
import { nobodyToAskForModel } from '../../elicitation/model-question.ts';
import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import { interruptedForModel, unknownOutcomeForModel } from '../../elicitation/wording.ts';
import type { CallOutcome } from '../../remote/tool-call.ts';
import type { AttemptResult } from '../../turn/tool-call.ts';
import type { McpResult } from '../../turn/tool-result.ts';
import { isTurnEnding, isWorkerShuttingDown } from '../stop-signal.ts';
import { finishCall } from './attempt.ts';
import type { CallServerParts, ServerAttempt, ToolRequest } from './attempt.ts';
import { askToConnect, rejectCredential, stillRefused } from './connection-required.ts';
import { remarkOnExpired } from './expired-questions.ts';
import { keepPause } from './keep-pause.ts';
import { mayRetryLater, retryLater } from './retry-later.ts';
import type { SentRequest } from './send-request.ts';

export interface NextRequest {
  kind: 'next-request';
  request: ToolRequest;
}

/** `isFirst`: no earlier request can have reached the server. */
export type ConcludedRequest = ToolRequest & SentRequest & { isFirst: boolean };
type Of<Kind extends CallOutcome['kind']> = Extract<CallOutcome, { kind: Kind }>;

/** How often a call that may be repeated is made before its outcome is left unknown. */
const maxAttempts = 3;

export async function concludeRequest(
  parts: CallServerParts,
  attempt: ServerAttempt,
  request: ConcludedRequest,
): Promise<NextRequest | AttemptResult> {
  const { input, server } = attempt;
  const { outcome } = request;
  switch (outcome.kind) {
    case 'result':
      // A first list was fetched as soon as the request had left.
      if (attempt.listed?.isOwn && parts.catalogue.needsRefresh(attempt.listed, 'old'))
        void parts.catalogue.refresh(input.turn, server, request.credential);
      return finishCall(parts, attempt, outcome.result as McpResult, {
        remark: await remarkOn(parts, attempt, request),
      });
    case 'asks': {
      const kept = await keepPause(parts, attempt, request, outcome.pause);
      return kept.kind === 'answered'
        ? next(request, { continuation: kept.continuation, isRenewed: false })
        : kept;
    }
    case 'refused':
      return renewCredential(parts, attempt, request, outcome);
    case 'unreachable':
      return concludeUnreachable(parts, attempt, request, outcome);
    case 'state-expired':
      if (request.continuation === undefined || request.isRestarted)
        return finishCall(parts, attempt, outcome.message);
      await parts.storage.toolCalls.release(input.turn, input.toolCallId, attempt.by);
      return next(request, { continuation: undefined, isRestarted: true });
    case 'rejected':
      return finishCall(parts, attempt, outcome.message, {
        remark: await remarkOn(parts, attempt, request),
      });
    case 'unaskable':
      return finishCall(parts, attempt, outcome.message, {
        remark: input.turn.user === null ? nobodyToAskForModel : undefined,
      });
    case 'unknown':
      return concludeUnknown(parts, attempt, request, outcome);
    default:
      return outcome satisfies never;
  }
}

function next(request: ToolRequest, changed: Partial<ToolRequest>): NextRequest {
  const { credential, continuation, answered, isRenewed, isRestarted } = { ...request, ...changed };
  return { kind: 'next-request', request: { credential, continuation, answered, isRenewed, isRestarted } };
}

async function renewCredential(
  parts: CallServerParts,
  attempt: ServerAttempt,
  request: ConcludedRequest,
  refused: Of<'refused'>,
): Promise<NextRequest | AttemptResult> {
  const { turn, toolCallId } = attempt.input;
  await parts.storage.toolCalls.release(turn, toolCallId, attempt.by);
  const renewed = await rejectCredential(parts, attempt, request.credential, refused);
  if (renewed.kind === 'connection-required') return askToConnect(parts, attempt, renewed);
  if (request.isRenewed) return stillRefused(parts, attempt);
  const { task } = request;
  const begun = task && { resume: { kind: 'task' as const, task }, answers: [] };
  return next(request, {
    credential: renewed,
    isRenewed: true,
    continuation: request.continuation ?? begun,
  });
}

async function concludeUnreachable(
  parts: CallServerParts,
  attempt: ServerAttempt,
  { isFirst, answered }: ConcludedRequest,
  { message }: Of<'unreachable'>,
): Promise<AttemptResult> {
  const { input, by, server } = attempt;
  const { turn, toolCallId } = input;
  // Of an earlier attempt that did reach it, nothing is known.
  if (isFirst) await parts.storage.toolCalls.release(turn, toolCallId, by);
  const hasAsked = (await parts.rounds.list(turn, toolCallId)).length > 0;
  // Nothing was sent yet, and somebody has answered: a server that is only being restarted is waited for.
  if (hasAsked && mayRetryLater())
    throw retryLater(`${server.title} could not be reached; the answers are sent later.`, 'ServerNotReached');
  if (!isFirst) return finishCall(parts, attempt, unknownOutcomeForModel(server.title, message));
  const isNew = answered === undefined || answered.resume.kind === 'again';
  return finishCall(
    parts,
    attempt,
    isNew ? `${message} The tool did not run.` : interruptedForModel(message),
  );
}

async function concludeUnknown(
  parts: CallServerParts,
  attempt: ServerAttempt,
  request: ConcludedRequest,
  { message }: Of<'unknown'>,
): Promise<AttemptResult> {
  const { input, server, isRepeatable } = attempt;
  const { continuation, task } = request;
  const goesOn = task !== undefined || ['detached', 'task'].includes(continuation?.resume.kind ?? '');
  if (goesOn && isWorkerShuttingDown())
    throw ApplicationFailure.retryable(`The call to ${server.title} goes on elsewhere.`, 'WorkerLeaving');
  // A lost connection, a restart on either side: what may be repeated is, by the activity's retry.
  if (isRepeatable && activityInfo().attempt < maxAttempts && !isTurnEnding())
    throw ApplicationFailure.retryable(
      `${server.title} did not answer; the call may be repeated.`,
      'ToolOutcomeUnknown',
    );
  const { turn, toolCallId } = input;
  parts.logger.warn(
    { server: server.name, turnId: turn.turnId, toolCallId },
    'outcome of a tool call is unknown',
  );
  const words = unknownOutcomeForModel(server.title, message);
  return finishCall(parts, attempt, words, { remark: await remarkOn(parts, attempt, request) });
}

/** Only a call that has asked can have questions that ran out. */
async function remarkOn(
  parts: CallServerParts,
  { input, server }: ServerAttempt,
  { answered, hasAsked }: ConcludedRequest,
): Promise<string | undefined> {
  if (answered === undefined && !hasAsked) return undefined;
  const { turn, toolCallId } = input;
  return remarkOnExpired(parts, { turn, toolCallId, title: server.title });
}
