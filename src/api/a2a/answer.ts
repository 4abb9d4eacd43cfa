/** A message to a task that waits for a person, read as the answer. What is not understood is asked again. Pure. */
import type { Message } from '@a2a-js/sdk';
import { isApproval } from '../../elicitation/approval.ts';
import type { ElicitationEvent, ElicitationResponse } from '../../elicitation/elicitation.ts';
import { coerceContent } from '../../elicitation/form/coerce-content.ts';
import type { Field } from '../../elicitation/form/field.ts';
import { readRequestedSchema } from '../../elicitation/form/requested-schema.ts';
import { elicitationExtension, readStructured } from '../../a2a/extension.ts';
import type { StructuredAnswer } from '../../a2a/extension.ts';

export type ReadAnswer =
  | { kind: 'response'; response: ElicitationResponse }
  /** Nothing was decided; `reasons` are for whoever sent the message. */
  | { kind: 'misfit'; reasons: string };

/** An answer in the extension's form, wherever in the message it stands; null when there is none. */
export function structuredAnswer({ metadata, parts }: Message): StructuredAnswer | 'malformed' | null {
  const inMetadata = readStructured(metadata?.[elicitationExtension]);
  if (inMetadata !== null) return inMetadata;
  for (const { content } of parts) {
    const inPart = content?.$case === 'data' ? readStructured(content.value) : null;
    if (inPart !== null && inPart !== 'malformed' && inPart.elicitationId !== undefined) return inPart;
  }
  return null;
}

/** An answer in words, or as a bare object with the fields of the form. */
export function plainAnswer({ parts }: Message, question: ElicitationEvent): ReadAnswer {
  const contents = parts.map(({ content }) => content);
  const data = contents.find((content) => content?.$case === 'data')?.value as unknown;
  const text = contents
    .flatMap((content) => (content?.$case === 'text' ? [content.value] : []))
    .join('\n')
    .trim();
  const object = isObject(data) ? data : jsonObject(text);
  if (question.mode === 'url') return toLink(text);
  const form = readRequestedSchema(question.requestedSchema);
  const fields = form.kind === 'form' ? form.fields : [];
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

/** “no” is an answer to a yes-or-no question and may be a choice; to any other field it is a refusal. */
function toOneField(field: Field, text: string): ReadAnswer {
  const value = valueOf(field, text);
  if (value !== undefined) return accept(coerceContent([field], { [field.name]: value }));
  if (wordOf(text) === 'no') return decline;
  return accept(coerceContent([field], { [field.name]: text }));
}

/** The value that a field knows under this text; undefined where any text would do. */
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
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const decline: ReadAnswer = { kind: 'response', response: { action: 'decline' } };

function accept(content: Record<string, unknown>): ReadAnswer {
  return { kind: 'response', response: { action: 'accept', content } };
}

function misfit(reasons: string): ReadAnswer {
  return { kind: 'misfit', reasons };
}
