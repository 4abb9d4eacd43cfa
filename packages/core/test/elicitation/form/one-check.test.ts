/** The same answers, checked by everything that checks a form: the service, the widget, the terminal, and a form's own default. */
import { describe, expect, test } from 'vitest';
import { checkForm } from '../../../src/form-check.ts';
import { readAnswer } from '@interlude-ai/program/chat/form-entry.ts';
import { readRequestedSchema } from '../../../src/elicitation/form/requested-schema.ts';
import type { Field } from '../../../src/elicitation/form/field.ts';
import { problemsIn } from '@interlude-ai/widget/form-question.tsx';
import { wordsFor } from '../../../src/elicitation/words.ts';

type Schema = Record<string, unknown>;

const email = { type: 'string', format: 'email' };
const uri = { type: 'string', format: 'uri' };
const day = { type: 'string', format: 'date' };
const seat = { type: 'integer', minimum: 1, maximum: 9 };
const price = { type: 'number', multipleOf: 0.01, exclusiveMinimum: 0, exclusiveMaximum: 100 };

/** `typed` is what stands in a field; the service and the default get what the field means by it. */
const table: [schema: Schema, typed: string, value: unknown, fits: boolean][] = [
  [email, 'ada@example.com', 'ada@example.com', true],
  [email, "o'brien+x@example.co.uk", "o'brien+x@example.co.uk", true],
  [email, 'ada@localhost', 'ada@localhost', false],
  [email, 'ada@@example.com', 'ada@@example.com', false],
  [email, 'ada.@example.com', 'ada.@example.com', false],
  [email, 'ada', 'ada', false],
  [uri, 'https://example.com/a?b#c', 'https://example.com/a?b#c', true],
  [uri, 'urn:isbn:0451450523', 'urn:isbn:0451450523', true],
  [uri, 'https://exa mple.com', 'https://exa mple.com', false],
  [uri, 'https://example.com/%zz', 'https://example.com/%zz', false],
  [uri, 'example.com', 'example.com', false],
  [day, '2028-02-29', '2028-02-29', true],
  [day, '2026-02-29', '2026-02-29', false],
  [day, '2026-04-31', '2026-04-31', false],
  [day, '20265-11-22', '20265-11-22', false],
  [day, '0000-01-01', '0000-01-01', true],
  [{ type: 'string', minLength: 2, maxLength: 2 }, '🙂🙂', '🙂🙂', true],
  [{ type: 'string', minLength: 3 }, '🙂🙂', '🙂🙂', false],
  [{ type: 'string', maxLength: 1 }, '🙂🙂', '🙂🙂', false],
  [seat, '9', 9, true],
  [seat, '10', 10, false],
  [seat, '0', 0, false],
  [seat, '2.5', 2.5, false],
  [seat, '9007199254740993', 9007199254740992, false],
  [price, '19.99', 19.99, true],
  [price, '0.30', 0.3, true],
  [price, '19.999', 19.999, false],
  [price, '0', 0, false],
  [price, '100', 100, false],
  [price, 'free', 'free', false],
];

function fieldOf(schema: Schema): Field {
  const read = readRequestedSchema({ type: 'object', properties: { it: schema }, required: ['it'] });
  const [field] = read.kind === 'form' ? read.fields : [];
  if (!field) throw new Error('no field');
  return field;
}

describe.each(table)('%j: %s', (schema, typed, value, fits) => {
  const field = fieldOf(schema);
  test.each([
    ['the service', () => checkForm([field], { it: value }).length === 0],
    ['the widget', () => problemsIn([field], new Map([['it', typed]]), wordsFor('en')).size === 0],
    ['the terminal', () => readAnswer(field, typed).kind === 'value'],
    ['a default of the form', () => fieldOf({ ...schema, default: value }).default !== undefined],
  ])(`${fits ? 'fits' : 'does not fit'} for %s`, (_, check) => {
    expect(check()).toBe(fits);
  });
});
