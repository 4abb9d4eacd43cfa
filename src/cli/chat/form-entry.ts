/**
 * Filling in a form line by line: where somebody is in it, and what the next line makes of that. Pure; what it looks
 * like is for others to say.
 */
import { defaultsOf } from '../../elicitation/form/requested-schema.ts';
import type { Field } from '../../elicitation/form/field.ts';
import { notWithoutAnswer, readAnswer } from './read-answer.ts';

export interface FormEntry {
  fields: readonly Field[];
  /** By field name; what is left out has none. */
  answers: ReadonlyMap<string, unknown>;
  /** What the service would not take, by field name. */
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

/** One that has arrived filled in, to be corrected perhaps, begins with the review. */
export function beginForm(fields: readonly Field[]): FormEntry {
  const required = fields.filter(({ isRequired }) => isRequired);
  const isFilledIn = fields.length > 1 && required.length > 0 && required.every(hasDefault);
  const answers = new Map(isFilledIn ? Object.entries(defaultsOf([...fields])) : []);
  const at = isFilledIn || fields.length === 0 ? { kind: 'review' as const } : fieldAt(0);
  return { fields, answers, problems: new Map(), at };
}

/** Where somebody was who had given these answers: at the first field they had not come to. */
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

/** The field that is asked for, while it is not the review. */
export function currentField({ fields, at }: FormEntry): Field | undefined {
  return at.kind === 'field' ? fields[at.index] : undefined;
}

/** What an empty line stands for: what was answered before, else the default. */
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

/** Back to the first field with a problem; everything else stays as it was answered. */
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

/** Where any number of choices will do, none of them is an answer. */
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

/** Not to send it is no answer to the question: that is left to the commands that say so. */
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
