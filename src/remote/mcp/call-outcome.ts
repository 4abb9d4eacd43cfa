/**
 * The outcome of a tool call, from what is known of its request. The line between "certainly did not run" and "unknown" is
 * drawn here, because nothing may run twice:
 *
 * - the request was never sent, or was answered with a status that refuses it before processing: did not run;
 * - it was sent and no answer came, or the server failed while it handled it: unknown.
 *
 * 503 on the call itself is unknown: proxies also send it when the server died while it handled the request.
 */
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/client';
import { couldNotAsk } from '@interlude-ai/core/mcp/could-not-ask.ts';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { Credential } from '../../credentials/credential-store.ts';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import { plainLine } from '@interlude-ai/core/elicitation/plain-text.ts';
import { isDeeperThan } from '@interlude-ai/core/elicitation/json-size.ts';
import type { Deadline } from '../deadline.ts';
import { nameOf } from '../server-name.ts';
import { refusedAccount } from '../request-account.ts';
import type { CallOutcome, Refused } from '../remote-servers.ts';
import type { Exchange } from '@interlude-ai/core/mcp/tracked-request.ts';
import { outcomeWith } from '../network-failure.ts';
import { troubleOf } from './server-trouble.ts';
import { readRequiredPages } from '@interlude-ai/core/mcp/legacy-messages.ts';
import { readInputRequired } from '@interlude-ai/core/mcp/rounds.ts';
import type { Session } from '@interlude-ai/core/mcp/input-required.ts';
import { eraMayHaveChanged } from './connect.ts';
import type { Connection } from './connection.ts';

export interface CallTrace {
  exchange: Exchange | undefined;
  /** The JSON-RPC answer, as received. */
  answer: JSONRPCMessage | undefined;
  end: Deadline['end'];
  /** The one that the call was made with. */
  credential: Credential;
}

export function outcomeOf(server: ServerConfig, trace: CallTrace, capabilities: Capabilities): CallOutcome {
  if (trace.answer) return fromAnswer(server, trace.answer, capabilities);
  const otherwise = fromExchange(server, trace);
  const isOver = trace.end !== undefined || trace.exchange?.isSent !== true;
  return (!isOver && refusedAccount(trace.exchange, trace.credential, otherwise)) || otherwise;
}

/** What the exchange means if it is not about the account. */
function fromExchange(server: ServerConfig, { exchange, end }: CallTrace): NonNullable<Refused['otherwise']> {
  const trouble = troubleOf(server, exchange, end);
  const status = exchange?.status;
  if (!exchange?.isSent) return outcomeWith('unreachable', trouble);
  if (status === undefined || status < 300 || status === 303 || status === 408 || status >= 500) {
    return outcomeWith('unknown', trouble);
  }
  const isElsewhereOrLater = status < 400 || status === 404 || status === 410 || status === 429;
  return outcomeWith(isElsewhereOrLater ? 'unreachable' : 'rejected', trouble);
}

function fromAnswer(server: ServerConfig, answer: JSONRPCMessage, capabilities: Capabilities): CallOutcome {
  if ('error' in answer) return fromError(server, answer.error, capabilities);
  const result: unknown = 'result' in answer ? answer.result : undefined;
  if (!isRecord(result)) return unreadable(server);
  const { resultType: type, ...rest } = result;
  const resultType = type ?? 'complete';
  // Drafts of the new era asked like this. It must not pass for a result.
  if (type === undefined && rest['inputRequests'] !== undefined)
    return unaskable(server, 'it sent inputRequests without the resultType "input_required"');
  if (resultType === 'input_required') {
    const read = readInputRequired(rest, capabilities);
    return read.kind === 'pause' ? { kind: 'asks', pause: read.pause } : unaskable(server, read.reason);
  }
  if (resultType !== 'complete' || isDeeperThan(rest, deepest)) return unreadable(server);
  return { kind: 'result', result: readToolResult(rest) };
}

/** Maximum nesting of a result. It is processed recursively later, here and in clients. */
const deepest = 200;

/** Codes that refuse a request before anything is done. All others only say that something failed. */
const refusals = new Set([-32700, -32600, -32601, -32602, -32002, -32020, -32022]);
const missingCapability = -32021;
const pagesRequired = -32042;

function fromError(
  server: ServerConfig,
  error: { code: number; message: string; data?: unknown },
  capabilities: Capabilities,
): CallOutcome {
  if (error.code === pagesRequired) {
    const read = readRequiredPages(error.data, capabilities);
    return read.kind === 'pause' ? { kind: 'asks', pause: read.pause } : unaskable(server, read.reason);
  }
  if (error.code === missingCapability)
    return unaskable(server, 'it needs to ask the user something that their client cannot show');
  const words = plainLine(error.message).slice(0, 500);
  if (refusals.has(error.code)) {
    const kind =
      isRecord(error.data) && error.data['reason'] === 'invalid_request_state' ? 'state-expired' : 'rejected';
    return outcomeWith(kind, { code: 'call_refused', server: nameOf(server), words });
  }
  return outcomeWith('unknown', { code: 'call_failed', server: nameOf(server), error: error.code });
}

/**
 * A failed call whose question was refused is reported as such. A server that answers without the question has simply
 * answered.
 */
export function orUnaskable(
  server: ServerConfig,
  outcome: CallOutcome,
  refused: string | undefined,
): CallOutcome {
  const failed =
    outcome.kind === 'result' ? outcome.result.isError === true : mayFollowRefusal.has(outcome.kind);
  return refused !== undefined && failed ? unaskable(server, refused) : outcome;
}

/** Outcomes that may be caused by the missing answer. */
const mayFollowRefusal = new Set<CallOutcome['kind']>(['rejected', 'unknown']);

export function unaskable(server: ServerConfig, reason: string): CallOutcome {
  const why = reason.replace(/\.$/, '');
  return { kind: 'unaskable', failure: { code: 'unaskable', why, server: nameOf(server) } };
}

function unreadable(server: ServerConfig): CallOutcome {
  return outcomeWith('unknown', { code: 'unreadable_answer', server: nameOf(server) });
}

/**
 * The server has answered, so the tool has run, even if the content cannot be read. Blocks of unknown kinds are kept for
 * the reader to decide, and other values are shown as text.
 */
function readToolResult({ content, isError, ...rest }: Record<string, unknown>): CallToolResult {
  const blocks = Array.isArray(content) ? content : [content];
  return {
    ...rest,
    content: blocks.filter((block) => block !== undefined && block !== null).map(readBlock),
    ...(typeof isError === 'boolean' && { isError }),
  } as CallToolResult;
}

function readBlock(block: unknown): object {
  if (!isRecord(block)) return textBlock(block);
  const members = Object.fromEntries(Object.entries(block).filter(([, value]) => value !== null));
  return typeof members['type'] === 'string' ? members : textBlock(members['text'] ?? members);
}

function textBlock(value: unknown): object {
  return { type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) };
}

/**
 * A cache entry about a server that made a call fail. Except with `cannot-ask`, the call failed before anything was done.
 */
export type OutdatedCache =
  | 'era'
  | 'schema'
  | 'session'
  | 'pooled-session'
  /** The server could not ask in the era of the call. The tool may have run up to its question. */
  | 'cannot-ask';

const unsupportedVersion = -32022;
const headerMismatch = -32020;

export function outdatedCacheOf(
  { client, isEraCached }: Connection,
  outcome: CallOutcome,
  trace: CallTrace,
  session: Session | undefined,
): OutdatedCache | undefined {
  if (trace.end) return undefined;
  if (trace.answer && couldNotAsk(trace.answer)) return 'cannot-ask';
  if (isEraCached && speaksAnotherEra(outcome, trace)) return 'era';
  if (client.getProtocolEra() === 'modern' && lacksHeaders(trace)) return 'schema';
  return session && isForgotten(trace) ? 'session' : undefined;
}

/** Only checked in the new era: older servers use the code for anything. */
function lacksHeaders({ answer }: CallTrace): boolean {
  return answer !== undefined && 'error' in answer && answer.error.code === headerMismatch;
}

/**
 * Whether the call failed because of the pooled session. A server that has forgotten a session answers 404, some 400 or
 * 401; and one that was not reached may be reached on a new connection.
 */
export function isPooledSessionGone(outcome: CallOutcome, trace: CallTrace): boolean {
  if (trace.end) return false;
  const isRefused = outcome.kind === 'refused' && outcome.otherwise?.kind !== 'unknown';
  return isRefused || isForgotten(trace) || trace.exchange?.isSent !== true;
}

/** The server no longer knew the session, so nothing was done in it. */
function isForgotten({ exchange, answer }: CallTrace): boolean {
  return exchange?.status === 404 || (exchange?.status === 400 && answer === undefined);
}

/** Only when the call certainly did not run, so that it can be made again. */
function speaksAnotherEra(outcome: CallOutcome, { exchange, answer }: CallTrace): boolean {
  const kind = outcome.kind === 'refused' ? outcome.otherwise?.kind : outcome.kind;
  if (kind !== 'rejected' && kind !== 'unreachable') return false;
  if (answer) return 'error' in answer && answer.error.code === unsupportedVersion;
  return eraMayHaveChanged(exchange?.status);
}
