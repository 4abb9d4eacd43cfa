/**
 * One attempt at one tool call, at most once per call id: the answers to its questions, the credential, the approval, the
 * request, its outcome.
 *
 * The row of the call says how far it got: `requested` (nothing has left this process), `started` (a request may have
 * left), `paused` (the server has asked and only waits for answers), `finished` (the model has its result). A second
 * attempt that finds `started` cannot know whether the tool ran, so it repeats only what is declared repeatable and reports
 * the rest as unknown. From then on the writes of the first attempt are refused.
 *
 * If the call is the only one of its step, the attempt that finishes it goes on with the next model step.
 */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { ServerConfig } from '../../platform/config/config.ts';
import { connectionKey } from '../../credentials/connection-key.ts';
import { CredentialStoreError } from '../../credentials/credential-store.ts';
import { connectionsAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import type { CatalogueTool } from '../../storage/schema/account-tables.ts';
import { WriteRefused } from '../../storage/write-refused.ts';
import { aboutTurn } from '../../platform/telemetry/events.ts';
import { unfinishedLabel } from '../../platform/telemetry/metrics/instruments.ts';
import { traceToolCall } from '../../platform/telemetry/traces/agent-spans.ts';
import type { TracedCall } from '../../platform/telemetry/traces/agent-spans.ts';
import { currentPhase } from '../../platform/telemetry/traces/turn-spans.ts';
import { turnIsOver, modelStepMs } from '../../turn/step.ts';
import type { StepResult, AttemptResult, ToolCallInput } from '../../turn/step.ts';
import type { Turn } from '../../turn/turn.ts';
import { isApproval } from '../approval.ts';
import { mayCall } from '../call-model/agent-tools.ts';
import type { MakeStep } from '../call-model/call-model.ts';
import { whileHeartbeating, stopSignal } from '../running-activity.ts';
import { asksOf, questionsOfCall } from '../questions.ts';
import { finishToolCall, requestedToolCall } from '../tool-results.ts';
import { abandonHeldCalls, isLeftOpen, sendAbandoned } from './abandon-call.ts';
import { askForAccount, connectsOf, listServerTools, resolveCredential } from './account.ts';
import { attemptAt, failCall, retryLater } from './attempt.ts';
import type { Attempt, AttemptEnd, CallParts } from './attempt.ts';
import { callServer, endUnlessApproved } from './call-server.ts';
import type { ResolvedCredential } from './account.ts';
import { askRound } from './server-rounds.ts';
import { attemptHoldingCall } from './hold-call.ts';

interface FailedCall {
  turn: Turn;
  toolCallId: string;
  /** Null for an agent's own tool. */
  server: string | null;
}

export function createToolActivities(parts: CallParts, makeNextStep: MakeStep) {
  return {
    callTool: (input: ToolCallInput): Promise<AttemptResult> =>
      whileHeartbeating(async () => {
        const { turn, toolCallId, nextStep } = input;
        const own = { turn, toolCallId, by: attemptAt(input) };
        // The rest of the time is for the model step.
        const limitMs = activityInfo().startToCloseTimeoutMs - (nextStep === undefined ? 0 : modelStepMs);
        const phase = currentPhase(parts, turn);
        const make = async () => {
          const result = await traceToolCall(phase, turn, tracedCall(parts, input), () =>
            callTool(parts, input),
          );
          // Stopped if the turn is ending or the worker shuts down.
          return { result, isStopped: stopSignal().aborted };
        };
        const { result, isStopped } = await attemptHoldingCall(parts.storage, own, make, limitMs);
        if (result.kind !== 'finished' || nextStep === undefined || isStopped) return result;
        const next = await goOn(parts, makeNextStep, input, nextStep);
        return { ...result, ...(next && { next }) };
      }),

    /** Ends a call whose activity used up its attempts without a result. Abandons what a server keeps open. */
    async failToolCall({ turn, toolCallId, server: name }: FailedCall): Promise<void> {
      const { storage, rounds, config } = parts;
      const server = name === null ? undefined : config.servers.get(name);
      const [call, kept] = await Promise.all([
        requestedToolCall(storage, turn, toolCallId),
        rounds.list(turn, toolCallId),
      ]);
      if (call.state === 'finished') return;
      const isUnknown = call.state === 'started';
      const failure = {
        code: isUnknown ? 'unknown_outcome' : 'not_called',
        server: server?.title ?? name ?? call.toolName,
      } as const;
      await finishToolCall(parts, turn, call, failure, {
        outcome: isUnknown ? 'unknown' : 'failed',
        isStopped: true,
        ...(server
          ? { at: { server: server.name, tool: call.toolName } }
          : { label: unfinishedLabel(call.toolName) }),
      });
      const last = kept.at(-1);
      if (server && last && isLeftOpen(last))
        void sendAbandoned(parts, turn, { server, resume: last.resume });
    },
  };
}

function tracedCall({ config }: CallParts, input: ToolCallInput): TracedCall {
  const { toolCallId, server, tool } = input;
  const { attempt } = attemptAt(input);
  const known = config.servers.get(server);
  return { toolCallId, tool: tool ?? `connect_${server}`, server: known, attempt };
}

/**
 * One attempt at the model step that reads the call's result. Undefined if it fails: then the workflow makes the step, with
 * its own retries. Rejects only if the turn is over.
 */
async function goOn(
  { logger }: CallParts,
  makeNextStep: MakeStep,
  { turn, repeats }: ToolCallInput,
  step: number,
): Promise<StepResult | undefined> {
  try {
    return await makeNextStep({ turn, step, ...(repeats && { repeats }) });
  } catch (error) {
    if (isTurnOver(error)) throw error;
    const isExpected = error instanceof TemporalFailure || error instanceof WriteRefused;
    if (!isExpected) logger.warn({ err: error, ...aboutTurn(turn), step }, 'a model step is repeated');
    return undefined;
  }
}

function isTurnOver(error: unknown): boolean {
  if (error instanceof WriteRefused) return error.reason === 'turn-ended';
  return error instanceof ApplicationFailure && turnIsOver.includes(error.type ?? '');
}

async function callTool(parts: CallParts, input: ToolCallInput): Promise<AttemptResult> {
  for (let connects = 0; ;) {
    const end = await continueCall(parts, input, connects);
    if (end.kind === 'connected') connects++;
    else if (end.kind !== 'answered') return end;
  }
}

/** Its server was taken out of the agents file. Unlike a server's name, that of the call may come from a client. */
async function failWithoutServer(
  parts: CallParts,
  { input, call, by }: Pick<Attempt, 'input' | 'call' | 'by'>,
): Promise<AttemptEnd> {
  const isUnknown = call.state === 'started';
  const failure = { code: isUnknown ? 'unknown_outcome' : 'no_server', server: input.server } as const;
  await finishToolCall(parts, input.turn, call, failure, {
    by,
    outcome: isUnknown ? 'unknown' : 'failed',
    label: unfinishedLabel(call.toolName),
  });
  return { kind: 'finished' };
}

/** `connects`: accounts that this activity found connected without asking. */
async function continueCall(parts: CallParts, input: ToolCallInput, connects: number): Promise<AttemptEnd> {
  const { storage, config } = parts;
  const { turn, toolCallId, tool } = input;
  const by = attemptAt(input);
  const server = config.servers.get(input.server);
  const mayHaveRounds = input.execution > 0 || by.attempt > 1;
  const asked = questionsOfCall(parts, turn, toolCallId);
  const wasConnected = async () => connects + connectsOf(await asked) > 0;
  // Everything is read at once, because a person waits for the request.
  const [call, questions, listed, credential, allRounds] = await Promise.all([
    requestedToolCall(storage, turn, toolCallId, by),
    asked,
    server && tool !== null ? storage.toolCatalogue.get(connectionKey(server, turn)) : null,
    server && !needsUser(server, turn) ? credentialOrError(parts, server, turn, wasConnected) : null,
    mayHaveRounds ? parts.rounds.list(turn, toolCallId) : null,
  ]);
  if (call.state === 'finished') return { kind: 'finished' };
  const begun = { input, by, call };
  if (!server) return failWithoutServer(parts, begun);
  // The agent's list may have become shorter since the tool was offered. A call that has begun may finish.
  if (call.state === 'requested' && !mayCall(config.agents.get(turn.agent), server, tool))
    return failCall(parts, begun, 'not_allowed', { code: 'not_allowed', tool: call.toolName });
  if (!credential)
    return failCall(parts, begun, 'not_asked', { code: 'account', why: 'no-user', server: server.title });
  // `requested` means that there are no rounds: a call with rounds goes back to `paused`.
  const rounds = call.state === 'requested' ? [] : (allRounds ?? (await parts.rounds.list(turn, toolCallId)));
  const known = listed?.tools.find(({ name }) => name === tool);
  const current: Attempt = {
    ...begun,
    server,
    listed,
    known,
    rounds,
    questions,
    isRepeatable: isRepeatable(input, known),
    connects: connects + connectsOf(questions),
  };
  return (
    (await endByQuestions(parts, current)) ??
    (await endOfEarlierAttempt(parts, current)) ??
    makeCall(parts, current, credential)
  );
}

/** How the attempt ends if questions are pending, or one of them was refused. Null if the call continues. */
async function endByQuestions(parts: CallParts, attempt: Attempt): Promise<AttemptEnd | null> {
  const { input, server, rounds, questions } = attempt;
  const approval = questions.find(({ question }) => isApproval(question));
  if (approval && approval.question.status !== 'accept' && input.tool !== null)
    return endUnlessApproved(parts, { ...attempt, tool: input.tool });
  // The attempt that held the connection is over. This one asks these again if it may repeat the call.
  const held = new Set(
    rounds.flatMap(({ resume, questions: asked }) =>
      resume.kind === 'held' ? asked.map(({ elicitationId }) => elicitationId) : [],
    ),
  );
  const asks = asksOf(
    questions.filter(({ question }) => !held.has(question.id)),
    input.approval,
  );
  if (asks) return asks;
  const account = questions.findLast(({ question }) => question.server !== null)?.question;
  if (!account || account.status === 'accept' || account.status === 'pending') return null;
  const address = connectionsAddress(parts.config.http.publicUrl);
  const refused = { code: 'account', why: account.status, server: server.title, address } as const;
  return failCall(parts, attempt, account.status, refused);
}

/** How the attempt ends because of an earlier one; null if the call continues. */
async function endOfEarlierAttempt(parts: CallParts, attempt: Attempt): Promise<AttemptEnd | null> {
  const { input, call, server, rounds, questions } = attempt;
  const last = rounds.at(-1);
  if (call.state === 'paused' && last) {
    const known = new Set(questions.map(({ question }) => question.id));
    // False if its worker died between storing the round and opening the questions.
    const isOpened = last.questions.every(({ elicitationId }) => known.has(elicitationId));
    return isOpened ? null : askRound(parts, attempt, last, rounds.length);
  }
  if (call.state !== 'started') return null;
  await abandonHeldCalls(parts, { server, turn: input.turn, signal: stopSignal() }, rounds);
  const canResume = rounds.some(({ resume }) => resume.kind === 'detached' || resume.kind === 'task');
  if (attempt.isRepeatable || canResume) return null;
  return failCall(parts, attempt, 'unknown', { code: 'unknown_outcome', server: server.title });
}

async function makeCall(
  parts: CallParts,
  attempt: Attempt,
  credential: ResolvedCredential | CredentialStoreError,
): Promise<AttemptEnd> {
  if (credential instanceof CredentialStoreError) return tryLater(parts, attempt, credential);
  if (credential.kind === 'connection-required') return askForAccount(parts, attempt, credential);
  const { tool } = attempt.input;
  try {
    return tool === null
      ? await listServerTools(parts, attempt, credential)
      : ((await endUnlessApproved(parts, { ...attempt, tool })) ??
          (await callServer(parts, { ...attempt, tool }, credential)));
  } catch (error) {
    if (error instanceof CredentialStoreError) return tryLater(parts, attempt, error);
    throw error;
  }
}

/** Retries later if the store says when and an attempt is left; otherwise the model gets the reason. */
async function tryLater(
  parts: CallParts,
  attempt: Attempt,
  { message, trouble, forOperator: reason, retryAfterMs, isOperators }: CredentialStoreError,
): Promise<AttemptResult> {
  const { input, server } = attempt;
  const about = { ...aboutTurn(input.turn), server: server.name, reason };
  parts.logger[isOperators ? 'error' : 'warn'](about, 'no account can be used for a call');
  if (retryAfterMs !== undefined) {
    const retry = { message, type: 'CredentialStoreAway', atLeastMs: retryAfterMs } as const;
    const later = await retryLater(parts, attempt, retry);
    if (later) return later;
  }
  return failCall(parts, attempt, 'failed', { code: 'account_unusable', trouble, isOperators });
}

async function credentialOrError(
  { storeOf }: CallParts,
  server: ServerConfig,
  turn: Turn,
  wasConnected: () => Promise<boolean>,
): Promise<ResolvedCredential | CredentialStoreError> {
  try {
    return await resolveCredential(storeOf(server), server, turn, wasConnected);
  } catch (error) {
    if (error instanceof CredentialStoreError) return error;
    throw error;
  }
}

/** A user's own account is needed, and the turn has no user. */
function needsUser({ credentialScope }: ServerConfig, { user }: Turn): boolean {
  return credentialScope === 'user' && user === null;
}

function isRepeatable({ tool }: ToolCallInput, known: CatalogueTool | undefined): boolean {
  const { readOnlyHint, idempotentHint } = known?.annotations ?? {};
  return tool === null || readOnlyHint === true || idempotentHint === true;
}
