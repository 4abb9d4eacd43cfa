/**
 * What became of a tool call, from what is known of its request. The line between "certainly did not run" and
 * "unknown" is drawn here, because nothing may run twice:
 *
 * - the request never left, or was answered with a status that refuses it before processing: did not run;
 * - it left and no answer came, or the server failed while it worked on it: unknown.
 *
 * 503 on the call itself is unknown: proxies also say it when the server died with the request in its hands.
 */
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../config.ts';
import type { Refused, Unreachable } from './connect.ts';
import type { Deadline } from './deadline.ts';
import { describeTrouble, nameOf } from './trouble.ts';
import type { Exchange } from './wire.ts';

export type CallOutcome =
  /** As received: every content block and field kept, `isError` included. */
  | { kind: 'result'; result: CallToolResult }
  /** The tool did not run. */
  | Refused
  /** The tool did not run. */
  | Unreachable
  /** The server wants to ask a person in the middle of the call. */
  | { kind: 'asks'; message: string }
  /** The server turned the call down, in its own words, which are for the model and not for logs. */
  | { kind: 'rejected'; message: string }
  /** The request left and its answer is missing or says nothing: the tool may have run. */
  | { kind: 'unknown'; message: string };

/** What was seen of one tool call. */
export interface Sighting {
  exchange: Exchange | undefined;
  /** The JSON-RPC answer to it, as it came. */
  answer: JSONRPCMessage | undefined;
  /** The server sent a question (or another request) of its own while the call was open. */
  asked: boolean;
  end: Deadline['end'];
}

export function judge(server: ServerConfig, { exchange, answer, asked, end }: Sighting): CallOutcome {
  const outcome = answer ? fromAnswer(server, answer) : fromExchange(server, exchange, end);
  // A tool that copes with not being able to ask has simply answered.
  const fellThrough = answer !== undefined && (outcome.kind !== 'result' || outcome.result.isError === true);
  return asked && fellThrough ? asks(server) : outcome;
}

function fromExchange(
  server: ServerConfig,
  exchange: Exchange | undefined,
  end: Deadline['end'],
): CallOutcome {
  const message = describeTrouble(server, exchange, end);
  const status = exchange?.status;
  if (!exchange?.left) return { kind: 'unreachable', message };
  if (status === 401 || status === 403) return { kind: 'refused', status, challenge: exchange.challenge };
  if (status === undefined || status < 300 || status === 303 || status === 408 || status >= 500) {
    return { kind: 'unknown', message };
  }
  const isElsewhereOrLater = status < 400 || status === 404 || status === 410 || status === 429;
  return isElsewhereOrLater ? { kind: 'unreachable', message } : { kind: 'rejected', message };
}

function fromAnswer(server: ServerConfig, answer: JSONRPCMessage): CallOutcome {
  if ('error' in answer) return fromError(server, answer.error);
  const result: unknown = 'result' in answer ? answer.result : undefined;
  if (!isRecord(result)) return unreadable(server);
  const { resultType = 'complete', ...rest } = result;
  if (resultType === 'input_required') return asks(server);
  if (resultType !== 'complete' || !isToolResult(rest)) return unreadable(server);
  return { kind: 'result', result: rest };
}

/** Codes that turn a request down before anything is done. All others say only that something went wrong. */
const refusals = new Set([-32700, -32600, -32601, -32602, -32002, -32020, -32022]);
const needsInput = new Set([-32021, -32042]);

function fromError(server: ServerConfig, error: { code: number; message: string }): CallOutcome {
  if (needsInput.has(error.code)) return asks(server);
  const words = error.message
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 500);
  if (refusals.has(error.code))
    return { kind: 'rejected', message: `${nameOf(server)} refused the call: ${words}` };
  return {
    kind: 'unknown',
    message: `${nameOf(server)} failed while it handled the call (error ${error.code}).`,
  };
}

function asks(server: ServerConfig): CallOutcome {
  const message = `${nameOf(server)} asked a question in the middle of the call, which cannot be passed on to the user yet. The call did not complete.`;
  return { kind: 'asks', message };
}

function unreadable(server: ServerConfig): CallOutcome {
  return { kind: 'unknown', message: `${nameOf(server)} answered in a form that cannot be read.` };
}

/** Content of kinds nobody knows yet passes: whoever reads it decides what to do with it. */
function isToolResult(value: Record<string, unknown>): value is CallToolResult {
  const { content } = value;
  if (content === undefined) return value['structuredContent'] !== undefined;
  return (
    Array.isArray(content) && content.every((block) => isRecord(block) && typeof block['type'] === 'string')
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
