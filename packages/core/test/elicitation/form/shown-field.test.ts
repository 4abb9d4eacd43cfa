/** How fields are shown, in the widget and on the hosted page. */
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { formFields } from '../../../../../src/api/pages/question/form-fields.ts';
import { notesOf, problemWith } from '../../../src/elicitation/form/shown-field.ts';
import { readField, readRequestedSchema } from '../../../src/elicitation/form/requested-schema.ts';
import { en } from '../../../src/elicitation/words/en.ts';
import { FormQuestion } from '@interlude-ai/widget/form-question.tsx';

const colours = ['red', 'green', 'blue', 'black', 'white'];
const list = { type: 'array', items: { type: 'string', enum: colours } };

test.each([
  [{ type: 'string' }, ''],
  [{ type: 'string', minLength: 1 }, ''],
  [{ type: 'string', minLength: 2 }, 'At least 2 characters.'],
  [{ type: 'string', maxLength: 40 }, 'At most 40 characters.'],
  [{ type: 'string', minLength: 2, maxLength: 40 }, '2 to 40 characters.'],
  [{ type: 'string', minLength: 4, maxLength: 4 }, 'Exactly 4 characters.'],
  [{ type: 'string', format: 'email' }, 'For example name@example.com'],
  [{ type: 'string', format: 'uri' }, 'For example https://example.com/page'],
  [{ type: 'string', format: 'date' }, ''],
  [{ type: 'integer', minimum: 1, maximum: 9 }, 'From 1 to 9.'],
  [{ type: 'number', exclusiveMinimum: 0, multipleOf: 0.5 }, 'More than 0. A multiple of 0.5.'],
  [{ type: 'boolean' }, ''],
  [{ type: 'string', enum: colours }, ''],
  [list, ''],
  [{ ...list, minItems: 1 }, 'Choose at least 1.'],
  [{ ...list, minItems: 0, maxItems: 2 }, 'Choose at most 2.'],
  [{ ...list, minItems: 2, maxItems: 2 }, 'Choose 2.'],
  [{ ...list, maxItems: 5 }, ''],
])('the limits of %j are said before they are broken: %s', (schema, limits) => {
  const notes = notesOf(readField('it', schema, true), undefined, en);
  expect(notes).toEqual(limits === '' ? [] : [{ kind: 'limits', text: limits }]);
});

test('a limit that was broken is said once', () => {
  const field = readField('it', { ...list, maxItems: 2 }, true);
  const problem = problemWith(field, colours, en);
  expect(notesOf(field, problem ?? undefined, en)).toEqual([{ kind: 'problem', text: 'Choose at most 2.' }]);
});

test('the widget and the hosted page show the same form', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', description: 'As in the passport', minLength: 2 },
      email: { type: 'string', format: 'email', title: 'Email' },
      day: { type: 'string', format: 'date', title: 'Day' },
      time: { type: 'string', format: 'date-time', title: 'Time' },
      nights: { type: 'integer', title: 'Nights', minimum: 1, default: 2 },
      price: { type: 'number', title: 'Price' },
      pets: { type: 'boolean', title: 'Pets', default: true },
      terms: { type: 'boolean', title: 'Terms' },
      seat: { type: 'string', title: 'Seat', enum: ['window', 'aisle'] },
      class: { type: 'string', title: 'Class', enum: ['second', 'first'] },
      colour: { type: 'string', title: 'Colour', enum: colours },
      extras: { ...list, title: 'Extras', maxItems: 2, default: ['red'] },
      story: { type: 'string', title: 'Story', maxLength: 500 },
    },
    required: ['name', 'nights', 'terms', 'class'],
  };
  const read = readRequestedSchema(schema);
  const page = formFields(en, read.kind === 'form' ? read.fields : [], null, new Map());
  const question = { elicitationId: 'q1' } as never;
  const answer = { isSending: false, failure: null } as never;
  const card = renderToStaticMarkup(createElement(FormQuestion, { question, schema, answer, words: en }));
  const [, widget = ''] = /<form[^>]*>(.*)<div class="actions">/s.exec(card) ?? [];
  // Without a script, the page cannot know the time zone, and a checkbox needs a value.
  const markup = page
    .map((field) => field.markup)
    .join(' ')
    .replaceAll(/<p [^>]*-zone">.*?<\/p>|aria-describedby="[^"]*-zone"|value="true"/gs, '');

  expect(controlsIn(markup)).toEqual(controlsIn(widget));
  expect(controlsIn(widget).length).toBeGreaterThan(20);
  expect(textOf(markup)).toBe(textOf(widget));
  expect(textOf(widget)).toContain('Name As in the passport At least 2 characters. Email optional');
});

/** Each control with what a person or an assistive technology notices of it. */
function controlsIn(markup: string): string[] {
  const tags = markup.match(/<(?:input|select|textarea|fieldset|option)\b[^>]*>/g) ?? [];
  return tags.map((tag) => {
    const text = tag.toLowerCase();
    const [name] = text.slice(1).split(/[\s>]/);
    const given = ['type', 'value', 'inputmode', 'autocomplete'].flatMap((attribute) => {
      const value = new RegExp(`\\s${attribute}="([^"]*)"`).exec(text)?.[1];
      return value ? [`${attribute}=${value}`] : [];
    });
    const flags = ['required', 'checked', 'aria-describedby'].filter((flag) => text.includes(flag));
    return [name, ...given, ...flags].join(' ');
  });
}

function textOf(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
