/**
 * An attempt at a server's tool: its approval, then requests, until one of them decides how the attempt ends. Nothing is
 * sent twice unless the tool is declared repeatable, or the server certainly did nothing with the first request.
 */
import type { Credential } from '../../credentials/credential-store.ts';
import { needsApproval, policyFor } from '@interlude-ai/core/elicitation/approval.ts';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { RemoteTask } from '@interlude-ai/core/mcp/input-required.ts';
import type { CallOutcome, Continuation } from '../../remote/remote-servers.ts';
import { toolExecuted } from '../../platform/telemetry/metrics/instruments.ts';
import { failCurrentCall } from '../../platform/telemetry/traces/agent-spans.ts';
import { toolError } from '../../platform/telemetry/traces/names.ts';
import type { Turn } from '../../turn/turn.ts';
import { approvalOf, isApproval, isAsApproved } from '../approval.ts';
import { isWorkerShuttingDown, stopSignal } from '../running-activity.ts';
import { createQuestionsDuringCall } from './ask-during-call.ts';
import { failCall, recordEffect } from './attempt.ts';
import type { AttemptEnd, CallParts, ServerAttempt } from './attempt.ts';
import { createCallNotifications } from './call-notifications.ts';
import { concludeRequest, lostOutcome } from './conclude-request.ts';
import type { CallRequest, NextRequest, SentRequest } from './conclude-request.ts';
import { toRound } from './rounds.ts';
import type { Round } from './rounds.ts';

/** How the attempt ends if a person must approve the call and has not; null if it may be sent. */
export async function endUnlessApproved(
  parts: CallParts,
  attempt: ServerAttempt,
): Promise<AttemptEnd | null> {
  const { input, call, server, known, tool, rounds, questions } = attempt;
  const { turn } = input;
  const wasAsked = questions.some(({ question }) => isApproval(question));
  // A call that was sent when no approval was needed may finish.
  const hasBegun = rounds.length > 0 || call.state !== 'requested';
  const isNeeded = !hasBegun && needsApproval(policyFor(server.approval, tool), known?.annotations);
  if (!wasAsked && !isNeeded) return null;
  const approved = { turn, call, at: { server, tool, listed: known } };
  const approval = await approvalOf(parts, approved, questions, input.approval);
  switch (approval.kind) {
    case 'approved':
      if (!approval.given || (await isAsApproved(parts, approved, approval.given))) return null;
      return failCall(parts, attempt, 'not_allowed', { code: 'not_as_approved', server: server.title });
    case 'asks':
      return approval;
    case 'refused':
      return failCall(parts, attempt, approval.outcome, approval.failure);
    case 'over':
      return { kind: 'finished' };
    default:
      return approval satisfies never;
  }
}

export async function callServer(
  parts: CallParts,
  attempt: ServerAttempt,
  credential: Credential,
): Promise<AttemptEnd> {
  // A round on a held connection ended with its attempt. A task is followed even if it has asked nothing yet.
  const answered = attempt.rounds.findLast(({ resume }) => resume.kind !== 'held');
  const notOpened = outcomeOfPageNotOpened(attempt, answered);
  if (notOpened)
    return failCall(parts, attempt, notOpened, {
      code: 'page_not_opened',
      why: notOpened,
      server: attempt.server.title,
    });
  let next: NextRequest | AttemptEnd = {
    kind: 'next-request',
    request: {
      credential,
      continuation: answered && (await continuationOf(parts, attempt, answered)),
      answered,
      isRenewed: false,
      isRestarted: answered?.isRestarted === true,
    },
  };
  while (next.kind === 'next-request') next = await makeRequest(parts, attempt, next.request);
  return next;
}

async function makeRequest(
  parts: CallParts,
  attempt: ServerAttempt,
  request: CallRequest,
): Promise<NextRequest | AttemptEnd> {
  const { input, by, server, call } = attempt;
  const { backoff } = parts.catalogue;
  // Only for processes: over the network an attempt is cheap, and the trouble of one connection is not that of another.
  const trouble = server.process && request.continuation === undefined ? backoff.reason(server) : null;
  if (trouble !== null && call.state === 'requested')
    return failCall(parts, attempt, 'unreachable', { code: 'server_trouble', trouble, note: 'tried_before' });
  const isFirst = await parts.storage.toolCalls.start(input.turn, input.toolCallId, by);
  // Resuming a stream reports the outcome of the call and sends nothing twice.
  const canRepeat =
    attempt.isRepeatable || ['detached', 'task'].includes(request.continuation?.resume.kind ?? '');
  if (!isFirst && !canRepeat)
    return failCall(parts, attempt, 'unknown', { code: 'unknown_outcome', server: server.title });
  const { isRenewed, isRestarted, answered } = request;
  const isFirstSinceAnswer = call.state === 'requested' || (answered?.questions.length ?? 0) > 0;
  if (isFirstSinceAnswer && !isRenewed && !isRestarted) recordEffect(parts, attempt);
  const startedAt = performance.now();
  const sent = await sendRequest(parts, attempt, request, isFirst);
  const failure = failureOf(sent.outcome);
  if (failure !== undefined && failure !== 'stopped' && isFinal(sent.outcome)) failCurrentCall(failure);
  // If the server asked, most of the time was a person's.
  if (!sent.hasAsked)
    toolExecuted(
      { server: server.name, toolName: attempt.tool },
      { durationMs: performance.now() - startedAt, failure },
    );
  if (server.process && sent.outcome.kind === 'unreachable') backoff.failed(server, sent.outcome.trouble);
  if (sent.outcome.kind === 'result') backoff.reached(server);
  return concludeRequest(parts, attempt, { ...request, ...sent });
}

function failureOf(outcome: CallOutcome): string | undefined {
  if (outcome.kind === 'asks') return undefined;
  if (outcome.kind === 'unknown') return lostOutcome();
  if (outcome.kind !== 'result') return outcome.kind;
  return outcome.result.isError === true ? toolError : undefined;
}

/** True if neither another request nor a question follows. */
function isFinal({ kind }: CallOutcome): boolean {
  return kind === 'result' || kind === 'unreachable' || kind === 'rejected' || kind === 'unknown';
}

/** Sends one request and follows it until there is an outcome. Decides nothing. */
async function sendRequest(
  parts: CallParts,
  attempt: ServerAttempt,
  { credential, continuation }: CallRequest,
  isFirst: boolean,
): Promise<SentRequest> {
  const { input, call, known, server, tool } = attempt;
  const { turn, toolCallId } = input;
  const questions = createQuestionsDuringCall(parts, attempt);
  const notifications = createCallNotifications(parts, attempt, credential);
  let begun: RemoteTask | undefined;
  const outcome = await parts.remote.callTool(server, credential, {
    name: tool,
    arguments: call.input as Record<string, unknown>,
    ...(known && { inputSchema: known.inputSchema }),
    callId: `${turn.turnId}/${toolCallId}`,
    hops: (turn.hops ?? 0) + (turn.delegation?.path.length ?? 0) + 1,
    capabilities: turn.user === null ? cannotAsk : turn.capabilities,
    ...(continuation && { continuation }),
    askUser: questions,
    isRepeatable: attempt.isRepeatable,
    mayBeSent: !isFirst,
    async keepTask(task) {
      begun = task;
      const before = await parts.rounds.list(turn, toolCallId);
      const round = toRound({ questions: [], resume: { kind: 'task', task } });
      return (await parts.rounds.keep(turn, toolCallId, before, round, attempt.by)) !== null;
    },
    owner: ownerOf(turn),
    ...notifications.listener,
    signal: stopSignal(),
    isHandedOn: isWorkerShuttingDown,
  });
  await Promise.all([notifications.settled(), questions.settled()]);
  return { outcome, hasAsked: questions.hasAsked(), isFirst, ...(begun && { task: begun }) };
}

/**
 * Whose sessions at servers a call may use. A service may act for several people, so it gets a session for each
 * conversation.
 */
function ownerOf({ tenant, user, conversation }: Turn): string {
  return JSON.stringify(user === null ? { tenant, conversation } : { tenant, user });
}

/** If the server refuses the call until pages are done: the status of the first page that was not done. */
function outcomeOfPageNotOpened({ questions }: ServerAttempt, answered: Round | undefined) {
  if (answered?.resume.kind !== 'again') return undefined;
  const pages = new Set(answered.questions.map(({ elicitationId }) => elicitationId));
  for (const { question } of questions) {
    const { id, status } = question;
    if (status !== 'accept' && status !== 'pending' && pages.has(id)) return status;
  }
  return undefined;
}

async function continuationOf(
  { rounds }: CallParts,
  { questions }: ServerAttempt,
  answered: Round,
): Promise<Continuation> {
  const { resume } = answered;
  const rows = questions.map(({ question }) => question);
  // `again`: the server refused the call and asked no questions in it.
  return { resume, answers: resume.kind === 'again' ? [] : await rounds.answersTo(answered, rows) };
}
