/** How a tool call ends: with a result, or with a text for the model; once, in the transcript, in the turn log and in the log. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ServerConfig } from '../config/config.ts';
import type { CallAttempt, ToolCallRow } from '../storage/ports/tool-calls.ts';
import type { NewEvent } from '../storage/ports/turn-log.ts';
import type { Storage } from '../storage/storage.ts';
import { isDatabaseTrouble } from '../storage/transient-errors.ts';
import { toolCallFinished } from '../telemetry/events.ts';
import { toCallResult } from '../turn/call-result.ts';
import { outcomeOf } from '../turn/tool-result.ts';
import type { ToolOutcome, ToolResult } from '../turn/tool-result.ts';
import type { TurnRef } from '../turn/turn.ts';
import { stopSignal } from './stop-signal.ts';

type CallStorage = Pick<Storage, 'toolCalls'>;

export interface FinishParts {
  storage: Pick<Storage, 'toolCalls' | 'now'>;
  logger: Pick<Logger, 'info' | 'warn'>;
}

/** The call as the model asked for it, and how far it is. `by`: the attempt that continues it. */
export async function requestedToolCall(
  { toolCalls }: CallStorage,
  turn: TurnRef,
  toolCallId: string,
  by?: CallAttempt,
): Promise<ToolCallRow> {
  const call = await (by ? toolCalls.take(turn, toolCallId, by) : toolCalls.get(turn, toolCallId));
  if (!call) throw new Error(`Tool call ${toolCallId} of turn ${turn.turnId} is not in the database.`);
  return call;
}

interface Finish {
  /** For the people who read along. */
  notice?: NewEvent | undefined;
  by?: CallAttempt;
  /** Of a text; by default `failed`. A result tells by itself. */
  outcome?: ToolOutcome | undefined;
  /** The server and its name for the tool, unless the tool is the agent's own. */
  at?: { server: string; tool: string };
  /** It ends without having come to a result: answers that it has not acted on are marked as unused. */
  isStopped?: boolean;
}

/** The first end wins; again is a no-op. A text is an error for the model. */
export async function finishToolCall(
  { storage, logger }: FinishParts,
  turn: TurnRef,
  call: ToolCallRow,
  result: ToolResult | string,
  { notice, by, outcome = 'failed', at, isStopped = false }: Finish = {},
): Promise<void> {
  const written = typeof result === 'string' ? ({ kind: 'error', text: result } as const) : result;
  const finished = {
    ...toCallResult(turn, call, written, outcome),
    ...(notice && { notice }),
    ...(isStopped && { stoppedWith: [] }),
  };
  if (!(await storage.toolCalls.finish(turn, call.toolCallId, finished, by))) return;
  toolCallFinished(logger, turn, {
    toolCallId: call.toolCallId,
    toolName: at?.tool ?? call.toolName,
    server: at?.server,
    outcome: outcomeOf(written, outcome),
    attempt: by?.attempt,
    durationMs: Math.max(0, storage.now() - call.createdAt),
    // Made of codes of errors and names of servers.
    ...(written.kind === 'error' && outcome === 'unreachable' && { reason: written.text }),
  });
}

const longestPauseMs = 6_400;
/** An effect has little more time than that (see call-activity.ts). */
const usualMs = 13_000;

/** Writes what has happened while the database is away, for so long; for the usual time once the activity is to stop. */
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

/** For the person, once per call: an account is missing, and they are not asked for it. `url`: where they can connect it. */
export function accountNotice(
  { toolCallId, toolName }: Pick<ToolCallRow, 'toolCallId' | 'toolName'>,
  { name: server, title: serverTitle }: Pick<ServerConfig, 'name' | 'title'>,
  message: string,
  url?: string,
): NewEvent {
  return {
    key: `tool/${toolCallId}/auth-required`,
    event: {
      type: 'tool-auth-required',
      toolCallId,
      toolName,
      server,
      serverTitle,
      message,
      ...(url !== undefined && { url }),
    },
  };
}
