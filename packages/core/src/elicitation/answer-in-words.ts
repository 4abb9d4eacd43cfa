/**
 * Reads an answer that was given as text: a sentence, or an object with the fields of the form. What is not understood must
 * be asked again. For surfaces whose clients show no forms. Pure.
 */
import { isApproval } from './approval.ts';
import type { ElicitationRequest, ElicitationResponse } from './elicitation.ts';
import { coerceContent } from './form/coerce-content.ts';
import type { Field } from './form/field.ts';
import { fieldsOf } from './form/requested-schema.ts';
import { isRecord } from './form/schema-keywords.ts';

export type ReadAnswer =
  | { kind: 'response'; response: ElicitationResponse }
  /** Not understood; `reasons` are for the person who answered. */
  | { kind: 'misfit'; reasons: string };

/** `object`: sent in addition to the text, or instead of it, if the protocol supports that. */
export function answerInWords(
  { text, object = jsonObject(text) }: { text: string; object?: Record<string, unknown> | null },
  question: ElicitationRequest,
): ReadAnswer {
  if (question.mode === 'url') return toLink(text);
  const fields = fieldsOf(question.requestedSchema);
  if (object && fields.length > 0) return accept(coerceContent(fields, object));
  const [only, ...others] = fields;
  if (only && others.length === 0) return toOneField(only, text);
  const said = wordOf(text);
  if (said === 'no') return decline;
  if (fields.length > 0) return misfit('Send a JSON object with the fields that were asked for.');
  if (said !== 'yes') return misfit('Answer “yes” or “no”.');
  return isApproval(question.context)
    ? misfit('An approval is not taken in words: the user decides on the page, signed in.')
    : accept({});
}

function toLink(text: string): ReadAnswer {
  switch (wordOf(text)) {
    case 'no':
      return decline;
    case 'yes':
      return { kind: 'response', response: { action: 'accept' } };
    case null:
      return misfit('Open the link and finish there, or answer “no”.');
  }
}

/** “no” answers a yes-or-no question and may be a choice; for other fields it declines the question. */
function toOneField(field: Field, text: string): ReadAnswer {
  const value = valueOf(field, text);
  if (value !== undefined) return accept(coerceContent([field], { [field.name]: value }));
  if (wordOf(text) === 'no') return decline;
  return accept(coerceContent([field], { [field.name]: text }));
}

/** The value that this text means for the field; undefined if it means none. */
function valueOf(field: Field, text: string): unknown {
  switch (field.kind) {
    case 'choice':
      return choiceNamed(field.choices, text);
    case 'choices': {
      const values = text.split(',').map((word) => choiceNamed(field.choices, word.trim()));
      return values.includes(undefined) ? undefined : values;
    }
    case 'boolean':
      return text;
    case 'text':
    case 'number':
      return undefined;
    default:
      return field satisfies never;
  }
}

function choiceNamed(choices: { value: string; title: string }[], text: string): string | undefined {
  const wanted = text.toLowerCase();
  const isCalled = ({ value, title }: { value: string; title: string }) =>
    value.toLowerCase() === wanted || title.toLowerCase() === wanted;
  return choices.find(isCalled)?.value;
}

const yesWords = /^(?:yes|yes please|ok|okay|done|sure|agreed|approved?|accept(?:ed)?|confirm(?:ed)?)$/;
const noWords =
  /^(?:no|no thanks|no thank you|nope|not now|decline[d]?|refuse[d]?|reject(?:ed)?|cancel|stop)$/;

function wordOf(text: string): 'yes' | 'no' | null {
  const word = text
    .toLowerCase()
    .replaceAll(/[.!,]+/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (yesWords.test(word)) return 'yes';
  return noWords.test(word) ? 'no' : null;
}

function jsonObject(text: string): Record<string, unknown> | null {
  if (!text.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

const decline: ReadAnswer = { kind: 'response', response: { action: 'decline' } };

function accept(content: Record<string, unknown>): ReadAnswer {
  return { kind: 'response', response: { action: 'accept', content } };
}

function misfit(reasons: string): ReadAnswer {
  return { kind: 'misfit', reasons };
}
