/**
 * A form while it is filled in: the entries of its fields, as the browser holds them, and what is wrong with them. Pure.
 */
import { coerceContent } from '@interlude-ai/core/elicitation/form/coerce-content.ts';
import type { Field } from '@interlude-ai/core/elicitation/form/field.ts';
import { problemWith, wantedIn } from '@interlude-ai/core/elicitation/form/shown-field.ts';
import type { FieldError } from '@interlude-ai/client/interlude-error.ts';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';

/** The value of an input: text, a checkbox, or the checked values of a list. */
export type Entry = string | boolean | string[];
/** By the field's name. A map, because the names are untrusted: an object already has some members. */
export type Draft = ReadonlyMap<string, Entry>;
export type Problems = ReadonlyMap<string, string>;

export function emptyDraft(fields: readonly Field[]): Draft {
  return new Map(fields.map((field) => [field.name, initial(field)]));
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

/** For `datetime-local`, in local time; empty for a year that it cannot show. */
function localTime(instant: string | undefined): string {
  const time = new Date(instant ?? '');
  const year = time.getFullYear();
  if (!(year >= 1 && year <= 9999)) return '';
  const [month, day, hour, minute] = [
    time.getMonth() + 1,
    time.getDate(),
    time.getHours(),
    time.getMinutes(),
  ].map((part) => String(part).padStart(2, '0'));
  return `${String(year).padStart(4, '0')}-${month}-${day}T${hour}:${minute}`;
}

/** An unchanged default is sent as it was, with its seconds; an invalid time stays as it is, to be reported. */
function instantOf(entry: string, given: string | undefined): string {
  if (entry === '') return '';
  if (given !== undefined && entry === localTime(given)) return given;
  const time = new Date(entry);
  return Number.isNaN(time.getTime()) ? entry : time.toISOString();
}

export function contentOf(fields: readonly Field[], draft: Draft): Record<string, unknown> {
  const values = fields.map((field) => {
    const entry = draft.get(field.name) ?? initial(field);
    const isTime = field.kind === 'text' && field.format === 'date-time' && typeof entry === 'string';
    return [field.name, isTime ? instantOf(entry, field.default) : entry] as const;
  });
  return coerceContent([...fields], Object.fromEntries(values));
}

/**
 * What can be checked without the service, which checks everything again. `unfinished`: the names of fields with an
 * incomplete date, for which browsers return an empty value.
 */
export function problemsIn(
  fields: readonly Field[],
  draft: Draft,
  words: Words,
  unfinished: ReadonlySet<string> = new Set(),
): Problems {
  const content = new Map(Object.entries(contentOf(fields, draft)));
  const found = fields.flatMap((field) => {
    const problem = unfinished.has(field.name)
      ? wantedIn(field, words)
      : problemWith(field, content.get(field.name), words);
    return problem === null ? [] : [[field.name, problem] as const];
  });
  return new Map(found);
}

/** The service's errors by field; null when one of them is about no field. */
export function problemsFrom(errors: readonly FieldError[], fields: readonly Field[]): Problems | null {
  const found = new Map<string, string>();
  for (const { pointer, detail } of errors) {
    const name = /^\/content\/([^/]*)/.exec(pointer)?.[1]?.replaceAll('~1', '/').replaceAll('~0', '~');
    const field = fields.find((one) => one.name === name);
    if (!field) return null;
    if (!found.has(field.name)) found.set(field.name, detail);
  }
  return errors.length === 0 ? null : found;
}
