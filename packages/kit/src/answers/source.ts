/** Sources of answers to a server's questions: a file, a program, a terminal. Pure. */
import type { Action, AnsweredBy } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Field } from '@interlude-ai/core/elicitation/form/field.ts';
import { fieldsOf } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import type { InputRequest, ServerQuestion } from '@interlude-ai/core/mcp/input-required.ts';

/** `content` only with the `accept` of a form. */
export interface Answer {
  action: Action;
  content?: Record<string, unknown>;
}

export interface Question {
  /** The server's name for it; in the old era the id of its request, which has no meaning. */
  key: string;
  /** In the old era: the server's name for the page. */
  pageId?: string;
  request: InputRequest;
  fields: Field[];
}

/** The questions that a server asks at once. */
export interface Round {
  tool: string;
  arguments: Record<string, unknown>;
  /** Counted from 1; in the old era every question is a round. */
  round: number;
  questions: readonly Question[];
  requestState?: string;
  /** The server's name, if it has one. */
  server?: string;
}

/**
 * Answers by the question's key. The next source is asked about missing ones. An answer that does not fit ends the call
 * before anything is sent; so does an error, which should be a `SourceError`.
 */
export interface AnswerSource {
  /** For people. */
  name: string;
  /** For the audit of a service; a person by default. */
  kind?: AnsweredBy;
  answer(
    round: Round,
    options: { signal: AbortSignal },
  ): Promise<ReadonlyMap<string, Answer>> | ReadonlyMap<string, Answer>;
}

/** A source failed: the message says why, and what to change. */
export class SourceError extends Error {
  override name = 'SourceError';
}

export function toQuestion({ key, pageId, request }: ServerQuestion): Question {
  return {
    key,
    ...(pageId !== undefined && { pageId }),
    request,
    fields: request.mode === 'form' ? fieldsOf(request.requestedSchema) : [],
  };
}

export const declineAll: AnswerSource = {
  name: 'decline',
  kind: 'rule',
  answer: ({ questions }) => new Map(questions.map(({ key }) => [key, { action: 'decline' }])),
};
