/**
 * How each field of a form is shown and what is said about it: the same in the widget and on the hosted page. Pure. Limits are
 * shown before they are broken. There is no `maxlength`: it counts UTF-16 units, and browsers cut off what is pasted.
 */
import type { Words } from '../words.ts';
import { anyPattern, checkField } from './check-form.ts';
import type { Limit, Violation } from './check-form.ts';
import type { Choice, Field, TextFormat } from './field.ts';

type Control =
  | { kind: 'checkbox' }
  | { kind: 'group'; type: 'radio' | 'checkbox'; choices: Choice[] }
  | { kind: 'select'; choices: Choice[] }
  | { kind: 'textarea' }
  | { kind: 'input'; type: string; inputMode?: 'numeric' | 'decimal'; autoComplete: 'email' | 'off' };

/** Up to this many choices are radio buttons; more become a select. */
const fewChoices = 4;
/** A text that may be longer is a textarea. */
const longText = 200;

export function controlOf(field: Field, words: Words): Control {
  switch (field.kind) {
    case 'boolean':
      return { kind: 'checkbox' };
    case 'choices':
      return { kind: 'group', type: 'checkbox', choices: field.choices };
    case 'choice':
      return field.choices.length > fewChoices
        ? { kind: 'select', choices: field.choices }
        : { kind: 'group', type: 'radio', choices: withNone(field, words) };
    case 'number':
      // Not `type=number`, which drops invalid text and changes with the mouse wheel.
      return {
        kind: 'input',
        type: 'text',
        inputMode: field.isInteger ? 'numeric' : 'decimal',
        autoComplete: 'off',
      };
    case 'text': {
      const { format, maxLength = 0 } = field;
      if (format === undefined && maxLength > longText) return { kind: 'textarea' };
      return {
        kind: 'input',
        type: inputTypes[format ?? 'plain'],
        autoComplete: format === 'email' ? 'email' : 'off',
      };
    }
    default:
      return field satisfies never;
  }
}

const inputTypes = { plain: 'text', email: 'email', uri: 'url', date: 'date', 'date-time': 'datetime-local' };

/** Radio buttons cannot be unselected. */
function withNone({ isRequired, choices }: Extract<Field, { kind: 'choice' }>, words: Words): Choice[] {
  const isThere = choices.some(({ value }) => value === '');
  return isRequired || isThere ? choices : [...choices, { value: '', title: words.leftOpen }];
}

/** What is written at a field. The field is described by all of it. */
interface Note {
  kind: 'help' | 'limits' | 'problem';
  text: string;
}

export function notesOf(field: Field, problem: string | undefined, words: Words): Note[] {
  const limits = limitsOf(field, words);
  const notes: [Note['kind'], string | undefined][] = [
    ['help', field.description],
    // The problem may say the same.
    ['limits', limits === problem ? undefined : limits],
    ['problem', problem],
  ];
  return notes.flatMap(([kind, text]) => (text === undefined || text === '' ? [] : [{ kind, text }]));
}

function limitsOf(field: Field, words: Words): string {
  switch (field.kind) {
    case 'text': {
      const { format, minLength = 0, maxLength } = field;
      const example = (format === 'email' || format === 'uri') && words.forExample(examples[format]);
      const { tooShort, tooLong, lengthBetween } = words;
      return sentences(
        range(minLength > 1 ? minLength : undefined, maxLength, tooShort, tooLong, lengthBetween),
        example,
      );
    }
    case 'number': {
      const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = field;
      return sentences(
        range(minimum, maximum, words.atLeast, words.atMost, words.between),
        exclusiveMinimum !== undefined && words.moreThan(exclusiveMinimum),
        exclusiveMaximum !== undefined && words.lessThan(exclusiveMaximum),
        multipleOf !== undefined && words.multipleOf(multipleOf),
      );
    }
    case 'choices': {
      const { minItems = 0, maxItems = Infinity, choices } = field;
      const most = maxItems < choices.length ? maxItems : undefined;
      const { chooseAtLeast, chooseAtMost, chooseBetween } = words;
      return sentences(
        range(minItems > 0 ? minItems : undefined, most, chooseAtLeast, chooseAtMost, chooseBetween),
      );
    }
    case 'boolean':
    case 'choice':
      return '';
    default:
      return field satisfies never;
  }
}

const examples = { email: 'name@example.com', uri: 'https://example.com/page' };

function range(
  least: number | undefined,
  most: number | undefined,
  atLeast: (limit: number) => string,
  atMost: (limit: number) => string,
  between: (least: number, most: number) => string,
): string | false {
  if (least !== undefined && most !== undefined) return between(least, most);
  if (least !== undefined) return atLeast(least);
  return most !== undefined && atMost(most);
}

function sentences(...parts: (string | false)[]): string {
  return parts.filter((part) => part !== false).join(' ');
}

/** What is wrong with a value, as far as a browser can tell: the service tries the patterns, too. */
export function problemWith(field: Field, value: unknown, words: Words): string | null {
  const violation = checkField(field, value, anyPattern);
  if (!violation) return null;
  // An empty required field.
  return value === undefined || value === '' ? words.required : inWords(field, violation, words);
}

/** What is wrong with a value that the service has refused. */
export function problemOfRefused(field: Field, value: unknown, words: Words): string {
  return problemWith(field, value, words) ?? problemOfPattern(field, words) ?? wantedIn(field, words);
}

/** What is wrong with a value that only the service finds wrong; null if the field has no pattern. */
export function problemOfPattern(field: Field, words: Words): string | null {
  if (field.kind !== 'text' || field.pattern === undefined) return null;
  // Few people read regular expressions.
  return field.description === undefined ? words.mustMatch(field.pattern) : words.asDescribed;
}

function inWords(field: Field, violation: Violation, words: Words): string {
  switch (violation.kind) {
    case 'limit':
      return words[limitWords[violation.keyword]](violation.limit);
    case 'fraction':
      return words.wholeNumber;
    default:
      return wantedIn(field, words);
  }
}

const limitWords = {
  minLength: 'tooShort',
  maxLength: 'tooLong',
  minimum: 'atLeast',
  maximum: 'atMost',
  exclusiveMinimum: 'moreThan',
  exclusiveMaximum: 'lessThan',
  multipleOf: 'multipleOf',
  minItems: 'chooseAtLeast',
  maxItems: 'chooseAtMost',
} satisfies Record<Limit, keyof Words>;

/** Fields of other kinds can only be left empty. */
export function wantedIn(field: Field, words: Words): string {
  if (field.kind === 'number') return words.notANumber;
  return field.kind === 'text' && field.format ? words[formatWords[field.format]] : words.required;
}

const formatWords = {
  email: 'notAnEmail',
  uri: 'notAnAddress',
  date: 'notADate',
  'date-time': 'notATime',
} satisfies Record<TextFormat, keyof Words>;
