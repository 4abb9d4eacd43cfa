/** The fields of a form as HTML inputs, with what was typed and its problems. Pure. */
import type { Choice, Field } from '@interlude-ai/core/elicitation/form/field.ts';
import { controlOf, notesOf } from '@interlude-ai/core/elicitation/form/shown-field.ts';
import { plainLine } from '@interlude-ai/core/elicitation/plain-text.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { Words } from '@interlude-ai/core/elicitation/words.ts';

/** Prefix of the inputs' names, because a field may have the name of one of ours. */
const fieldPrefix = 'f.';

/** By field: the text typed, or the choices of a list. */
export type Typed = Record<string, string | string[]>;

export function formFields(
  words: Words,
  fields: Field[],
  typed: Typed | null,
  problems: Map<string, string>,
): Html[] {
  const first = fields.find(({ name }) => problems.has(name))?.name;
  return fields.map((field, index) => {
    const { name } = field;
    const given = typed === null ? defaultOf(field) : Object.hasOwn(typed, name) ? typed[name] : undefined;
    const values = given === undefined ? [] : [given].flat();
    return fieldOf(words, field, {
      id: `field-${index}`,
      values,
      problem: problems.get(name),
      isFirst: name === first,
    });
  });
}

interface Shown {
  id: string;
  values: string[];
  problem: string | undefined;
  /** The first field with a problem gets the focus. */
  isFirst: boolean;
}

function fieldOf(words: Words, field: Field, { id, values, problem, isFirst }: Shown): Html {
  const control = controlOf(field, words);
  const notes = notesOf(field, problem, words);
  const hasZone = isTime(field);
  const notesIds = [...notes.map(({ kind }) => `${id}-${kind}`), ...(hasZone ? [`${id}-zone`] : [])];
  const described = notesIds.length > 0 && html`aria-describedby="${notesIds.join(' ')}"`;
  const written = html`${notes.map(
    ({ kind, text }) =>
      html`<p class="${kind === 'problem' ? 'problem' : 'help'}" id="${id}-${kind}" dir="auto">
        ${plainLine(text)}
      </p>`,
  )}
  ${hasZone && html`<p class="help" id="${id}-zone">${words.inUtc}</p>`}`;
  const invalid = problem !== undefined && html`aria-invalid="true"`;
  const [value = ''] = values;
  const input = html`id="${id}" name="${fieldPrefix + field.name}" ${described} ${invalid}
  ${isFirst && html`autofocus`}`;
  const required = field.isRequired && html`required`;
  const title = html`<span dir="auto">${plainLine(field.title)}</span>
    ${!field.isRequired && html`<small>${words.optional}</small>`}`;
  const labelled = (element: Html) =>
    html`<div class="field"><label for="${id}">${title}</label> ${written} ${element}</div>`;
  const tick = (choice: Choice, type: string, more: Html) => {
    const isLeftOpen = type === 'radio' && choice.value === '' && values.length === 0;
    const isOn = (isLeftOpen && !field.isRequired) || values.includes(choice.value);
    return html`<label class="tick"
      ><input type="${type}" ${more} value="${choice.value}" ${isOn && html`checked`} /><span dir="auto"
        >${plainLine(choice.title)}</span
      ></label
    >`;
  };
  switch (control.kind) {
    case 'checkbox':
      return html`<div class="field">
        ${tick({ value: 'true', title: field.title }, 'checkbox', input)} ${written}
      </div>`;
    case 'group':
      return html`<fieldset class="field" ${described}>
        <legend>${title}</legend>
        ${written}
        ${control.choices.map((choice, index) =>
          tick(
            choice,
            control.type,
            html`name="${fieldPrefix + field.name}" ${invalid} ${isFirst && index === 0 && html`autofocus`}`,
          ),
        )}
      </fieldset>`;
    case 'select':
      return labelled(
        html`<select ${input} ${required}>
          <option value="">${words.choose}</option>
          ${control.choices.map(
            (choice) =>
              html`<option value="${choice.value}" ${choice.value === value && html`selected`}>
                ${plainLine(choice.title)}
              </option>`,
          )}
        </select>`,
      );
    case 'textarea':
      return labelled(html`<textarea ${input} ${required} dir="auto" rows="4">${value}</textarea>`);
    case 'input': {
      const { type, inputMode, autoComplete } = control;
      return labelled(
        html`<input
          ${input}
          ${required}
          type="${type}"
          value="${hasZone ? inUtc(value) : value}"
          dir="auto"
          autocomplete="${autoComplete}"
          ${inputMode !== undefined && html`inputmode="${inputMode}"`}
        />`,
      );
    }
    default:
      return control satisfies never;
  }
}

/** For `datetime-local`, which has no zone; empty if it is no time. */
function inUtc(text: string): string {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString().replace(/(?::00)?(?:\.000)?Z$/, '');
}

/** What `datetime-local` sends without the script of the page, which knows the time zone. */
function instantOf(text: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(text)) return text;
  return text.length === 16 ? `${text}:00Z` : `${text}Z`;
}

function defaultOf(field: Field): string | string[] | undefined {
  const { default: value } = field;
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value : String(value);
}

/** Browsers send CRLF for line breaks. */
export function typedIn(fields: Field[], body: Record<string, unknown>): Typed {
  const times = new Set(fields.filter(isTime).map(({ name }) => name));
  const sent = Object.entries(body).flatMap(([key, value]) => {
    if (!key.startsWith(fieldPrefix)) return [];
    const name = key.slice(fieldPrefix.length);
    const texts = [value].flat().filter((text) => typeof text === 'string');
    const [only, ...others] = texts.map(times.has(name) ? instantOf : withPlainLines);
    return only === undefined ? [] : [[name, others.length === 0 ? only : [only, ...others]] as const];
  });
  return Object.fromEntries<string | string[]>([...fields.flatMap(notSent), ...sent]);
}

/** Browsers send nothing for what is not checked. */
function notSent({ name, kind }: Field): [string, string | string[]][] {
  if (kind === 'choices') return [[name, []]];
  return kind === 'boolean' ? [[name, 'false']] : [];
}

function isTime(field: Field): boolean {
  return field.kind === 'text' && field.format === 'date-time';
}

export function withPlainLines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
