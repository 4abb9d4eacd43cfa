/**
 * Recognises a server's answer to `tools/call` in either era, and builds the retry. Reads the raw message, so that a question in a
 * foreign dialect is a fault and never passes for a result.
 */
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import type { InputRequired, QuestionAnswer } from '@interlude-ai/core/mcp/input-required.ts';
import { readRequiredPages } from '@interlude-ai/core/mcp/legacy-messages.ts';
import { readInputRequired, retryParams } from '@interlude-ai/core/mcp/rounds.ts';
import { clauses, ownLimit } from './fault.ts';
import type { Clause, Fault } from './fault.ts';

export type Era = 'modern' | 'legacy';

export type ServerAnswer =
  | { kind: 'result'; result: CallToolResult }
  /** The server wants answers and then another call. */
  | { kind: 'asks'; pause: InputRequired }
  | { kind: 'error'; code: number; message: string; data?: unknown }
  | { kind: 'fault'; fault: Fault };

export interface ReadOptions {
  era: Era;
  /** What the client has declared. */
  capabilities?: Capabilities;
}

export const canShowAll: Capabilities = { form: true, url: true };

const pagesRequired = -32042;

/** `message` is the raw JSON-RPC response. */
export function readServerAnswer(message: JSONRPCMessage, options: ReadOptions): ServerAnswer {
  if ('error' in message) return readError(message.error, options);
  const result: unknown = 'result' in message ? message.result : undefined;
  if (!isRecord(result))
    return fault('It answered the call with something that is no object.', clauses.toolResult);
  return readResult(result, options);
}

/** The questions in a result, or null. Throws `TypeError` for a question that breaks the specification. */
export function recognizeInputRequired(result: unknown): InputRequired | null {
  if (!isRecord(result)) return null;
  const read = readResult(result, { era: 'modern' });
  if (read.kind === 'fault' && ('inputRequests' in result || result['resultType'] === 'input_required'))
    throw new TypeError(`${read.fault.message} The rule: ${read.fault.clause.text}.`);
  return read.kind === 'asks' ? read.pause : null;
}

function readResult(
  result: Record<string, unknown>,
  { era, capabilities = canShowAll }: ReadOptions,
): ServerAnswer {
  const { resultType, ...rest } = result;
  const asks = resultType === 'input_required';
  if (!asks && rest['inputRequests'] !== undefined)
    return fault(
      `It sent inputRequests with the resultType ${JSON.stringify(resultType ?? null)}, so that most clients take the question for a result.`,
      Array.isArray(rest['inputRequests']) ? clauses.inputRequests : clauses.inputRequired,
    );
  if (asks && era === 'legacy')
    return fault('It answered a client of the old era with "input_required".', clauses.resultType);
  if (asks) {
    const read = readInputRequired(rest, capabilities);
    return read.kind === 'pause'
      ? { kind: 'asks', pause: read.pause }
      : fault(sentence(read.reason), clauseOfReason(read.reason) ?? clauseOfRequests(rest, capabilities));
  }
  if (resultType !== undefined && resultType !== 'complete')
    return fault(`It answered with the resultType ${JSON.stringify(resultType)}.`, clauses.resultType);
  if (!Array.isArray(rest['content'])) return fault('Its result has no list "content".', clauses.toolResult);
  return { kind: 'result', result: result as unknown as CallToolResult };
}

function readError(
  { code, message, data }: { code: number; message: string; data?: unknown },
  { era, capabilities = canShowAll }: ReadOptions,
): ServerAnswer {
  if (code !== pagesRequired) return { kind: 'error', code, message, ...(data !== undefined && { data }) };
  if (era === 'modern')
    return fault(
      'It answered with the error -32042 instead of asking with a result.',
      clauses.urlRequiredRemoved,
    );
  const read = readRequiredPages(data, capabilities);
  return read.kind === 'pause'
    ? { kind: 'asks', pause: read.pause }
    : fault(sentence(read.reason), clauses.urlRequired);
}

/** The rule that a set of unaskable requests breaks. */
function clauseOfRequests(
  { inputRequests, requestState }: Record<string, unknown>,
  able: Capabilities,
): Clause {
  if (inputRequests !== undefined && !isRecord(inputRequests)) return clauses.inputRequests;
  if (requestState !== undefined && typeof requestState !== 'string') return clauses.inputRequired;
  const requests = Object.values(inputRequests ?? {});
  if (requests.length === 0) return clauses.inputRequired;
  for (const request of requests) {
    if (!isRecord(request) || typeof request['method'] !== 'string') return clauses.inputRequests;
    if (request['method'] !== 'elicitation/create') return clauses.undeclared;
    const clause = clauseOfQuestion(request['params'], able);
    if (clause) return clause;
  }
  return clauses.inputRequired;
}

/** Null if it breaks a rule of the specification. */
function clauseOfReason(reason: string): Clause | null {
  return ofLimits.test(reason)
    ? ownLimit('people are not asked more here, though the specification sets no limit')
    : null;
}

/** The words of our readers of questions. */
const ofLimits = /too long|more than \d|at most \d+ fields|longer than \d/;

/** The clause that a pushed question of the old era breaks. */
export function clauseOfPushed(reason: string, params: unknown, able: Capabilities): Clause {
  return clauseOfReason(reason) ?? clauseOfQuestion(params, able) ?? clauses.question;
}

/** Null if the question itself breaks no rule. */
function clauseOfQuestion(params: unknown, able: Capabilities): Clause | null {
  if (!isRecord(params)) return clauses.question;
  const mode = params['mode'] ?? 'form';
  if (mode !== 'form' && mode !== 'url') return clauses.question;
  if (!able[mode]) return clauses.undeclared;
  if (typeof params['message'] !== 'string') return clauses.question;
  if (mode === 'form')
    return isRecord(params['requestedSchema']) ? clauses.requestedSchema : clauses.question;
  return typeof params['url'] === 'string' ? clauses.url : clauses.question;
}

export function fault(message: string, clause: Clause): { kind: 'fault'; fault: Fault } {
  return { kind: 'fault', fault: { message, clause } };
}

/** "it has no message" → "It has no message." */
export function sentence(reason: string): string {
  // A wire name keeps its case.
  const isName = /^[a-z]+[A-Z]/.test(reason);
  const text = isName ? reason : reason.charAt(0).toUpperCase() + reason.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * `params` are those of the first call, unchanged; the additions of earlier rounds are removed. Throws `TypeError` when
 * a question has no answer, or an answer has no question: then nothing must be sent.
 */
export function buildRetry(
  params: Record<string, unknown>,
  { questions, resume }: InputRequired,
  answers: readonly QuestionAnswer[],
): Record<string, unknown> {
  if (!isRecord(params)) throw new TypeError('The parameters of the call are no object.');
  const known = new Set(questions.map(({ key }) => key));
  const given = new Set(answers.map(({ key }) => key));
  for (const key of known) if (!given.has(key)) throw new TypeError(`The question "${key}" has no answer.`);
  for (const key of given) if (!known.has(key)) throw new TypeError(`There is no question "${key}".`);
  const { inputResponses: _responses, requestState: _state, ...first } = params;
  // The server refused until pages are done: the same call again.
  if (resume.kind !== 'retry') return first;
  return { ...first, ...retryParams([...answers], resume.requestState) };
}
