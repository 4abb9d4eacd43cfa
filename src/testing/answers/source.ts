/** What answers the questions of a server where no person has to: a file, a program, a terminal. Pure. */
import type { Action, AnsweredBy } from '../../elicitation/elicitation.ts';
import type { Field } from '../../elicitation/form/field.ts';
import type { InputRequest, ServerQuestion } from '../../remote/input-required.ts';
import { readRequestedSchema } from '../../elicitation/form/requested-schema.ts';

/** What is answered: `content` only with the `accept` of a form. */
export interface Answer {
  action: Action;
  content?: Record<string, unknown>;
}

export interface Question {
  /** The server's own name for it; in the old era the id of its request, which says nothing. */
  key: string;
  /** In the old era: the server's name for the page. */
  pageId?: string;
  request: InputRequest;
  /** Of a form. */
  fields: Field[];
}

/** The questions that a server asks in one go. */
export interface Round {
  tool: string;
  arguments: Record<string, unknown>;
  /** Counted from 1; in the old era every question is a round. */
  round: number;
  questions: readonly Question[];
  requestState?: string;
  /** Names the server, where it has a name. */
  server?: string;
}

/**
 * Answers by the question's key. What it leaves out, the next source is asked. An answer that does not fit ends the call
 * before anything is sent; so does an error, which should be a `SourceError`.
 */
export interface AnswerSource {
  /** For people: who answered. */
  name: string;
  /** For the audit of a service; a person unless given. */
  kind?: AnsweredBy;
  answer(
    round: Round,
    options: { signal: AbortSignal },
  ): Promise<ReadonlyMap<string, Answer>> | ReadonlyMap<string, Answer>;
}

/** A source could not do its work: the message says why, and what to change. */
export class SourceError extends Error {
  override name = 'SourceError';
}

export function toQuestion({ key, pageId, request }: ServerQuestion): Question {
  const form = request.mode === 'form' ? readRequestedSchema(request.requestedSchema) : undefined;
  return {
    key,
    ...(pageId !== undefined && { pageId }),
    request,
    fields: form?.kind === 'form' ? form.fields : [],
  };
}

/** Declines whatever it is asked. */
export const declineAll: AnswerSource = {
  name: 'decline',
  kind: 'rule',
  answer: ({ questions }) => new Map(questions.map(({ key }) => [key, { action: 'decline' }])),
};
