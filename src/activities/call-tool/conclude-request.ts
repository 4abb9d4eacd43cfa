/**
 * What follows from the outcome of one request of a tool call: the attempt ends, or another request goes out. The line
 * between "did not run" and "unknown" is drawn by the outcome itself; what has been sent before counts here.
 */
import type { Credential } from '../../credentials/store.ts';
import { nobodyToAskForModel } from '../../elicitation/model-question.ts';
import { expiredForModel, interruptedForModel, unknownOutcomeForModel } from '../../elicitation/wording.ts';
import type { RemoteTask } from '../../remote/input-required.ts';
import type { CallOutcome, Continuation } from '../../remote/tool-call.ts';
import { serverRefused } from '../../telemetry/metrics/instruments.ts';
import { failCurrentCall } from '../../telemetry/traces/agent-spans.ts';
import type { McpResult } from '../../turn/tool-result.ts';
import { isApproval } from '../approval.ts';
import { isTurnEnding, isWorkerShuttingDown, stopped, stopSignal } from '../stop-signal.ts';
import { keepTrying } from '../tool-results.ts';
import { afterRefusal, askForAccount, rejectCredential, stillRefused } from './account.ts';
import { failCall, finishCall } from './attempt.ts';
import type { AttemptEnd, CallParts, ServerAttempt } from './attempt.ts';
import { retryLater } from './retry-later.ts';
import type { Round } from './rounds.ts';
import { keepRound } from './server-rounds.ts';

/** One request of an attempt, and where it goes on from. */
export interface CallRequest {
  credential: Credential;
  continuation: Continuation | undefined;
  /** The latest round that had its answers when the attempt began. */
  answered: Round | undefined;
  /** With a credential that has just replaced a refused one. */
  isRenewed: boolean;
  /** The call was begun anew, because the server did not know its own state any more. */
  isRestarted: boolean;
}

export interface SentRequest {
  outcome: CallOutcome;
  /** The server has asked something while the connection was open. */
  hasAsked: boolean;
  /** What a remote agent has begun in this request. */
  task?: RemoteTask;
  /** No earlier request can have reached the server. */
  isFirst: boolean;
}

export interface NextRequest {
  kind: 'next-request';
  request: CallRequest;
}

type Sent = CallRequest & SentRequest;
type Of<Kind extends CallOutcome['kind']> = Extract<CallOutcome, { kind: Kind }>;

/** How often a call is repeated that may be, before its outcome is left unknown. */
const mostRepeats = 2;
/** For the result of a call. Another attempt would not know it. */
const longestOutageMs = 10 * 60_000;

export async function concludeRequest(
  parts: CallParts,
  attempt: ServerAttempt,
  request: Sent,
): Promise<NextRequest | AttemptEnd> {
  const { input, server } = attempt;
  const { outcome } = request;
  switch (outcome.kind) {
    case 'result':
      // A first list was fetched as soon as the request had left.
      if (attempt.listed?.isOwn && parts.catalogue.needsRefresh(attempt.listed, 'old'))
        void parts.catalogue.refresh(input.turn, server, request.credential);
      return keepTrying(async () => {
        const remark = await remarkOn(parts, attempt, request);
        return finishCall(parts, attempt, outcome.result as McpResult, { remark });
      }, longestOutageMs);
    case 'asks':
      return keepRound(parts, attempt, request, outcome.pause);
    case 'refused':
      return renewCredential(parts, attempt, request, outcome);
    case 'unreachable':
      return concludeUnreachable(parts, attempt, request, outcome);
    case 'state-expired':
      if (request.continuation === undefined || request.isRestarted)
        return failCall(parts, attempt, 'failed', outcome.message);
      await parts.storage.toolCalls.release(input.turn, input.toolCallId, attempt.by);
      return next(request, { continuation: undefined, isRestarted: true });
    case 'rejected':
      return failCall(parts, attempt, 'tool_error', outcome.message, {
        remark: await remarkOn(parts, attempt, request),
      });
    case 'unaskable':
      return failCall(parts, attempt, 'not_asked', outcome.message, {
        remark: input.turn.user === null ? nobodyToAskForModel : undefined,
      });
    case 'unknown':
      return concludeUnknown(parts, attempt, request, outcome);
    default:
      return outcome satisfies never;
  }
}

function next(request: CallRequest, changed: Partial<CallRequest>): NextRequest {
  const { credential, continuation, answered, isRenewed, isRestarted } = { ...request, ...changed };
  return { kind: 'next-request', request: { credential, continuation, answered, isRenewed, isRestarted } };
}

async function renewCredential(
  parts: CallParts,
  attempt: ServerAttempt,
  request: Sent,
  refused: Of<'refused'>,
): Promise<NextRequest | AttemptEnd> {
  const { turn, toolCallId } = attempt.input;
  const { otherwise } = refused;
  const release = () => parts.storage.toolCalls.release(turn, toolCallId, attempt.by);
  if (!otherwise) await release();
  const renewed = await rejectCredential(parts, attempt, request.credential, refused);
  if (otherwise && !(await isAboutAccount(parts, attempt, request, { renewed, refused }))) {
    failCurrentCall(otherwise.kind);
    return concludeRequest(parts, attempt, { ...request, outcome: otherwise });
  }
  if (otherwise) await release();
  if (renewed.kind === 'unrelated') throw new Error('unrelated to an account without a doubt');
  serverRefused(attempt.server.name, refused.status, afterRefusal(renewed, request));
  if (renewed.kind === 'connection-required') return askForAccount(parts, attempt, renewed);
  if (request.isRenewed) return stillRefused(parts, attempt);
  const { task } = request;
  const begun = task && { resume: { kind: 'task' as const, task }, answers: [] };
  return next(request, {
    credential: renewed,
    isRenewed: true,
    continuation: request.continuation ?? begun,
  });
}

/** Whether a doubtful refusal counts as one: a credential is renewed for it, and a person is asked, once. */
async function isAboutAccount(
  { remote }: CallParts,
  { server }: ServerAttempt,
  { credential, isRenewed }: Sent,
  { renewed, refused }: { renewed: Awaited<ReturnType<typeof rejectCredential>>; refused: Of<'refused'> },
): Promise<boolean> {
  switch (renewed.kind) {
    case 'credential':
      return !isRenewed;
    case 'unrelated':
      return false;
    case 'connection-required':
      // Servers also say 400 of arguments, but not of everything.
      return (
        refused.status !== 400 || (await remote.listTools(server, credential, stopSignal())).kind !== 'tools'
      );
    default:
      return renewed satisfies never;
  }
}

async function concludeUnreachable(
  parts: CallParts,
  attempt: ServerAttempt,
  { isFirst, answered }: Sent,
  { message }: Of<'unreachable'>,
): Promise<AttemptEnd> {
  const { input, by, server } = attempt;
  const { turn, toolCallId } = input;
  // Of an earlier attempt that did reach it, nothing is known.
  if (isFirst) await parts.storage.toolCalls.release(turn, toolCallId, by);
  // The end of the turn writes the result, and marks answers that were not sent as unused.
  if (isFirst && isTurnEnding()) return stopped();
  const hasAsked = (await parts.rounds.list(turn, toolCallId)).length > 0;
  // Nothing was sent yet, and a person has answered: a server that is only being restarted is waited for.
  const retry = {
    message: `${server.title} could not be reached; the answers are sent later.`,
    type: 'ServerNotReached',
  } as const;
  const later = hasAsked ? await retryLater(parts, attempt, retry) : null;
  if (later) return later;
  if (!isFirst) return failCall(parts, attempt, lostOutcome(), unknownOutcomeForModel(server.title, message));
  const isNew = answered === undefined || answered.resume.kind === 'again';
  return failCall(
    parts,
    attempt,
    'unreachable',
    isNew ? `${message} The tool did not run.` : interruptedForModel(message),
  );
}

async function concludeUnknown(
  parts: CallParts,
  attempt: ServerAttempt,
  request: Sent,
  { message }: Of<'unknown'>,
): Promise<AttemptEnd> {
  const { server, isRepeatable } = attempt;
  const { continuation, task } = request;
  const goesOn = task !== undefined || ['detached', 'task'].includes(continuation?.resume.kind ?? '');
  // Another worker goes on. It is none of the attempts that the call has, so that any number of deploys may come.
  if ((goesOn || isRepeatable) && isWorkerShuttingDown() && !isTurnEnding()) return { kind: 'later' };
  // A lost connection, a restart on either side: what may be repeated is.
  const retry = {
    message: `${server.title} did not answer; the call may be repeated.`,
    type: 'ToolOutcomeUnknown',
    most: mostRepeats,
  } as const;
  const later = isRepeatable ? await retryLater(parts, attempt, retry) : null;
  if (later) return later;
  const text = unknownOutcomeForModel(server.title, message);
  return failCall(parts, attempt, lostOutcome(), text, { remark: await remarkOn(parts, attempt, request) });
}

/** Of a request whose answer is missing. */
export function lostOutcome(): 'stopped' | 'unknown' {
  return isTurnEnding() ? 'stopped' : 'unknown';
}

/**
 * The remark that the model reads after a server's result when questions of the call expired. MCP has no word for expiry,
 * so servers get `cancel` and report that the user dismissed the question.
 */
async function remarkOn(
  { storage }: CallParts,
  { input, server }: ServerAttempt,
  { answered, hasAsked }: Sent,
): Promise<string | undefined> {
  if (answered === undefined && !hasAsked) return undefined;
  const questions = await storage.elicitations.ofCall(input.turn, input.toolCallId);
  const asked = questions.filter(({ question }) => question.server === null && !isApproval(question));
  // A server that gave up by itself got no answer, and says so in its result.
  const expired = asked.filter(({ question }) => question.status === 'expired' && question.because === null);
  return expired.length === 0 ? undefined : expiredForModel(server.title, expired.length, asked.length);
}
