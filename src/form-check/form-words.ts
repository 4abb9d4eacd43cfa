/** What is wrong with an answer, to the person who gave it. Only the form's own words and limits are repeated. */
import type { Violation } from '../elicitation/form/check-form.ts';
import type { Choice, Field } from '../elicitation/form/field.ts';

const shownChoices = 20;

/** Without a field, it is one that the form does not have. */
export function detailOf(field: Field | undefined, violation: Violation): string {
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

/** Also where the kind is right and the value is not: no email address, none of the choices. */
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
