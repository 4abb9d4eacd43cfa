/**
 * What follows from the outcome of one request of a tool call: the attempt ends, or another request is sent. The outcome
 * itself says whether the tool did not run or whether that is unknown; this file adds what was sent before.
 */
import type { Credential } from '../../credentials/credential-store.ts';
import type { RemoteTask } from '@interlude-ai/core/mcp/input-required.ts';
import type { CallOutcome, Continuation } from '../../remote/remote-servers.ts';
import { serverRefused } from '../../platform/telemetry/metrics/instruments.ts';
import { failCurrentCall } from '../../platform/telemetry/traces/agent-spans.ts';
import type { CallRemark } from '../../turn/call-failure.ts';
import type { ServerTrouble } from '../../turn/server-trouble.ts';
import type { McpResult } from '../../turn/tool-content.ts';
import { isApproval } from '../approval.ts';
import { isTurnEnding, isWorkerShuttingDown, stopped, stopSignal } from '../running-activity.ts';
import { keepTrying } from '../tool-results.ts';
import { afterRefusal, askForAccount, rejectCredential, stillRefused } from './account.ts';
import { failCall, finishCall, retryLater } from './attempt.ts';
import type { AttemptEnd, CallParts, ServerAttempt } from './attempt.ts';
import type { Round } from './rounds.ts';
import { keepRound } from './server-rounds.ts';

/** One request of an attempt, and what it continues. */
export interface CallRequest {
  credential: Credential;
  continuation: Continuation | undefined;
  /** The latest round that was answered when the attempt began. */
  answered: Round | undefined;
  /** Its credential has just replaced a refused one. */
  isRenewed: boolean;
  /** The call was started over, because the server had lost its state. */
  isRestarted: boolean;
}

export interface SentRequest {
  outcome: CallOutcome;
  /** The server asked something while the connection was open. */
  hasAsked: boolean;
  /** The task that a remote agent began in this request. */
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

/** How often a repeatable call is repeated before its outcome is reported as unknown. */
const mostRepeats = 2;
/** How long to retry writing a result while the database is down: no other attempt could know it. */
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
      // A missing list was fetched when the request was sent.
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
        return failCall(parts, attempt, 'failed', failedBy(outcome));
      await parts.storage.toolCalls.release(input.turn, input.toolCallId, attempt.by);
      return next(request, { continuation: undefined, isRestarted: true });
    case 'rejected':
      return failCall(parts, attempt, 'tool_error', failedBy(outcome), {
        remark: await remarkOn(parts, attempt, request),
      });
    case 'unaskable':
      return failCall(parts, attempt, 'not_asked', outcome.failure, {
        remark: input.turn.user === null ? { code: 'no_user' } : undefined,
      });
    case 'unknown':
      return concludeUnknown(parts, attempt, request, outcome);
    default:
      return outcome satisfies never;
  }
}

function failedBy({ trouble }: { trouble: ServerTrouble }) {
  return { code: 'server_trouble', trouble } as const;
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

/** Whether a doubtful refusal is about the account. For it a credential is renewed once, and a person asked once. */
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
      // Servers also answer 400 to wrong arguments, but then a list of tools succeeds.
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
  outcome: Of<'unreachable'>,
): Promise<AttemptEnd> {
  const { input, by, server } = attempt;
  const { turn, toolCallId } = input;
  // An earlier request may have reached the server: then the state stays.
  if (isFirst) await parts.storage.toolCalls.release(turn, toolCallId, by);
  // The end of the turn writes the result, and marks unsent answers as unused.
  if (isFirst && isTurnEnding()) return stopped();
  const hasAsked = (await parts.rounds.list(turn, toolCallId)).length > 0;
  // Nothing was sent, and a person has answered: wait in case the server is only being restarted.
  const retry = {
    message: `${server.title} could not be reached; the answers are sent later.`,
    type: 'ServerNotReached',
  } as const;
  const later = hasAsked ? await retryLater(parts, attempt, retry) : null;
  if (later) return later;
  if (!isFirst) return failCall(parts, attempt, lostOutcome(), unknownOutcome(server, outcome));
  const isNew = answered === undefined || answered.resume.kind === 'again';
  return failCall(
    parts,
    attempt,
    'unreachable',
    isNew ? { ...failedBy(outcome), note: 'not_run' } : { code: 'interrupted', trouble: outcome.trouble },
  );
}

async function concludeUnknown(
  parts: CallParts,
  attempt: ServerAttempt,
  request: Sent,
  outcome: Of<'unknown'>,
): Promise<AttemptEnd> {
  const { server, isRepeatable } = attempt;
  const { continuation, task } = request;
  const goesOn = task !== undefined || ['detached', 'task'].includes(continuation?.resume.kind ?? '');
  // Another worker goes on. This does not count as an attempt, so that any number of deploys may happen.
  if ((goesOn || isRepeatable) && isWorkerShuttingDown() && !isTurnEnding()) return { kind: 'later' };
  // A lost connection or a restart on either side: repeat what may be repeated.
  const retry = {
    message: `${server.title} did not answer; the call may be repeated.`,
    type: 'ToolOutcomeUnknown',
    most: mostRepeats,
  } as const;
  const later = isRepeatable ? await retryLater(parts, attempt, retry) : null;
  if (later) return later;
  const remark = await remarkOn(parts, attempt, request);
  return failCall(parts, attempt, lostOutcome(), unknownOutcome(server, outcome), { remark });
}

function unknownOutcome({ title }: ServerAttempt['server'], { trouble }: { trouble: ServerTrouble }) {
  return { code: 'unknown_outcome', server: title, trouble } as const;
}

/** The outcome of a request whose answer is missing. */
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
): Promise<CallRemark | undefined> {
  if (answered === undefined && !hasAsked) return undefined;
  const questions = await storage.elicitations.ofCall(input.turn, input.toolCallId);
  const asked = questions.filter(({ question }) => question.server === null && !isApproval(question));
  // If the server itself gave up, its result says so.
  const expired = asked.filter(({ question }) => question.status === 'expired' && question.because === null);
  if (expired.length === 0) return undefined;
  return {
    code: 'questions_expired',
    server: server.title,
    expired: expired.length,
    asked: asked.length,
  };
}
