/** What somebody typed for one field of a form, as the value the field asks for, or why it is none. Pure. */
import { coerceContent } from '../../elicitation/form/coerce-content.ts';
import type { Field } from '../../elicitation/form/requested-schema.ts';

/** `why` is a sentence to the person. */
export type ReadAnswer = { kind: 'value'; value: unknown } | { kind: 'wrong'; why: string };

type Of<Kind extends Field['kind']> = Extract<Field, { kind: Kind }>;

/** Takes what is surely meant, and leaves what only the service can judge to the service. */
export function readAnswer(field: Field, line: string): ReadAnswer {
  const text = line.trim();
  switch (field.kind) {
    case 'text':
      return readText(field, text);
    case 'number':
      return readNumber(field, text);
    case 'boolean':
      return readYesOrNo(field, text);
    case 'choice':
      return readChoice(field, text);
    case 'choices':
      return readChoices(field, text);
    default:
      return field satisfies never;
  }
}

const value = (of: unknown): ReadAnswer => ({ kind: 'value', value: of });
const wrong = (why: string): ReadAnswer => ({ kind: 'wrong', why });

function readText({ format, minLength = 0, maxLength = Infinity }: Of<'text'>, text: string): ReadAnswer {
  // JSON Schema counts characters, not the halves that some of them are in memory.
  const length = Array.from(text).length;
  if (length < minLength) return wrong(`That is too short: at least ${counted(minLength, 'character')}.`);
  if (length > maxLength) return wrong(`That is too long: at most ${counted(maxLength, 'character')}.`);
  switch (format) {
    case undefined:
      return value(text);
    case 'email':
      return /^\S+@\S+$/.test(text) ? value(text) : wrong('That is not an email address.');
    case 'uri':
      return URL.canParse(text) ? value(text) : wrong('Write a complete address, like https://example.com');
    case 'date':
      return isDay(text) ? value(text) : wrong(`Write a day like ${exampleDay}.`);
    case 'date-time': {
      const moment = toMoment(text);
      return moment === undefined ? wrong(`Write a day and a time like ${exampleDay} 08:30.`) : value(moment);
    }
    default:
      return format satisfies never;
  }
}

export const exampleDay = '2027-03-14';

/** The calendar is asked too: there is no 31 April. */
function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** Nobody types a zone; without one it is this machine's. */
function toMoment(text: string): string | undefined {
  const [, day = '', time = '', seconds = ':00', zone] =
    /^(\d{4}-\d\d-\d\d)[T ]+(\d\d?:\d\d)(:\d\d(?:\.\d+)?)?\s*(Z|[+-]\d\d:\d\d)?$/i.exec(text) ?? [];
  const clock = `${time.padStart(5, '0')}${seconds}`;
  if (!isDay(day) || !isTime(clock)) return undefined;
  return `${day}T${clock}${zone?.toUpperCase() ?? localZone(new Date(`${day}T${clock}`))}`;
}

function isTime(clock: string): boolean {
  const [hours = 99, minutes = 99, seconds = 99] = clock.split(':').map(Number);
  return hours < 24 && minutes < 60 && seconds < 60;
}

function localZone(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? '-' : '+'}${twoDigits(hours)}:${twoDigits(rest)}`;
}

const twoDigits = (number: number) => String(number).padStart(2, '0');

function readNumber(field: Of<'number'>, text: string): ReadAnswer {
  const number = coerceContent([field], { [field.name]: text })[field.name];
  if (typeof number !== 'number') return wrong('Write a number, like 42.');
  if (field.isInteger && !Number.isInteger(number)) return wrong('Write a whole number, like 42.');
  const { minimum = -Infinity, maximum = Infinity, multipleOf } = field;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = field;
  if (number < minimum) return wrong(`That is too little: at least ${minimum}.`);
  if (number > maximum) return wrong(`That is too much: at most ${maximum}.`);
  if (number <= exclusiveMinimum) return wrong(`That is too little: more than ${exclusiveMinimum}.`);
  if (number >= exclusiveMaximum) return wrong(`That is too much: less than ${exclusiveMaximum}.`);
  // Of a fraction, the division itself would be wrong now and then.
  if (multipleOf !== undefined && Number.isInteger(multipleOf) && number % multipleOf !== 0)
    return wrong(`Write a multiple of ${multipleOf}.`);
  return value(number);
}

function readYesOrNo(field: Of<'boolean'>, text: string): ReadAnswer {
  const word = { y: 'yes', n: 'no' }[text.toLowerCase()] ?? text;
  const answer = coerceContent([field], { [field.name]: word })[field.name];
  return typeof answer === 'boolean' ? value(answer) : wrong('Answer y or n.');
}

function readChoice({ choices }: Of<'choice'>, text: string): ReadAnswer {
  const choice = findChoice(choices, text);
  return choice === undefined
    ? wrong(`Choose one of the list by its number, 1 to ${choices.length}.`)
    : value(choice);
}

function readChoices(
  { choices, minItems = 0, maxItems = Infinity }: Of<'choices'>,
  text: string,
): ReadAnswer {
  const words = /^[\d\s]+$/.test(text) ? text.split(/\s+/) : text.split(',').map((word) => word.trim());
  const chosen = new Set<string>();
  for (const word of words.filter(Boolean)) {
    const choice = findChoice(choices, word);
    if (choice === undefined) return wrong(`“${word}” is not on the list. Write numbers of it, like 1,2.`);
    chosen.add(choice);
  }
  if (chosen.size < minItems) return wrong(`Choose at least ${minItems}.`);
  if (chosen.size > maxItems) return wrong(`Choose at most ${maxItems}.`);
  return value([...chosen]);
}

/** By its number in the list that is shown, or by its name. */
function findChoice(choices: Of<'choice'>['choices'], text: string): string | undefined {
  if (/^\d+$/.test(text) && choices[Number(text) - 1]) return choices[Number(text) - 1]?.value;
  const word = text.toLowerCase();
  return choices.find(({ value: name, title }) => name.toLowerCase() === word || title.toLowerCase() === word)
    ?.value;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
