/** What a line that a person types means for a field. What is wrong with the value, the check finds. Pure. */
import { coerceContent } from './coerce-content.ts';
import type { Choice, Field } from './field.ts';

/** Choices are numbers of the list, counted from 1, or their names; several are separated by commas, or numbers by spaces. */
export function typedValue(field: Field, line: string): unknown {
  const text = line.trim();
  switch (field.kind) {
    case 'text':
      return field.format === 'date-time' ? toMoment(text) : text;
    case 'number':
    case 'boolean':
      return coerceContent([field], { [field.name]: yesOrNo.get(text.toLowerCase()) ?? text })[field.name];
    case 'choice':
      return findChoice(field.choices, text);
    case 'choices': {
      const words = /^[\d\s]+$/.test(text) ? text.split(/\s+/) : text.split(',').map((word) => word.trim());
      return [...new Set(words.filter(Boolean).map((word) => findChoice(field.choices, word)))];
    }
    default:
      return field satisfies never;
  }
}

const yesOrNo = new Map([
  ['y', 'yes'],
  ['n', 'no'],
]);

function findChoice(choices: Choice[], text: string): string {
  const numbered = /^\d+$/.test(text) ? choices[Number(text) - 1] : undefined;
  const word = text.toLowerCase();
  const named = ({ value, title }: Choice) => value.toLowerCase() === word || title.toLowerCase() === word;
  return (numbered ?? choices.find(named))?.value ?? text;
}

/** Without a zone, the time is in this machine's zone. Anything else stays as it is. */
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
