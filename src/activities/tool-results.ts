/** Ends a tool call, once: in the transcript, in the turn log and in the log. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServerConfig } from '../platform/config/config.ts';
import type { CallAttempt } from '../storage/tables/call-attempt.ts';
import type { ToolCallRow } from '../storage/schema/turn-tables.ts';
import type { NewEvent } from '../storage/log/append.ts';
import type { Storage } from '../storage/storage.ts';
import { isDatabaseTrouble } from '../storage/transient-errors.ts';
import { toolCallFinished } from '../platform/telemetry/events.ts';
import { toCallResult } from '../turn/call-result.ts';
import { outcomeOf } from '../turn/tool-result.ts';
import type { CallFailure, MissingAccount } from '../turn/call-failure.ts';
import { failureForModel } from '../turn/for-model.ts';
import { missingAccountInWords } from '../turn/for-person.ts';
import type { ToolOutcome } from '../turn/event.ts';
import type { ToolResult } from '../turn/tool-result.ts';
import type { TurnRef } from '../turn/turn.ts';
import { stopSignal } from './running-activity.ts';

export interface FinishParts {
  storage: Pick<Storage, 'toolCalls' | 'now'>;
  logger: Logger;
}

/** The call as the model requested it, and its state. `by`: the attempt that continues it. */
export async function requestedToolCall(
  { toolCalls }: Pick<Storage, 'toolCalls'>,
  turn: TurnRef,
  toolCallId: string,
  by?: CallAttempt,
): Promise<ToolCallRow> {
  const call = await (by ? toolCalls.take(turn, toolCallId, by) : toolCalls.get(turn, toolCallId));
  if (!call) throw new Error(`Tool call ${toolCallId} of turn ${turn.turnId} is not in the database.`);
  return call;
}

interface Finish {
  /** For the people who follow the turn. */
  notice?: NewEvent | undefined;
  by?: CallAttempt;
  /** Used when the call has no result of its tool. Default `failed`. */
  outcome?: ToolOutcome | undefined;
  /** The server and its name for the tool, unless the tool is the agent's own. */
  at?: { server: string; tool: string };
  /** In metrics, in place of a name that a client chose. */
  label?: string | undefined;
  /** The call ends without a result of its own: answers that it has not used are marked as unused. */
  isStopped?: boolean;
}

/** The first end wins; later ones are no-ops. */
export async function finishToolCall(
  { storage, logger }: FinishParts,
  turn: TurnRef,
  call: ToolCallRow,
  result: ToolResult | CallFailure,
  { notice, by, outcome = 'failed', at, label, isStopped = false }: Finish = {},
): Promise<void> {
  const written = 'code' in result ? ({ kind: 'failed', failure: result } as const) : result;
  const finished = {
    ...toCallResult(turn, call, written, outcome),
    ...(notice && { notice }),
    ...(isStopped && { stoppedWith: [] }),
  };
  if (!(await storage.toolCalls.finish(turn, call.toolCallId, finished, by))) return;
  const ended = {
    toolCallId: call.toolCallId,
    toolName: at?.tool ?? call.toolName,
    server: at?.server,
    outcome: outcomeOf(written, outcome),
    attempt: by?.attempt,
    durationMs: Math.max(0, storage.now() - call.createdAt),
    // This text contains only error codes and server names.
    ...(written.kind === 'failed' &&
      outcome === 'unreachable' && { reason: failureForModel(written.failure) }),
  };
  toolCallFinished(logger, turn, ended, label ?? ended.toolName);
}

const longestPauseMs = 6_400;
/** Slightly less than the time that an effect has for its row (`marginMs` in workflows/durable-tool/durable-tool.ts). */
const usualMs = 13_000;

/** Retries a write while the database is down, for `forMs`, or only for `usualMs` once the activity must stop. */
export async function keepTrying<T>(write: () => Promise<T>, forMs = usualMs): Promise<T> {
  const start = performance.now();
  for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    try {
      return await write();
    } catch (error) {
      const leftMs = (stopSignal().aborted ? usualMs : forMs) - (performance.now() - start);
      if (!isDatabaseTrouble(error) || leftMs < pauseMs) throw error;
    }
    await sleep(pauseMs);
  }
}

/** Tells the person, once per call, that an account is missing and that they are not asked for it. */
export function accountNotice(
  { toolCallId, toolName }: ToolCallRow,
  { name: server, title: serverTitle }: ServerConfig,
  account: MissingAccount,
  url?: string,
): NewEvent {
  const message = missingAccountInWords({ serverTitle, account, url });
  return {
    key: `tool/${toolCallId}/auth-required`,
    event: {
      type: 'tool-auth-required',
      toolCallId,
      toolName,
      server,
      serverTitle,
      message,
      account,
      ...(url !== undefined && { url }),
    },
  };
}
