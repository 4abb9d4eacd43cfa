/**
 * Whether a value fits its field: the one check for the service, the widget, the terminal and the defaults of a form.
 * Pure, and for browsers too. It says what is wrong; each place has its own words for that.
 */
import { hasFormat } from './formats.ts';
import type { ChoicesInput, Field, Input, NumberInput, TextInput } from './field.ts';

/** What is wrong with a value; of several things the first. */
export type Violation =
  /** Required, and not there. */
  | { kind: 'missing' }
  /** The form has no such field. */
  | { kind: 'unknown-field' }
  /** Not a text, not a number, none of the choices, no email address: not what the field is for. */
  | { kind: 'not-of-its-kind' }
  | { kind: 'fraction' }
  /** By the keyword of the schema that it breaks. */
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
 * Whether a text fits a pattern. Patterns are a stranger's, and JavaScript's engine backtracks: only who can stop it may
 * try one.
 */
export type FitsPattern = (pattern: string, text: string) => boolean;

/** Leaves patterns to the service, which can stop them. */
export const anyPattern: FitsPattern = () => true;

/** By field name, in the order of the form: one entry for each that does not fit. */
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

/** Undefined is a field that was left out. */
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
  // JSON Schema counts characters, not the halves that some of them are in memory.
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
  // Beyond these a whole number reaches us as another one than was sent.
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

/** Of a fraction, the division itself is a little wrong now and then. */
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
