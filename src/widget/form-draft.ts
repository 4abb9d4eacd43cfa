/** A form while somebody fills it in: what is in each field, as the browser has it, and what is wrong with it. Pure. */
import { coerceContent } from '../elicitation/coerce-content.ts';
import type { Field } from '../elicitation/requested-schema.ts';
import type { FieldError } from '../client/interlude-error.ts';
import type { Words } from './words.ts';

/** As inputs hold it: text, a tick, or the ticked values of a list. */
export type Entry = string | boolean | string[];
export type Draft = Readonly<Record<string, Entry>>;
export type Problems = Readonly<Record<string, string>>;

export function emptyDraft(fields: readonly Field[]): Draft {
  return Object.fromEntries(fields.map((field) => [field.name, initial(field)]));
}

function initial(field: Field): Entry {
  switch (field.kind) {
    case 'boolean':
      return field.default ?? false;
    case 'choices':
      return field.default ?? [];
    case 'text':
      return field.format === 'date-time' ? localTime(field.default) : (field.default ?? '');
    case 'number':
      return field.default === undefined ? '' : String(field.default);
    case 'choice':
      return field.default ?? '';
    default:
      return field satisfies never;
  }
}

/** For `datetime-local`, in the reader's own time. */
function localTime(instant: string | undefined): string {
  const time = new Date(instant ?? '');
  if (Number.isNaN(time.getTime())) return '';
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

export function contentOf(fields: readonly Field[], draft: Draft): Record<string, unknown> {
  const values = fields.map((field) => {
    const entry = draft[field.name] ?? initial(field);
    const isTime = field.kind === 'text' && field.format === 'date-time' && typeof entry === 'string';
    return [field.name, isTime && entry !== '' ? new Date(entry).toISOString() : entry] as const;
  });
  return coerceContent([...fields], Object.fromEntries(values));
}

/** What can be told without the service, which checks everything again. */
export function problemsIn(fields: readonly Field[], draft: Draft, words: Words): Problems {
  const content = contentOf(fields, draft);
  const found = fields.flatMap((field) => {
    const problem = problemOf(field, content[field.name], words);
    return problem === null ? [] : [[field.name, problem] as const];
  });
  return Object.fromEntries(found);
}

function problemOf(field: Field, value: unknown, words: Words): string | null {
  if (value === undefined || (value === '' && field.kind !== 'text'))
    return field.isRequired ? words.required : null;
  switch (field.kind) {
    case 'text': {
      const length = typeof value === 'string' ? Array.from(value).length : 0;
      // Nothing is a text like any other, but no date and no address.
      const mayBeEmpty = field.format === undefined && (field.minLength ?? 0) === 0;
      if (field.isRequired && length === 0 && !mayBeEmpty) return words.required;
      if (field.minLength !== undefined && length < field.minLength) return words.tooShort(field.minLength);
      if (field.maxLength !== undefined && length > field.maxLength) return words.tooLong(field.maxLength);
      return null;
    }
    case 'number': {
      if (typeof value !== 'number') return words.notANumber;
      if (field.isInteger && !Number.isInteger(value)) return words.wholeNumber;
      if (field.minimum !== undefined && value < field.minimum) return words.atLeast(field.minimum);
      if (field.maximum !== undefined && value > field.maximum) return words.atMost(field.maximum);
      return null;
    }
    case 'choices': {
      const count = Array.isArray(value) ? value.length : 0;
      if (field.minItems !== undefined && count < field.minItems) return words.chooseAtLeast(field.minItems);
      if (field.maxItems !== undefined && count > field.maxItems) return words.chooseAtMost(field.maxItems);
      return null;
    }
    case 'boolean':
    case 'choice':
      return null;
    default:
      return field satisfies never;
  }
}

/** The service's own words, put to the fields they are about; null when one is about none of them. */
export function problemsFrom(errors: readonly FieldError[], fields: readonly Field[]): Problems | null {
  const found: Record<string, string> = {};
  for (const { pointer, detail } of errors) {
    const name = /^\/content\/([^/]*)/.exec(pointer)?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
    const field = fields.find((one) => one.name === name);
    if (!field) return null;
    found[field.name] ??= detail;
  }
  return errors.length === 0 ? null : found;
}
