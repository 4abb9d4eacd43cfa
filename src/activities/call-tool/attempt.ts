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
import type { AttemptResult, ToolCallInput } from '../../turn/tool-call.ts';
import type { McpResult, ToolResult } from '../../turn/tool-result.ts';
import type { QuestionParts } from '../questions/questions.ts';
import { attemptNumber } from '../repetition.ts';
import { finishToolCall } from '../tool-results.ts';
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

/** A text is an error for the model. `remark` as in a tool's result; `notice`: for the person who reads along. */
export async function finishCall(
  { storage }: { storage: Pick<Storage, 'toolCalls'> },
  { input, call, by }: Pick<Attempt, 'input' | 'call' | 'by'>,
  result: string | McpResult,
  { remark, notice }: { remark?: string | undefined; notice?: NewEvent } = {},
): Promise<AttemptResult> {
  const written: ToolResult =
    typeof result === 'string'
      ? { kind: 'error', text: result, remark }
      : { kind: 'output', output: result, remark };
  await finishToolCall(storage, input.turn, call, written, { by, notice });
  return { kind: 'finished' };
}
