/** One attempt at a tool call: what its parts share, how it ends, and when the next one may follow. */
import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { Catalogue } from '../../remote/catalogue.ts';
import type { RemoteServers } from '../../remote/remote-servers.ts';
import type { TimedQuestion } from '../../storage/tables/elicitations.ts';
import type { CallAttempt } from '../../storage/tables/call-attempt.ts';
import type { ToolCallRow } from '../../storage/schema/turn-tables.ts';
import type { CatalogueTool } from '../../storage/schema/account-tables.ts';
import type { KeptToolList } from '../../storage/tables/tool-catalogue.ts';
import type { NewEvent } from '../../storage/log/append.ts';
import type { Storage } from '../../storage/storage.ts';
import { answerTookEffect } from '../../platform/telemetry/metrics/instruments.ts';
import type { ToolOutcome } from '../../turn/event.ts';
import type { AttemptResult, ToolCallInput } from '../../turn/step.ts';
import type { McpResult } from '../../turn/tool-content.ts';
import type { CallFailure, CallRemark } from '../../turn/call-failure.ts';
import type { ToolResult } from '../../turn/tool-result.ts';
import type { QuestionParts } from '../questions.ts';
import { attemptNumber, isTurnEnding } from '../running-activity.ts';
import { finishToolCall, keepTrying } from '../tool-results.ts';
import type { FinishParts } from '../tool-results.ts';
import type { HeldCallLimit } from './held-call-limit.ts';
import type { CallRounds, Round } from './rounds.ts';
import { isLastAttempt } from '../safe-failures.ts';

export interface CallParts extends QuestionParts {
  storage: Storage;
  rounds: CallRounds;
  catalogue: Catalogue;
  remote: RemoteServers;
  heldCallLimit: HeldCallLimit;
  logger: Logger;
}

/** An attempt whose server may be unknown. */
interface BegunAttempt {
  input: ToolCallInput;
  /** Writes of older attempts are refused. */
  by: CallAttempt;
  call: ToolCallRow;
}

export interface Attempt extends BegunAttempt {
  server: ServerConfig;
  /** The server's tools, as stored when the attempt began. */
  listed: KeptToolList | null;
  /** The tool as its server listed it. */
  known: CatalogueTool | undefined;
  /** Declared read-only or idempotent by its server. */
  isRepeatable: boolean;
  /** Those that were stored when the attempt began. */
  rounds: Round[];
  /** All questions of the call, oldest first. */
  questions: TimedQuestion[];
  /** How many accounts were connected for the call. */
  connects: number;
}

/** An attempt at a tool of the server, and not at `connect_<server>`. */
export type ServerAttempt = Attempt & { tool: string };

export type AttemptEnd =
  | AttemptResult
  /** The call can continue from its rows at once: its questions were answered, or the account was connected meanwhile. */
  | { kind: 'answered' }
  | { kind: 'connected' };

export function attemptAt(input: Pick<ToolCallInput, 'execution' | 'repeats'>): CallAttempt {
  return { execution: input.execution, attempt: attemptNumber(input) };
}

/** Measures the time from the last answer to the request that it allowed. */
export function recordEffect({ storage }: CallParts, { by, questions }: Attempt): void {
  if (by.attempt > 1) return;
  const last = questions
    .map(({ question }) => question)
    .toSorted((one, other) => (one.settledAt ?? 0) - (other.settledAt ?? 0))
    .at(-1);
  if (last) answerTookEffect(last, storage.now());
}

interface Finish {
  remark?: CallRemark | undefined;
  /** For the people who follow the turn. */
  notice?: NewEvent;
}

/** Ends the call with the tool's result. */
export async function finishCall(
  parts: FinishParts,
  attempt: BegunAttempt,
  output: McpResult,
  { remark }: { remark?: CallRemark | undefined } = {},
): Promise<AttemptResult> {
  return finish(parts, attempt, { kind: 'output', output, remark });
}

/** Ends the call without a result of its tool. */
export async function failCall(
  parts: FinishParts,
  attempt: BegunAttempt,
  outcome: ToolOutcome,
  failure: CallFailure,
  { remark, notice }: Finish = {},
): Promise<AttemptResult> {
  return finish(parts, attempt, { kind: 'failed', failure, remark }, { outcome, notice });
}

async function finish(
  parts: FinishParts,
  { input, call, by }: BegunAttempt,
  result: ToolResult,
  about: { outcome?: ToolOutcome; notice?: NewEvent | undefined } = {},
): Promise<AttemptResult> {
  const { server, tool } = input;
  await finishToolCall(parts, input.turn, call, result, {
    ...about,
    by,
    at: { server, tool: tool ?? call.toolName },
  });
  return { kind: 'finished' };
}

/** Before each retry of a call. */
const pausesMs = [1_000, 3_000, 10_000, 20_000];
const longestPauseMs = 60_000;

interface Retry {
  message: string;
  type: 'CredentialStoreAway' | 'ServerNotReached' | 'ToolOutcomeUnknown';
  /** How many failures are followed by another attempt. */
  most?: number;
  /** An earlier attempt would fail. */
  atLeastMs?: number;
}

/**
 * Ends the attempt, and lets another one follow after a pause in which nothing is held. Null if the call has failed too often or
 * its turn is ending. The row of the call counts the failures, because attempts of the activity also fail if the database is down.
 */
export async function retryLater(
  { storage }: { storage: Pick<Storage, 'toolCalls'> },
  { input: { turn, toolCallId }, by }: Pick<Attempt, 'input' | 'by'>,
  { message, type, most = pausesMs.length, atLeastMs = 0 }: Retry,
): Promise<{ kind: 'later' } | null> {
  if (isTurnEnding()) return null;
  const failures = await keepTrying(() => storage.toolCalls.countFailure(turn, toolCallId, by));
  if (failures > most) return null;
  // The workflow executes another activity, which has attempts of its own.
  if (isLastAttempt(activityInfo())) return { kind: 'later' };
  // With a delay of 0, Temporal does not retry.
  const pauseMs = Math.max(pausesMs[Math.max(failures - 1, 0)] ?? 0, atLeastMs);
  throw ApplicationFailure.create({ message, type, nextRetryDelay: Math.min(longestPauseMs, pauseMs) });
}
