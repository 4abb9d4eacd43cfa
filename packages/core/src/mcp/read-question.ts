/**
 * Validates a question of a server before it is shown. One that cannot be shown is refused, with a reason for the server's
 * author and the model.
 */
import { z } from 'zod';
import { canPresent } from '../elicitation/elicitation.ts';
import type { Capabilities, Mode } from '../elicitation/elicitation.ts';
import { plainSchema, Unsupported, withoutNullKeywords } from '../elicitation/form/schema-keywords.ts';
import { isVisible, plainMessage } from '../elicitation/plain-text.ts';
import { questionAsText } from '../elicitation/question-as-text.ts';
import { readRequestedSchema } from '../elicitation/form/requested-schema.ts';
import { inspectUrl } from '../elicitation/url-safety.ts';
import type { InputRequest, InputRequired } from './input-required.ts';

/** What a server sent instead of a result. */
export type ReadInputRequired =
  | { kind: 'pause'; pause: InputRequired }
  | { kind: 'unaskable'; reason: string };

export type ReadQuestion = { kind: 'question'; request: InputRequest } | { kind: 'refused'; reason: string };

/** A longer message would fill the screen. */
const maxMessageLength = 4_000;
const maxUrlLength = 4_000;
export const maxQuestions = 20;
export const tooManyQuestions = `it asks more than ${maxQuestions} questions at once`;
/** Of the server's keys for its questions. */
export const maxKeyLength = 1024;

const message = z
  .string()
  .max(maxMessageLength, 'its message is too long')
  .refine(isVisible, 'it has no message')
  .transform(plainMessage);
/** Without a mode it is a form: 2025-06-18 had only forms. */
const formSchema = z.looseObject({ message, requestedSchema: z.record(z.string(), z.unknown()) });
const urlSchema = z.looseObject({ message, url: z.string().max(maxUrlLength, 'its url is too long') });

/** `params` of `elicitation/create`, not validated yet. */
export function readQuestion(params: unknown, capabilities: Capabilities): ReadQuestion {
  const mode = (params as { mode?: unknown } | null | undefined)?.mode ?? 'form';
  if (mode !== 'form' && mode !== 'url')
    return refused(`it asks in an unknown way ("${typeof mode === 'string' ? cut(mode) : typeof mode}")`);
  try {
    const read = mode === 'form' ? readForm(params) : readUrl(params);
    return canPresent(mode, capabilities) ? read : refused(notShown(mode, read));
  } catch (error) {
    if (error instanceof Unsupported) return refused(error.message);
    throw error;
  }
}

function readForm(params: unknown): ReadQuestion {
  const parsed = formSchema.safeParse(params);
  if (!parsed.success) return refused(firstProblem(parsed.error));
  const { message } = parsed.data;
  const requestedSchema = withoutNullKeywords(parsed.data.requestedSchema);
  const form = readRequestedSchema(requestedSchema);
  if (form.kind === 'unsupported') return refused(form.reason);
  return {
    kind: 'question',
    request: { mode: 'form', message, requestedSchema: plainSchema(requestedSchema) },
  };
}

function readUrl(params: unknown): ReadQuestion {
  const parsed = urlSchema.safeParse(params);
  if (!parsed.success) return refused(firstProblem(parsed.error));
  const { message, url } = parsed.data;
  const inspected = inspectUrl(url);
  return inspected.kind === 'refused'
    ? refused(inspected.reason)
    : { kind: 'question', request: { mode: 'url', message, url } };
}

/** The model may ask it in the chat. The question is quoted, because the server wrote it. */
function notShown(mode: Mode, read: ReadQuestion): string {
  const why = `it asks with a ${mode}, which the user's client cannot show, as the server was told`;
  if (read.kind === 'refused') return why;
  return `${why}; to be put to the user in words, its question is ${JSON.stringify(questionAsText(read.request))}`;
}

function refused(reason: string): ReadQuestion {
  return { kind: 'refused', reason };
}

function firstProblem({ issues }: z.ZodError): string {
  const [issue] = issues;
  const at = issue?.path.join('.') ?? '';
  return `${at === '' ? 'the question' : `"${at}"`} is malformed: ${issue?.message ?? 'unknown problem'}`;
}

export function cut(text: string): string {
  return text.slice(0, 40);
}
