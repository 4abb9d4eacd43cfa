/** What somebody typed for one field of a form, as the value the field asks for, or why it is none. Pure. */
import { anyPattern, checkField } from '../../elicitation/form/check-form.ts';
import type { Violation } from '../../elicitation/form/check-form.ts';
import { coerceContent } from '../../elicitation/form/coerce-content.ts';
import type { Choice, Field, TextFormat } from '../../elicitation/form/field.ts';

/** `why` is a sentence to the person. */
export type ReadAnswer = { kind: 'value'; value: unknown } | { kind: 'wrong'; why: string };

/** Takes what is surely meant, and leaves patterns to the service, which can stop them. */
export function readAnswer(field: Field, line: string): ReadAnswer {
  const read = valueIn(field, line.trim());
  if (read.kind === 'wrong') return read;
  const violation = checkField(field, read.value, anyPattern);
  return violation ? wrong(inWords(field, violation)) : read;
}

/** What somebody means who writes it like this. */
function valueIn(field: Field, text: string): ReadAnswer {
  switch (field.kind) {
    case 'text':
      return value(field.format === 'date-time' ? toMoment(text) : text);
    case 'number':
    case 'boolean':
      return value(
        coerceContent([field], { [field.name]: yesOrNo.get(text.toLowerCase()) ?? text })[field.name],
      );
    case 'choice':
      return value(findChoice(field.choices, text) ?? text);
    case 'choices':
      return readChoices(field, text);
    default:
      return field satisfies never;
  }
}

const yesOrNo = new Map([
  ['y', 'yes'],
  ['n', 'no'],
]);

const value = (of: unknown): ReadAnswer => ({ kind: 'value', value: of });
const wrong = (why: string): ReadAnswer => ({ kind: 'wrong', why });

function inWords(field: Field, violation: Violation): string {
  switch (violation.kind) {
    case 'missing':
    case 'unknown-field':
      return notWithoutAnswer(field);
    case 'limit':
      return limitInWords(violation);
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

function limitInWords({ keyword, limit }: Extract<Violation, { kind: 'limit' }>): string {
  switch (keyword) {
    case 'minLength':
      return `That is too short: at least ${counted(limit, 'character')}.`;
    case 'maxLength':
      return `That is too long: at most ${counted(limit, 'character')}.`;
    case 'minimum':
      return `That is too little: at least ${limit}.`;
    case 'maximum':
      return `That is too much: at most ${limit}.`;
    case 'exclusiveMinimum':
      return `That is too little: more than ${limit}.`;
    case 'exclusiveMaximum':
      return `That is too much: less than ${limit}.`;
    case 'multipleOf':
      return `Write a multiple of ${limit}.`;
    case 'minItems':
      return `Choose at least ${limit}.`;
    case 'maxItems':
      return `Choose at most ${limit}.`;
    default:
      return keyword satisfies never;
  }
}

/** To somebody who left out what may not be left out. */
export function notWithoutAnswer(field: Field): string {
  return `This one has to be answered. ${whatItIsFor(field)}`;
}

function whatItIsFor(field: Field): string {
  switch (field.kind) {
    case 'text':
      return formatInWords(field.format);
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

function formatInWords(format: TextFormat | undefined): string {
  switch (format) {
    case 'email':
      return 'Write an email address, like alice@example.com.';
    case 'uri':
      return 'Write a complete address, like https://example.com';
    case 'date':
      return `Write a day like ${exampleDay}.`;
    case 'date-time':
      return `Write a day and a time like ${exampleDay} 08:30.`;
    case undefined:
      return 'Write a text.';
    default:
      return format satisfies never;
  }
}

export const exampleDay = '2027-03-14';

/** Nobody types a zone; without one it is this machine's. What is no moment stays as it is. */
function toMoment(text: string): string {
  const [, day = '', time = '', seconds = ':00', zone] =
    /^(\d{4}-\d\d-\d\d)[T ]+(\d\d?:\d\d)(:\d\d(?:\.\d+)?)?\s*(Z|[+-]\d\d:\d\d)?$/i.exec(text) ?? [];
  if (day === '') return text;
  const clock = `${time.padStart(5, '0')}${seconds}`;
  const at = new Date(`${day}T${clock}`);
  return `${day}T${clock}${zone?.toUpperCase() ?? localZone(at)}`;
}

function localZone(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : '+'}${twoDigits(hours)}:${twoDigits(rest)}`;
}

const twoDigits = (number: number) => String(number).padStart(2, '0');

function readChoices({ choices }: Extract<Field, { kind: 'choices' }>, text: string): ReadAnswer {
  const words = /^[\d\s]+$/.test(text) ? text.split(/\s+/) : text.split(',').map((word) => word.trim());
  const chosen = new Set<string>();
  for (const word of words.filter(Boolean)) {
    const choice = findChoice(choices, word);
    if (choice === undefined) return wrong(`“${word}” is not on the list. Write numbers of it, like 1,2.`);
    chosen.add(choice);
  }
  return value([...chosen]);
}

/** By its number in the list that is shown, or by its name. */
function findChoice(choices: Choice[], text: string): string | undefined {
  if (/^\d+$/.test(text) && choices[Number(text) - 1]) return choices[Number(text) - 1]?.value;
  const word = text.toLowerCase();
  return choices.find(({ value: name, title }) => name.toLowerCase() === word || title.toLowerCase() === word)
    ?.value;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
