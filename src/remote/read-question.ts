/**
 * Reads what a server wants to ask before anybody sees it. What cannot be put to a person is refused with a reason
 * that the server's author, and the model, understand.
 */
import { z } from 'zod';
import { canPresent } from '../elicitation/capabilities.ts';
import type { Capabilities } from '../elicitation/capabilities.ts';
import { plainSchema } from '../elicitation/form/plain-schema.ts';
import type { Mode } from '../elicitation/elicitation.ts';
import { isVisible, plainMessage } from '../elicitation/plain-text.ts';
import { questionAsText } from '../elicitation/question-as-text.ts';
import { readRequestedSchema } from '../elicitation/form/requested-schema.ts';
import { Unsupported, withoutNullKeywords } from '../elicitation/form/schema-keywords.ts';
import { inspectUrl } from '../elicitation/url-safety.ts';
import type { InputRequest, InputRequired } from './input-required.ts';

/** What a server sent instead of a result. */
export type ReadInputRequired =
  | { kind: 'pause'; pause: InputRequired }
  | { kind: 'unaskable'; reason: string };

export type ReadQuestion = { kind: 'question'; request: InputRequest } | { kind: 'refused'; reason: string };

/** Longer ones are no questions: they fill the screen they are shown on. */
const maxMessageLength = 4_000;
const maxUrlLength = 4_000;
/** More at once are not a question but a flood. */
export const maxQuestions = 20;
export const tooManyQuestions = `it asks more than ${maxQuestions} questions at once`;
/** Of the server's own names for its questions. */
export const maxKeyLength = 1024;

const message = z
  .string()
  .max(maxMessageLength, 'its message is too long')
  .refine(isVisible, 'it has no message')
  .transform(plainMessage);
/** Without a mode it is a form, as in 2025-06-18, which knew nothing else. */
const formSchema = z.looseObject({ message, requestedSchema: z.record(z.string(), z.unknown()) });
const urlSchema = z.looseObject({ message, url: z.string().max(maxUrlLength, 'its url is too long') });

/** `params` of `elicitation/create`, in whatever shape they came. */
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

/** The model may put it to the user in words. They are quoted: they are the server's, and nobody else's. */
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

function cut(text: string): string {
  return text.slice(0, 40);
}
