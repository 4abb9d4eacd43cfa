/**
 * Whether a value is valid for its field: the one check for the service, the widget, the terminal and the defaults of a form.
 * Pure, and for browsers too. It returns codes; each caller has its own texts for them.
 */
import type { ChoicesInput, Field, Input, NumberInput, TextFormat, TextInput } from './field.ts';

/** The first thing that is wrong with a value. */
export type Violation =
  | { kind: 'missing' }
  | { kind: 'unknown-field' }
  /** The wrong type, none of the choices, or the wrong format. */
  | { kind: 'not-of-its-kind' }
  | { kind: 'fraction' }
  /** It breaks this keyword of the schema. */
  | { kind: 'limit'; keyword: Limit; limit: number }
  | { kind: 'pattern'; pattern: string }
  | { kind: 'repeated-choice' };

export type Limit =
  | 'minLength'
  | 'maxLength'
  | 'minimum'
  | 'maximum'
  | 'exclusiveMinimum'
  | 'exclusiveMaximum'
  | 'multipleOf'
  | 'minItems'
  | 'maxItems';

/**
 * Whether a text matches a pattern. Patterns are untrusted, and JavaScript's engine backtracks: only code that can stop it
 * may try them.
 */
type FitsPattern = (pattern: string, text: string) => boolean;

/** Leaves patterns to the service, which can stop the engine. */
export const anyPattern: FitsPattern = () => true;

/** One entry for each invalid field, by name, in the order of the form. */
export function checkForm(
  fields: readonly Field[],
  content: Record<string, unknown>,
  fitsPattern: FitsPattern,
): Map<string, Violation> {
  const known = new Set(fields.map(({ name }) => name));
  const found = new Map<string, Violation>();
  for (const field of fields) {
    const value = Object.hasOwn(content, field.name) ? content[field.name] : undefined;
    const violation = checkField(field, value, fitsPattern);
    if (violation) found.set(field.name, violation);
  }
  for (const name of Object.keys(content)) if (!known.has(name)) found.set(name, { kind: 'unknown-field' });
  return found;
}

/** `value`: undefined if the field was left out. */
export function checkField(field: Field, value: unknown, fitsPattern: FitsPattern): Violation | undefined {
  if (value === undefined) return field.isRequired ? { kind: 'missing' } : undefined;
  return checkInput(field, value, fitsPattern);
}

export function checkInput(input: Input, value: unknown, fitsPattern: FitsPattern): Violation | undefined {
  switch (input.kind) {
    case 'text':
      return typeof value === 'string' ? checkText(input, value, fitsPattern) : notOfItsKind;
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? checkNumber(input, value) : notOfItsKind;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : notOfItsKind;
    case 'choice':
      return input.choices.some((choice) => choice.value === value) ? undefined : notOfItsKind;
    case 'choices':
      return Array.isArray(value) ? checkChoices(input, value) : notOfItsKind;
    default:
      return input satisfies never;
  }
}

function limited(keyword: Limit, limit: number): Violation {
  return { kind: 'limit', keyword, limit };
}

const notOfItsKind: Violation = { kind: 'not-of-its-kind' };

function checkText(input: TextInput, text: string, fitsPattern: FitsPattern): Violation | undefined {
  const { format, minLength = 0, maxLength = Infinity, pattern } = input;
  // JSON Schema counts characters, not UTF-16 units.
  const length = minLength > 0 || text.length > maxLength ? Array.from(text).length : 0;
  if (length < minLength) return limited('minLength', minLength);
  if (length > maxLength) return limited('maxLength', maxLength);
  if (pattern !== undefined && !fitsPattern(pattern, text)) return { kind: 'pattern', pattern };
  return format !== undefined && !hasFormat(text, format) ? notOfItsKind : undefined;
}

function checkNumber(input: NumberInput, value: number): Violation | undefined {
  const { isInteger, minimum = -Infinity, maximum = Infinity, multipleOf } = input;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = input;
  if (isInteger && !Number.isInteger(value)) return { kind: 'fraction' };
  // Larger whole numbers are not exact in JavaScript.
  const least = isInteger ? Math.max(minimum, Number.MIN_SAFE_INTEGER) : minimum;
  const most = isInteger ? Math.min(maximum, Number.MAX_SAFE_INTEGER) : maximum;
  if (value < least) return limited('minimum', least);
  if (value > most) return limited('maximum', most);
  if (value <= exclusiveMinimum) return limited('exclusiveMinimum', exclusiveMinimum);
  if (value >= exclusiveMaximum) return limited('exclusiveMaximum', exclusiveMaximum);
  return multipleOf === undefined || isMultiple(value / multipleOf)
    ? undefined
    : limited('multipleOf', multipleOf);
}

/** Tolerates the rounding errors of the division. */
function isMultiple(quotient: number): boolean {
  return Math.abs(Math.round(quotient) - quotient) <= 1e-9;
}

function checkChoices(input: ChoicesInput, values: unknown[]): Violation | undefined {
  const { choices, minItems = 0 } = input;
  const maxItems = Math.min(input.maxItems ?? Infinity, choices.length);
  if (values.length < minItems) return limited('minItems', minItems);
  if (values.length > maxItems) return limited('maxItems', maxItems);
  const known = new Set<unknown>(choices.map(({ value }) => value));
  if (!values.every((value) => known.has(value))) return notOfItsKind;
  return new Set(values).size < values.length ? { kind: 'repeated-choice' } : undefined;
}

/**
 * The formats of email addresses, addresses (RFC 3986), dates and times (RFC 3339) as in `ajv-formats`; a test compares the
 * two. Texts are untrusted and may be long, so every pattern reads each character once.
 */
export function hasFormat(text: string, format: TextFormat): boolean {
  switch (format) {
    case 'email':
      return email.test(text);
    case 'uri':
      return isUri(text);
    case 'date':
      return isDay(text);
    case 'date-time':
      return isMoment(text);
    default:
      return format satisfies never;
  }
}

const email =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;

/** Allowed characters and one fragment; `URL.canParse` checks the rest. */
const uri =
  /^[a-z][a-z0-9+.-]*:(?=.)(?:\/\/[\w.~!$&'()*+,;=:@[\]%-]*(?:[/?][\w.~!$&'()*+,;=:@/?%-]*)?|(?!\/\/)[\w.~!$&'()*+,;=:@/?%-]*)(?:#[\w.~!$&'()*+,;=:@/?%-]*)?$/i;

function isUri(text: string): boolean {
  return uri.test(text) && !/%(?![0-9a-f]{2})/i.test(text) && URL.canParse(text);
}

/** Also checks the calendar: there is no 31 April. */
function isDay(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** A leap second is the last second of a day in UTC. */
const clock =
  /^[t\s](?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)|23:59:60(?:\.\d+)?z)$/i;

function isMoment(text: string): boolean {
  return isDay(text.slice(0, 10)) && clock.test(text.slice(10));
}
