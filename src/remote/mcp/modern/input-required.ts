/**
 * The new era's way to ask (2026-07-28, multi-round-trip requests): the server answers a call with what it wants to
 * know, and is called again. Maps in both directions: `inputRequests` by the server's keys, `inputResponses` by the same.
 */
import type { Capabilities } from '../../../elicitation/capabilities.ts';
import type { QuestionAnswer, ServerQuestion } from '../../input-required.ts';
import { maxKeyLength, maxQuestions, readQuestion, tooManyQuestions } from '../../read-question.ts';
import type { ReadInputRequired } from '../../read-question.ts';

/** It is kept between the rounds, and sent back each time. */
const maxStateLength = 256 * 1024;

/** `result` is one whose `resultType` is `input_required`. */
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
  // An empty state says nothing: there is no state to come back to.
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

/** Parameters of the repeated call, beside those of the first one. Nothing is sent that the server did not ask for. */
export function retryParams(
  answers: QuestionAnswer[],
  requestState: string | undefined,
): { inputResponses?: Record<string, unknown>; requestState?: string } {
  const responses = answers.map(({ key, action, content }) => [
    key,
    { action, ...(content !== undefined && { content }) },
  ]);
  return {
    // Unlike an object literal, this also takes "__proto__" for a key like any other.
    ...(responses.length > 0 && { inputResponses: Object.fromEntries(responses) as Record<string, unknown> }),
    ...(requestState !== undefined && { requestState }),
  };
}

function unaskable(reason: string): ReadInputRequired {
  return { kind: 'unaskable', reason };
}

function cut(text: string): string {
  return text.slice(0, 40);
}
