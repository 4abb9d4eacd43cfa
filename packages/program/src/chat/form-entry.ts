/** Filling in a form line by line: the current position, and the effect of the next line. Pure; form-wording.ts draws it. */
import { anyPattern, checkField } from '@interlude-ai/core/elicitation/form/check-form.ts';
import type { Limit, Violation } from '@interlude-ai/core/elicitation/form/check-form.ts';
import type { Field, TextFormat } from '@interlude-ai/core/elicitation/form/field.ts';
import { defaultsOf } from '@interlude-ai/core/elicitation/form/requested-schema.ts';
import { typedValue } from '@interlude-ai/core/elicitation/form/typed-value.ts';
import { counted } from '@interlude-ai/kit/terminal/terminal-text.ts';

export interface FormEntry {
  fields: readonly Field[];
  /** By field name. Left-out fields are missing. */
  answers: ReadonlyMap<string, unknown>;
  /** By field name: why the service refused it. */
  problems: ReadonlyMap<string, string>;
  at:
    | {
        kind: 'field';
        index: number;
        /** What follows is the review, not the next field. */ isChange: boolean;
      }
    | { kind: 'review' };
}

export type Step =
  /** Nothing has changed; `why` is a sentence to the person. */
  | { kind: 'wrong'; why: string }
  | { kind: 'moved'; entry: FormEntry }
  /** `value` is undefined when the field was left out. */
  | { kind: 'answered'; entry: FormEntry; field: Field; value: unknown }
  | { kind: 'send'; content: Record<string, unknown> };

/** A form that is completely filled in begins with the review. */
export function beginForm(fields: readonly Field[]): FormEntry {
  const required = fields.filter(({ isRequired }) => isRequired);
  const isFilledIn = fields.length > 1 && required.length > 0 && required.every(hasDefault);
  const answers = new Map(isFilledIn ? Object.entries(defaultsOf([...fields])) : []);
  const at = isFilledIn || fields.length === 0 ? { kind: 'review' as const } : fieldAt(0);
  return { fields, answers, problems: new Map(), at };
}

/** Resumes at the first field without a kept answer. */
export function resumeForm(entry: FormEntry, kept: ReadonlyMap<string, unknown>): FormEntry {
  if (kept.size === 0) return entry;
  const answers = new Map([...entry.answers, ...kept]);
  const index = entry.fields.findIndex(({ name }) => !answers.has(name));
  const isReview = index < 0 || entry.at.kind === 'review';
  return { ...entry, answers, at: isReview ? { kind: 'review' } : fieldAt(index) };
}

function hasDefault(field: Field): boolean {
  return field.default !== undefined;
}

/** The field that is asked for; undefined in the review. */
export function currentField({ fields, at }: FormEntry): Field | undefined {
  return at.kind === 'field' ? fields[at.index] : undefined;
}

/** The value of an empty line: the earlier answer, or the default. */
export function emptyLineValue({ answers, problems }: FormEntry, field: Field): unknown {
  if (problems.has(field.name)) return undefined;
  return answers.has(field.name) ? answers.get(field.name) : field.default;
}

export function enterLine(entry: FormEntry, line: string): Step {
  const text = line.trim();
  if (text.toLowerCase() === '/back') return goBack(entry);
  const field = currentField(entry);
  return field ? enterAnswer(entry, field, text) : enterDecision(entry, text);
}

/** Back to the first field with a problem. The other answers stay. */
export function correct(entry: FormEntry, problems: ReadonlyMap<string, string>): FormEntry {
  const index = entry.fields.findIndex(({ name }) => problems.has(name));
  return index < 0 ? entry : { ...entry, problems, at: fieldAt(index, true) };
}

function enterAnswer(entry: FormEntry, field: Field, text: string): Step {
  if (text === '-') {
    if (field.isRequired && !mayBeNone(field)) return { kind: 'wrong', why: notWithoutAnswer(field) };
    return answered(entry, field, field.isRequired ? [] : undefined);
  }
  if (text === '') {
    const value = emptyLineValue(entry, field) ?? (field.isRequired && mayBeNone(field) ? [] : undefined);
    if (value === undefined && field.isRequired) return { kind: 'wrong', why: notWithoutAnswer(field) };
    return answered(entry, field, value);
  }
  const read = readAnswer(field, text);
  return read.kind === 'wrong' ? read : answered(entry, field, read.value);
}

/** If the minimum is zero, an empty list is an answer. */
function mayBeNone(field: Field): boolean {
  return field.kind === 'choices' && (field.minItems ?? 0) === 0;
}

function answered(entry: FormEntry, field: Field, value: unknown): Step {
  const answers = new Map(entry.answers).set(field.name, value);
  const problems = new Map([...entry.problems].filter(([name]) => name !== field.name));
  const next = { ...entry, answers, problems };
  return { kind: 'answered', entry: { ...next, at: whatFollows(next) }, field, value };
}

function whatFollows({ fields, problems, at }: FormEntry): FormEntry['at'] {
  const wrong = fields.findIndex(({ name }) => problems.has(name));
  if (wrong >= 0) return fieldAt(wrong, true);
  const isOver = at.kind === 'review' || at.isChange || at.index + 1 >= fields.length;
  return isOver ? { kind: 'review' } : fieldAt(at.index + 1);
}

function goBack(entry: FormEntry): Step {
  const { at, fields } = entry;
  const index = (at.kind === 'review' ? fields.length : at.index) - 1;
  if (index < 0) return { kind: 'wrong', why: 'This is where the form begins.' };
  return { kind: 'moved', entry: { ...entry, at: fieldAt(index) } };
}

/** Refusing to send is no answer to the question: /n and /c are. */
function enterDecision(entry: FormEntry, text: string): Step {
  const { fields, answers } = entry;
  if (['', 'y', 'yes'].includes(text.toLowerCase())) {
    const content = [...answers].filter(([, value]) => value !== undefined);
    return { kind: 'send', content: Object.fromEntries(content) };
  }
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  if (fields[number - 1]) return { kind: 'moved', entry: { ...entry, at: fieldAt(number - 1, true) } };
  const change = fields.length > 0 ? 'a number changes that answer, ' : '';
  return {
    kind: 'wrong',
    why: `Not sent: Enter sends it, ${change}/n says not now, /c dismisses the question.`,
  };
}

function fieldAt(index: number, isChange = false): FormEntry['at'] {
  return { kind: 'field', index, isChange };
}

// Typed text → the value of a field.

/** `why` is a sentence to the person. */
type ReadAnswer = { kind: 'value'; value: unknown } | { kind: 'wrong'; why: string };

/** Accepts what is unambiguous. Patterns are checked by the service, which can stop them. */
export function readAnswer(field: Field, line: string): ReadAnswer {
  const value = typedValue(field, line);
  const strange = notOnTheList(field, value);
  if (strange !== undefined) return wrong(`“${strange}” is not on the list. Write numbers of it, like 1,2.`);
  const violation = checkField(field, value, anyPattern);
  return violation ? wrong(inWords(field, violation)) : { kind: 'value', value };
}

function notOnTheList(field: Field, value: unknown): string | undefined {
  if (field.kind !== 'choices' || !Array.isArray(value)) return undefined;
  return value.map(String).find((one) => !field.choices.some((choice) => choice.value === one));
}

const wrong = (why: string): ReadAnswer => ({ kind: 'wrong', why });

function inWords(field: Field, violation: Violation): string {
  switch (violation.kind) {
    case 'missing':
    case 'unknown-field':
      return notWithoutAnswer(field);
    case 'limit':
      return limits[violation.keyword](violation.limit);
    case 'fraction':
      return 'Write a whole number, like 42.';
    case 'not-of-its-kind':
    case 'pattern':
    case 'repeated-choice':
      return whatItIsFor(field);
    default:
      return violation satisfies never;
  }
}

const limits: Record<Limit, (limit: number) => string> = {
  minLength: (limit) => `That is too short: at least ${counted(limit, 'character')}.`,
  maxLength: (limit) => `That is too long: at most ${counted(limit, 'character')}.`,
  minimum: (limit) => `That is too little: at least ${limit}.`,
  maximum: (limit) => `That is too much: at most ${limit}.`,
  exclusiveMinimum: (limit) => `That is too little: more than ${limit}.`,
  exclusiveMaximum: (limit) => `That is too much: less than ${limit}.`,
  multipleOf: (limit) => `Write a multiple of ${limit}.`,
  minItems: (limit) => `Choose at least ${limit}.`,
  maxItems: (limit) => `Choose at most ${limit}.`,
};

/** For a required field that was left out. */
function notWithoutAnswer(field: Field): string {
  return `This one has to be answered. ${whatItIsFor(field)}`;
}

function whatItIsFor(field: Field): string {
  switch (field.kind) {
    case 'text':
      return field.format === undefined ? 'Write a text.' : formats[field.format];
    case 'number':
      return 'Write a number, like 42.';
    case 'boolean':
      return 'Answer y or n.';
    case 'choice':
    case 'choices':
      return `Choose one of the list by its number, 1 to ${field.choices.length}.`;
    default:
      return field satisfies never;
  }
}

export const exampleDay = '2027-03-14';

const formats: Record<TextFormat, string> = {
  email: 'Write an email address, like alice@example.com.',
  uri: 'Write a complete address, like https://example.com',
  date: `Write a day like ${exampleDay}.`,
  'date-time': `Write a day and a time like ${exampleDay} 08:30.`,
};
