/** What every part of one attempt at a tool call works with, and how the call ends. */
import type { Logger } from 'pino';
import type { ServerConfig } from '../../config/config.ts';
import type { Catalogue } from '../../remote/catalogue.ts';
import type { RemoteServers } from '../../remote/remote-servers.ts';
import type { TimedQuestion } from '../../storage/ports/elicitations.ts';
import type { CallAttempt, ToolCallRow } from '../../storage/ports/tool-calls.ts';
import type { CatalogueTool, KeptToolList } from '../../storage/ports/tool-catalogue.ts';
import type { NewEvent } from '../../storage/ports/turn-log.ts';
import type { Storage } from '../../storage/storage.ts';
import { answerTookEffect } from '../../telemetry/metrics/instruments.ts';
import type { AttemptResult, ToolCallInput } from '../../turn/tool-call.ts';
import type { McpResult, ToolOutcome, ToolResult } from '../../turn/tool-result.ts';
import type { QuestionParts } from '../questions/questions.ts';
import { attemptNumber } from '../repetition.ts';
import { finishToolCall } from '../tool-results.ts';
import type { FinishParts } from '../tool-results.ts';
import type { HeldCallLimit } from './held-call-limit.ts';
import type { CallRounds, Round } from './rounds.ts';

export interface CallParts extends QuestionParts {
  storage: Storage;
  rounds: CallRounds;
  catalogue: Catalogue;
  remote: RemoteServers;
  heldCallLimit: HeldCallLimit;
  logger: Logger;
}

export interface Attempt {
  input: ToolCallInput;
  /** What an older attempt writes is refused. */
  by: CallAttempt;
  call: ToolCallRow;
  server: ServerConfig;
  /** What its server lists, as it was kept when the attempt began. */
  listed: KeptToolList | null;
  /** As its server listed it. */
  known: CatalogueTool | undefined;
  /** Declared read-only or idempotent by its server. */
  isRepeatable: boolean;
  /** That were kept when the attempt began. */
  rounds: Round[];
  /** Of the call, oldest first, those of its rounds included. */
  questions: TimedQuestion[];
  /** How many accounts were connected for the call. */
  connects: number;
}

/** At a tool that its server has listed, and not at the `connect_<server>` tool. */
export type ServerAttempt = Attempt & { tool: string };

/** How an attempt ends. */
export type AttemptEnd =
  | AttemptResult
  /** What the call needs was answered before, or has been connected meanwhile: it continues from its rows at once. */
  | { kind: 'answered' }
  | { kind: 'connected' };

export function attemptAt(input: Pick<ToolCallInput, 'execution' | 'repeats'>): CallAttempt {
  return { execution: input.execution, attempt: attemptNumber(input) };
}

/** The request that the last question of the call has held back is sent. */
export function recordEffect(
  { storage }: Pick<CallParts, 'storage'>,
  { by, questions }: Pick<Attempt, 'by' | 'questions'>,
): void {
  if (by.attempt > 1) return;
  const last = questions
    .map(({ question }) => question)
    .toSorted((one, other) => (one.settledAt ?? 0) - (other.settledAt ?? 0))
    .at(-1);
  if (last) answerTookEffect(last, storage.now());
}

interface Finish {
  /** As in a tool's result. */
  remark?: string | undefined;
  /** For the person who reads along. */
  notice?: NewEvent;
}

/** With the result of the tool. */
export async function finishCall(
  parts: FinishParts,
  attempt: Pick<Attempt, 'input' | 'call' | 'by'>,
  output: McpResult,
  { remark }: Pick<Finish, 'remark'> = {},
): Promise<AttemptResult> {
  return finish(parts, attempt, { kind: 'output', output, remark });
}

/** With an error for the model. */
export async function failCall(
  parts: FinishParts,
  attempt: Pick<Attempt, 'input' | 'call' | 'by'>,
  outcome: ToolOutcome,
  text: string,
  { remark, notice }: Finish = {},
): Promise<AttemptResult> {
  return finish(parts, attempt, { kind: 'error', text, remark }, { outcome, notice });
}

async function finish(
  parts: FinishParts,
  { input, call, by }: Pick<Attempt, 'input' | 'call' | 'by'>,
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
