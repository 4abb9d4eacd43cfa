/** What every part of one attempt at a tool call works with, and how the call ends. */
import type { Logger } from 'pino';
import type { Catalogue } from '../../remote/catalogue.ts';
import type { Continuation } from '../../remote/tool-call.ts';
import type { RemoteServers } from '../../remote/remote-servers.ts';
import type { ServerConfig } from '../../config/config.ts';
import type { Credential, CredentialStore } from '../../credentials/store.ts';
import type { CallAttempt, ToolCallRow } from '../../storage/ports/tool-calls.ts';
import type { CatalogueTool, KeptToolList } from '../../storage/ports/tool-catalogue.ts';
import type { NewEvent } from '../../storage/ports/turn-log.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AttemptResult, ToolCallInput } from '../../turn/tool-call.ts';
import type { McpResult, ToolResult } from '../../turn/tool-result.ts';
import { attemptNumber } from '../repetition.ts';
import { finishToolCall } from '../tool-results.ts';
import type { HeldCallLimit } from './held-call-limit.ts';
import type { CallRounds, Round } from './rounds.ts';

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
}

/** At a tool that its server has listed, and not at the `connect_<server>` tool. */
export type ServerAttempt = Attempt & { tool: string };

/** One request of an attempt, and where it goes on from. */
export interface ToolRequest {
  credential: Credential;
  continuation: Continuation | undefined;
  /** The latest round that had its answers when the attempt began. */
  answered: Round | undefined;
  /** With a credential that has just replaced a refused one. */
  isRenewed: boolean;
  /** The call was begun anew, because the server did not know its own state any more. */
  isRestarted: boolean;
}

export interface CallParts {
  storeOf(server: ServerConfig): CredentialStore;
  catalogue: Catalogue;
  remote: RemoteServers;
  storage: Pick<Storage, 'toolCalls'>;
  logger: Logger;
}

export interface CallServerParts extends CallParts {
  storage: Pick<Storage, 'toolCalls' | 'turnLog' | 'elicitations'>;
  rounds: CallRounds;
  heldCallLimit: HeldCallLimit;
}

/** Each connect, each round of answers and an approval lets the activity be executed once more. */
export function attemptAt(input: ToolCallInput): CallAttempt {
  const { connects, round, approval } = input;
  return { execution: connects + round + (approval ? 1 : 0), attempt: attemptNumber(input) };
}

/** Words are an error for the model. `remark` as in a tool's result; `notice`: for the person, beside what the model is told. */
export async function finishCall(
  { storage }: Pick<CallParts, 'storage'>,
  { input, call, by }: Pick<Attempt, 'input' | 'call' | 'by'>,
  result: string | McpResult,
  { remark, notice }: { remark?: string | undefined; notice?: NewEvent } = {},
): Promise<AttemptResult> {
  const told: ToolResult =
    typeof result === 'string'
      ? { kind: 'error', text: result, remark }
      : { kind: 'output', output: result, remark };
  await finishToolCall(storage, input.turn, call, told, { by, notice });
  return { kind: 'finished' };
}
