/**
 * The log lines about turns: at the start and end of a turn, at the end of each tool call, and when a question opens and
 * ends. The same events are counted and traced. Contains ids, names, codes and durations, never messages, answers,
 * addresses or secrets.
 */
import type { Logger } from 'pino';
import type { ToolCallRow } from '../../storage/schema/turn-tables.ts';
import type { ToolOutcome } from '../../turn/event.ts';
import type { Turn, TurnEndStatus, TurnRef } from '../../turn/turn.ts';
import {
  questionOpened,
  questionSettled,
  toolCallEnded,
  turnWasEnded,
  unfinishedLabel,
} from './metrics/instruments.ts';
import { traceEnd } from './traces/turn-spans.ts';
import type { Traced } from './traces/turn-spans.ts';
import type { ServerConfig } from '../config/config.ts';
import type { ElicitationRow } from '../../storage/schema/question-tables.ts';
import type { QuestionObserver } from '../../storage/database.ts';

export function aboutTurn({ tenant, conversation, turnId }: TurnRef): TurnRef {
  return { tenant, conversation, turnId };
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
  /** Calls that were ended with the turn. */
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
  /** The tool's name at its server. */
  toolName: string;
  /** Undefined for a tool of the agent itself. */
  server: string | undefined;
  outcome: ToolOutcome;
  /** Undefined when the call was ended with its turn. */
  attempt: number | undefined;
  /** Since the model requested the call. */
  durationMs: number;
  reason?: string;
}

/** Outcomes that are logged as warnings: the tool did not do, or may not have done, what it should. */
const warnedOutcomes: ReadonlySet<ToolOutcome> = new Set(['unreachable', 'unknown', 'refused', 'failed']);

export function toolCallFinished(
  logger: Pick<Logger, 'info' | 'warn'>,
  turn: TurnRef,
  call: EndedCall,
  label = call.toolName,
): void {
  const { toolName, server, outcome, durationMs } = call;
  const tool = server === undefined ? toolName : `${toolName} of ${server}`;
  logger[warnedOutcomes.has(outcome) ? 'warn' : 'info'](
    { ...aboutTurn(turn), ...call },
    `turn ${short(turn.turnId)} called ${tool}: ${outcome}${after(durationMs)}`,
  );
  toolCallEnded({ server, toolName: label }, outcome);
}

/** The call was ended with its agent. */
export function callLeftUnfinished(
  logger: Pick<Logger, 'info' | 'warn'>,
  turn: TurnRef,
  { toolCallId, toolName, createdAt, outcome }: UnfinishedCall,
): void {
  // Names of servers' tools begin with the server and `__`, which other names do not contain, except those of delegates.
  const [server, ...tool] = toolName.startsWith('agent__') ? [] : toolName.split('__');
  const isServers = server !== undefined && tool.length > 0;
  const call = {
    toolCallId,
    toolName: isServers ? tool.join('__') : toolName,
    server: isServers ? server : undefined,
    outcome,
    attempt: undefined,
    durationMs: Math.max(0, Date.now() - createdAt),
  };
  toolCallFinished(logger, turn, call, unfinishedLabel(toolName));
}

/**
 * Wraps `resultOf`, and collects the calls that it is called with. A repeated transaction calls it again for the same
 * calls.
 */
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

/** Enough of the id to recognise lines of the same turn. */
export function short(turnId: string): string {
  return turnId.slice(0, 8);
}

function after(ms: number | undefined): string {
  return ms === undefined ? '' : ` after ${(ms / 1000).toFixed(1)} s`;
}

export function createQuestionLog(
  logger: Logger,
  servers: ReadonlyMap<string, Pick<ServerConfig, 'store'>>,
): QuestionObserver {
  const storeOf = ({ server }: ElicitationRow) => (server === null ? undefined : servers.get(server)?.store);

  return {
    opened(question) {
      logger.info(
        { ...fieldsOf(question), credentialStore: storeOf(question) },
        `turn ${short(question.turnId)} waits: ${question.user} ${requestedAction(question)}`,
      );
      questionOpened(question);
    },
    settled(question) {
      const { turnId, status: outcome, because, createdAt, settledAt } = question;
      const durationMs = (settledAt ?? createdAt) - createdAt;
      logger.info(
        {
          ...fieldsOf(question),
          credentialStore: storeOf(question),
          outcome,
          because: because ?? undefined,
          durationMs,
        },
        `turn ${short(turnId)} goes on: question ended with ${outcome}${after(durationMs)}`,
      );
      questionSettled(question);
    },
  };
}

function fieldsOf(question: ElicitationRow) {
  const { id: elicitationId, agent, user, request } = question;
  const { mode, context } = request;
  const { trigger, path, server, toolName, toolCallId, reason } = context;
  return {
    elicitationId,
    ...aboutTurn(question),
    agent,
    path,
    user,
    trigger,
    mode,
    server,
    toolName,
    toolCallId,
    reason,
  };
}

function requestedAction({ request }: ElicitationRow): string {
  const { mode, context } = request;
  const { trigger, agent, server = agent, toolName, reason } = context;
  if (trigger === 'approval') return `is asked to approve ${toolName} of ${server}`;
  return trigger === 'credential_required'
    ? `is asked to connect ${server}${reason === undefined || reason === 'missing' ? '' : ` again (${reason})`}`
    : `is asked by ${server} (${toolName === undefined ? mode : `${toolName}, ${mode}`})`;
}
