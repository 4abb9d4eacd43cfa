/**
 * How a server of the new era asks (2026-07-28, multi-round-trip requests): it answers a call with questions, and is called
 * again. Reads its `inputRequests`, and makes the `inputResponses` under the same keys.
 */
import type { Capabilities } from '../elicitation/elicitation.ts';
import type { QuestionAnswer, ServerQuestion } from './input-required.ts';
import { maxKeyLength, maxQuestions, readQuestion, tooManyQuestions, cut } from './read-question.ts';
import type { ReadInputRequired } from './read-question.ts';

/** The state is stored between the rounds and sent back. */
const maxStateLength = 256 * 1024;

/** The first parameter is a result whose `resultType` is `input_required`. */
export function readInputRequired(
  { inputRequests = {}, requestState }: Record<string, unknown>,
  capabilities: Capabilities,
): ReadInputRequired {
  if (typeof inputRequests !== 'object' || inputRequests === null || Array.isArray(inputRequests))
    return unaskable('inputRequests is not a map from keys to requests');
  if (requestState !== undefined && typeof requestState !== 'string')
    return unaskable('requestState is not a text');
  if ((requestState?.length ?? 0) > maxStateLength)
    return unaskable('its requestState is too long to be kept');
  if (Object.keys(inputRequests).length > maxQuestions) return unaskable(tooManyQuestions);
  const entries = Object.entries(inputRequests);
  // An empty state counts as none.
  const state = requestState === undefined || requestState === '' ? {} : { requestState };
  if (entries.length === 0 && state.requestState === undefined)
    return unaskable('it has neither inputRequests nor requestState');

  const questions: ServerQuestion[] = [];
  for (const [key, value] of entries) {
    if (key.length > maxKeyLength)
      return unaskable(`the key "${cut(key)}…" among its inputRequests is too long`);
    const { method, params } = (value ?? {}) as { method?: unknown; params?: unknown };
    if (typeof method !== 'string') return unaskable('what it has among its inputRequests is no request');
    if (method !== 'elicitation/create') return unaskable(`it wants "${cut(method)}", which was not offered`);
    const read = readQuestion(params, capabilities);
    if (read.kind === 'refused') return unaskable(read.reason);
    questions.push({ key, request: read.request });
  }
  return { kind: 'pause', pause: { questions, resume: { kind: 'retry', ...state } } };
}

/** Additional parameters of the repeated call. Only what the server asked for is sent. */
export function retryParams(
  answers: QuestionAnswer[],
  requestState: string | undefined,
): { inputResponses?: Record<string, unknown>; requestState?: string } {
  const responses = answers.map(({ key, action, content }) => [
    key,
    { action, ...(content !== undefined && { content }) },
  ]);
  return {
    // Unlike an object literal, `fromEntries` treats the key "__proto__" like any other.
    ...(responses.length > 0 && { inputResponses: Object.fromEntries(responses) as Record<string, unknown> }),
    ...(requestState !== undefined && { requestState }),
  };
}

function unaskable(reason: string): ReadInputRequired {
  return { kind: 'unaskable', reason };
}
