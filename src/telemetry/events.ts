/**
 * What an operator reads in the log of a turn: one line at its start, one at the end of each tool call, and one at its end.
 * Each end is also counted, and that of a turn traced. Ids, names, codes and durations only, never what people, models or tools said.
 */
import type { Logger } from 'pino';
import type { ToolCallRow } from '../storage/ports/tool-calls.ts';
import type { ToolOutcome } from '../turn/tool-result.ts';
import type { Turn, TurnEndStatus, TurnRef } from '../turn/turn.ts';
import { toolCallEnded, turnWasEnded } from './metrics/instruments.ts';
import { traceEnd } from './traces/turn-spans.ts';
import type { Traced } from './traces/turn-spans.ts';

/** The fields of every line about a turn. */
export function aboutTurn({ tenant, conversation, turnId }: TurnRef): TurnRef {
  return { tenant, conversation, turnId };
}

/** The same, of the turn that a workflow belongs to: the turn's own, or a delegate's or tool's, whose ids begin alike. */
export function aboutTurnOf(workflowId: string): TurnRef | null {
  const [kind, tenant, conversation, turnId] = workflowId.split('/');
  if (kind !== 'turn' || tenant === undefined || conversation === undefined || turnId === undefined)
    return null;
  return { tenant: decodeURIComponent(tenant), conversation, turnId };
}

export function turnStarted(logger: Logger, turn: Turn): void {
  const { turnId, agent, user } = turn;
  logger.info(
    { ...aboutTurn(turn), agent, user },
    `turn ${short(turnId)} started: ${agent} for ${user ?? 'a service'}`,
  );
}

interface EndOfTurn {
  status: TurnEndStatus;
  code: string | undefined;
  startedAt: number | undefined;
  /** Calls that ended with the turn. */
  unfinished?: Iterable<UnfinishedCall>;
}

export interface UnfinishedCall {
  toolCallId: string;
  toolName: string;
  createdAt: number;
  outcome: ToolOutcome;
}

export function turnEnded(
  { storage, logger }: { storage: Traced['storage']; logger: Logger },
  turn: Turn,
  { status, code, startedAt, unfinished = [] }: EndOfTurn,
): void {
  const { turnId, agent } = turn;
  const durationMs = startedAt === undefined ? undefined : Date.now() - startedAt;
  for (const call of unfinished) callLeftUnfinished(logger, turn, call);
  const why = code === undefined ? '' : ` (${code})`;
  logger.info(
    { ...aboutTurn(turn), agent, status, code, durationMs },
    `turn ${short(turnId)} ${status}${why}${after(durationMs)}`,
  );
  turnWasEnded(agent, { status, code, durationMs: durationMs ?? 0 });
  const ids = Array.from(unfinished, ({ toolCallId }) => toolCallId);
  traceEnd({ storage }, turn, { status, code }, ids);
}

interface EndedCall {
  toolCallId: string;
  /** As its server calls it. */
  toolName: string;
  /** Undefined for a tool of the agent's own. */
  server: string | undefined;
  outcome: ToolOutcome;
  /** Undefined where the call ended with its turn. */
  attempt: number | undefined;
  /** Since the model asked for it. */
  durationMs: number;
  /** Why the server could not be reached. */
  reason?: string;
}

/** What an operator may have to look at: the tool did not do, or may not have done, what it was asked. */
const troubles: ReadonlySet<ToolOutcome> = new Set(['unreachable', 'unknown', 'refused', 'failed']);

export function toolCallFinished(
  logger: Pick<Logger, 'info' | 'warn'>,
  turn: TurnRef,
  call: EndedCall,
): void {
  const { toolName, server, outcome, durationMs } = call;
  const tool = server === undefined ? toolName : `${toolName} of ${server}`;
  logger[troubles.has(outcome) ? 'warn' : 'info'](
    { ...aboutTurn(turn), ...call },
    `turn ${short(turn.turnId)} called ${tool}: ${outcome}${after(durationMs)}`,
  );
  toolCallEnded({ server, toolName }, outcome);
}

/** The call ended because its agent did. */
export function callLeftUnfinished(
  logger: Pick<Logger, 'info' | 'warn'>,
  turn: TurnRef,
  { toolCallId, toolName, createdAt, outcome }: UnfinishedCall,
): void {
  // Names of servers' tools begin with the server and `__`, which names of all others but delegates do not contain.
  const [server, ...tool] = toolName.startsWith('agent__') ? [] : toolName.split('__');
  const isServers = server !== undefined && tool.length > 0;
  toolCallFinished(logger, turn, {
    toolCallId,
    toolName: isServers ? tool.join('__') : toolName,
    server: isServers ? server : undefined,
    outcome,
    attempt: undefined,
    durationMs: Math.max(0, Date.now() - createdAt),
  });
}

/** `resultOf`, and the calls that it was asked for. A transaction that starts over asks again. */
export function collectingCalls<
  Call extends Pick<ToolCallRow, 'toolCallId' | 'toolName' | 'state' | 'createdAt'>,
  Result extends Pick<UnfinishedCall, 'outcome'>,
>(
  resultOf: (call: Call) => Result,
): { unfinished: Iterable<UnfinishedCall>; resultOf: (call: Call) => Result } {
  const calls = new Map<string, UnfinishedCall>();
  return {
    unfinished: { [Symbol.iterator]: () => calls.values() },
    resultOf(call) {
      const result = resultOf(call);
      const { toolCallId, toolName, createdAt } = call;
      calls.set(toolCallId, { toolCallId, toolName, createdAt, outcome: result.outcome });
      return result;
    },
  };
}

/** Enough of the id to find the other lines of a turn by eye. */
export function short(turnId: string): string {
  return turnId.slice(0, 8);
}

export function after(ms: number | undefined): string {
  return ms === undefined ? '' : ` after ${(ms / 1000).toFixed(1)} s`;
}
