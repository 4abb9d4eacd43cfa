/** A form in the terminal. Text of servers loses its control codes and line breaks. */
import { styleText } from 'node:util';
import type { Field, TextFormat } from '@interlude-ai/core/elicitation/form/field.ts';
import { currentField, emptyLineValue, exampleDay } from './form-entry.ts';
import type { FormEntry } from './form-entry.ts';
import { bold, counted, dim, oneLine } from '@interlude-ai/kit/terminal/terminal-text.ts';

/** The current field with its help and choices, or the review of all answers. */
export function stepLines(entry: FormEntry): string[] {
  const field = currentField(entry);
  return field ? fieldLines(entry, field) : reviewLines(entry);
}

function fieldLines(entry: FormEntry, field: Field): string[] {
  const count = String(entry.fields.length);
  const place = `${String(entry.fields.indexOf(field) + 1).padStart(count.length)}/${count}`;
  const problem = entry.problems.get(field.name);
  const help = [field.description, hintOf(field), field.isRequired ? '' : 'optional'].filter(Boolean);
  return [
    `  ${dim(place)} ${bold(titleOf(field))}${help.length > 0 ? dim(` · ${oneLine(help.join(' · '))}`) : ''}`,
    ...(problem === undefined ? [] : [problemLine(problem)]),
    ...choicesOf(field).map(
      ({ title }, index) => `    ${bold(String(index + 1).padStart(2))}  ${oneLine(title)}`,
    ),
  ];
}

/** A single answer was read a moment ago. */
function reviewLines({ fields, answers }: FormEntry): string[] {
  if (fields.length === 1) return [];
  const width = Math.max(0, ...fields.map((field) => titleOf(field).length));
  return fields.map((field, index) => {
    const number = bold(String(index + 1).padStart(4));
    return `${number}  ${titleOf(field).padEnd(width)}  ${shown(field, answers.get(field.name))}`;
  });
}

/** In brackets, the value of an empty line. */
export function stepPrompt(entry: FormEntry): string {
  const field = currentField(entry);
  if (!field) return `Send? [${['Y/n', ...changes(entry.fields.length)].join('/')}]`;
  const value = emptyLineValue(entry, field);
  if (field.kind === 'boolean') return `${titleOf(field)} [${yesOrNo(value)}]`;
  return value === undefined ? titleOf(field) : `${titleOf(field)} [${shown(field, value)}]`;
}

function changes(count: number): string[] {
  if (count === 0) return [];
  return [count === 1 ? '1 to change' : 'number to change'];
}

function yesOrNo(value: unknown): string {
  if (value === true) return 'Y/n';
  return value === false ? 'y/N' : 'y/n';
}

export function problemLine(why: string): string {
  return `    ${styleText('red', '✗')} ${oneLine(why)}`;
}

/** Shown if it differs from the typed text: `3` becomes a title, an empty line the default. */
export function takenLine(field: Field, value: unknown, typed: string): string | undefined {
  const words = value === undefined ? 'left out' : shown(field, value);
  return words === typed.trim() ? undefined : dim(`    → ${words}`);
}

function shown(field: Field, value: unknown): string {
  if (value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map((item) => titleOfChoice(field, item)).join(', ') || 'none';
  const words = titleOfChoice(field, value);
  return field.kind === 'text' && field.format === 'date-time' ? momentInWords(words) : words;
}

function titleOfChoice(field: Field, value: unknown): string {
  const choice = choicesOf(field).find((one) => one.value === value);
  return oneLine(choice?.title ?? (typeof value === 'string' ? value : JSON.stringify(value)));
}

function momentInWords(moment: string): string {
  const [, day, time, zone] = /^(\S+)T(\d\d:\d\d)(?::00)?(Z|[+-]\d\d:\d\d)$/i.exec(moment) ?? [];
  const isUtc = zone === undefined || /^(?:Z|[+-]00:00)$/i.test(zone);
  return day === undefined ? moment : `${day} ${time} UTC${isUtc ? '' : zone}`;
}

function choicesOf(field: Field): { value: string; title: string }[] {
  return field.kind === 'choice' || field.kind === 'choices' ? field.choices : [];
}

function hintOf(field: Field): string {
  switch (field.kind) {
    case 'text':
      return field.format ? formatHints[field.format] : range(field.minLength, field.maxLength, 'characters');
    case 'number':
      return range(field.minimum, field.maximum, '') || (field.isInteger ? 'a whole number' : 'a number');
    case 'boolean':
    case 'choice':
      return '';
    case 'choices': {
      const { minItems = 0, maxItems } = field;
      const count = range(minItems > 0 ? minItems : undefined, maxItems, '');
      return `${count ? `${count} of them` : 'any of them'}, like 1,2`;
    }
    default:
      return field satisfies never;
  }
}

const formatHints: Record<TextFormat, string> = {
  email: '',
  uri: 'like https://example.com',
  date: `like ${exampleDay}`,
  'date-time': `like ${exampleDay} 08:30`,
};

function range(minimum: number | undefined, maximum: number | undefined, noun: string): string {
  const what = noun === '' ? '' : ` ${noun}`;
  // Every answer has one character.
  const least = noun !== '' && minimum !== undefined && minimum < 2 ? undefined : minimum;
  if (least !== undefined && maximum !== undefined) return `${least} to ${maximum}${what}`;
  if (least !== undefined) return `at least ${least}${what}`;
  return maximum === undefined ? '' : `at most ${maximum}${what}`;
}

export function fieldCount(fields: readonly Field[]): string {
  return counted(fields.length, 'field');
}

function titleOf({ title }: Field): string {
  return oneLine(title);
}
