/** Checks the content of a form, and explains to the person who filled it in what is wrong. */
import { createContext, Script } from 'node:vm';
import { checkForm as check } from './elicitation/form/check-form.ts';
import type { Violation } from './elicitation/form/check-form.ts';
import type { Choice, Field } from './elicitation/form/field.ts';

/** A field with a wrong value. `detail` is for the person who filled it in, and never repeats what they wrote. */
interface Misfit {
  name: string;
  detail: string;
}

/** Time limit for all patterns of a form together: an honest one takes microseconds. */
const patternBudgetMs = 10;

/** One entry, with the first reason, for each field with a wrong value. */
export function checkForm(fields: Field[], content: Record<string, unknown>): Misfit[] {
  const known = new Map(fields.map((field) => [field.name, field]));
  return [...check(fields, content, boundedPatterns(patternBudgetMs))].map(([name, violation]) => ({
    name,
    detail: detailOf(known.get(name), violation),
  }));
}

const shownChoices = 20;

/** Repeats only the form's own words and limits. `field`: undefined if the form does not have it. */
function detailOf(field: Field | undefined, violation: Violation): string {
  if (!field || violation.kind === 'unknown-field') return 'is not a field of this form; leave it out';
  switch (violation.kind) {
    case 'missing':
      return 'is required';
    case 'limit':
      return limitInWords(field, violation);
    case 'repeated-choice':
      return 'must not have the same choice twice';
    case 'pattern':
      return `must match ${violation.pattern}`;
    case 'fraction':
    case 'not-of-its-kind':
      return kindOf(field);
    default:
      return violation satisfies never;
  }
}

function limitInWords(field: Field, { keyword, limit }: Extract<Violation, { kind: 'limit' }>): string {
  switch (keyword) {
    case 'minLength':
      return `must be at least ${characters(limit)}`;
    case 'maxLength':
      return `must be at most ${characters(limit)}`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'exclusiveMinimum':
      return `must be more than ${limit}`;
    case 'exclusiveMaximum':
      return `must be less than ${limit}`;
    case 'multipleOf':
      return `must be a multiple of ${limit}`;
    case 'minItems':
      return `must have at least ${limit} of: ${choicesOf(field)}`;
    case 'maxItems':
      return `must have at most ${limit} of: ${choicesOf(field)}`;
    default:
      return keyword satisfies never;
  }
}

function characters(count: number): string {
  return `${count} ${count === 1 ? 'character' : 'characters'}`;
}

/** Also used if the kind is right and the value is not: no email address, none of the choices. */
function kindOf(field: Field): string {
  switch (field.kind) {
    case 'text':
      return `must be ${field.format ? formats[field.format] : 'a text'}`;
    case 'number':
      return field.isInteger ? 'must be a whole number' : 'must be a number';
    case 'boolean':
      return 'must be yes or no (true or false)';
    case 'choice':
      return `must be one of: ${choicesOf(field)}`;
    case 'choices':
      return `must be a list of some of: ${choicesOf(field)}`;
    default:
      return field satisfies never;
  }
}

const formats = {
  email: 'an email address, such as name@example.com',
  uri: 'an address, such as https://example.com/page',
  date: 'a date, such as 2026-01-31',
  'date-time': 'a date and a time with its zone, such as 2026-01-31T09:30:00Z',
};

function choicesOf(field: Field): string {
  const choices: Choice[] = 'choices' in field ? field.choices : [];
  const more = choices.length - shownChoices;
  const shown = choices
    .slice(0, shownChoices)
    .map(({ value, title }) => (title === value ? value : `${title} (${value})`));
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/**
 * Runs untrusted regular expressions with a time limit. JavaScript's engine backtracks, and a short pattern can keep it busy
 * for years; in its own context it can be stopped. Only texts go in, and only a boolean comes out.
 */
const script = new Script('new RegExp(pattern, "u").test(text)');
const context = createContext(Object.assign(Object.create(null), { pattern: '', text: '' }));
const maximalLength = 1000;
/**
 * The limit is processor time, but Node only measures real time, and on a busy machine a pattern may not get the processor.
 * So each try gets twice the real time of the one before, up to `maxStretch` times. Garbage collection counts as processor
 * time too, so no try may use more than half of the budget.
 */
const maxTries = 10;
const maxStretch = 16;

/**
 * All patterns of one form share `budgetMs` of processor time. A pattern also counts as matching if that cannot be decided:
 * it is too long, not valid in JavaScript, or too slow.
 */
function boundedPatterns(budgetMs: number): (pattern: string, text: string) => boolean {
  const shareMs = budgetMs / 2;
  let leftMs = budgetMs;
  return (pattern, text) => {
    if (pattern.length > maximalLength) return true;
    for (let tries = 0; tries < maxTries && leftMs > 0; tries++) {
      const before = process.threadCpuUsage();
      try {
        const clockMs = Math.ceil(Math.min(leftMs, shareMs));
        return run(pattern, text, clockMs * Math.min(2 ** tries, maxStretch));
      } catch (error) {
        if (!isTimeout(error)) return true;
      } finally {
        const { user, system } = process.threadCpuUsage(before);
        leftMs -= Math.min((user + system) / 1_000, shareMs);
      }
    }
    return true;
  };
}

function run(pattern: string, text: string, timeout: number): boolean {
  Object.assign(context, { pattern, text });
  return script.runInContext(context, { timeout }) !== false;
}

/** The error comes from the other context, so `instanceof Error` is false. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
