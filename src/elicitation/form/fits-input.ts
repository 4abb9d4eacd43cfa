/**
 * Whether a default may stand in a field before anybody touched it. Where in doubt it is stricter than the check of an
 * answer: a default that is left out costs a few key strokes, a wrong one is a field that fails untouched.
 */
import type { ChoicesInput, NumberInput, TextFormat, TextInput } from './requested-schema.ts';

export function fitsText(text: string, { format, minLength = 0, maxLength = Infinity, pattern }: TextInput) {
  // JSON Schema counts characters, not the halves that some of them are in memory.
  const length = Array.from(text).length;
  const hasLength = length >= minLength && length <= maxLength;
  return hasLength && pattern === undefined && (format === undefined || hasFormat(text, format));
}

export function fitsNumber(value: number, input: NumberInput): boolean {
  const { minimum = -Infinity, maximum = Infinity, multipleOf } = input;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = input;
  return (
    Number.isFinite(value) &&
    (!input.isInteger || Number.isSafeInteger(value)) &&
    value >= minimum &&
    value <= maximum &&
    value > exclusiveMinimum &&
    value < exclusiveMaximum &&
    (multipleOf === undefined || Number.isInteger(value / multipleOf))
  );
}

export function fitsChoices(values: string[], { choices, minItems = 0, maxItems = Infinity }: ChoicesInput) {
  const known = new Set(choices.map(({ value }) => value));
  const isDistinct = new Set(values).size === values.length;
  const hasLength = values.length >= minItems && values.length <= maxItems;
  return isDistinct && hasLength && values.every((value) => known.has(value));
}

const day = /^\d{4}-\d\d-\d\d$/;
const time = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const email = /^[\w+-]+(?:\.[\w+-]+)*@(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]{2,}$/i;
/** Scheme, host and port; path, query and fragment are told apart by what each may begin with. */
const uri =
  /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9.-]+(?::\d+)?(?:\/[\w.~!$&'()*+,;=:@/-]*)?(?:\?[\w.~!$&'()*+,;=:@/?-]*)?(?:#[\w.~!$&'()*+,;=:@/?-]*)?$/i;

function hasFormat(text: string, format: TextFormat): boolean {
  switch (format) {
    case 'email':
      return email.test(text);
    case 'uri':
      return uri.test(text.replaceAll(/%[0-9a-f]{2}/gi, '_'));
    case 'date':
      return isDay(text);
    case 'date-time':
      return text[10] === 'T' && isDay(text.slice(0, 10)) && time.test(text.slice(11));
    default:
      return format satisfies never;
  }
}

/** The calendar is asked too: there is no 31 April. */
function isDay(text: string): boolean {
  const at = day.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
