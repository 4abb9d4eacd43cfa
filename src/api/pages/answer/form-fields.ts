/** The fields of a form as HTML inputs, with what was typed and its problems. Pure. */
import type { Choice, Field } from '../../../elicitation/form/field.ts';
import { plainLine } from '../../../elicitation/plain-text.ts';
import { html } from '../../../html/html.ts';
import type { Html } from '../../../html/html.ts';

/** Prefix of the inputs' names, because a field may have the name of one of ours. */
const fieldPrefix = 'f.';

/** By field: the text typed, or the choices of a list. */
export type Typed = Record<string, string | string[]>;

export function formFields(fields: Field[], typed: Typed | null, problems: Map<string, string>): Html[] {
  const first = fields.find(({ name }) => problems.has(name))?.name;
  return fields.map((field, index) => {
    const { name } = field;
    const given = typed === null ? defaultOf(field) : typed[name];
    const values = given === undefined ? [] : [given].flat();
    return fieldset(field, {
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

/** More choices become a `<select>`. */
const fewChoices = 6;

function fieldset(field: Field, shown: Shown): Html {
  const { title, isRequired, description } = field;
  const { id, problem } = shown;
  const optional = isRequired ? '' : html` <small>optional</small>`;
  const label = html`<span dir="auto">${plainLine(title)}</span>${optional}`;
  const notes = html`${
    description !== undefined &&
    html`<p class="help" id="${id}-help" dir="auto">${plainLine(description)}</p>`
  }
  ${problem !== undefined && html`<p class="problem" id="${id}-problem">${problem}</p>`}`;
  const group = groupOf(field);
  if (group)
    return html`<fieldset class="field" aria-describedby="${describedBy(field, shown)}">
      <legend>${label}</legend>
      ${notes} ${group.choices.map((choice, index) => option(field, group.type, choice, index, shown))}
    </fieldset>`;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${notes} ${single(field, shown)}
  </div>`;
}

function groupOf(field: Field): { type: 'radio' | 'checkbox'; choices: Choice[] } | null {
  switch (field.kind) {
    case 'boolean':
      return { type: 'radio', choices: withNone(field, yesOrNo) };
    case 'choices':
      return { type: 'checkbox', choices: field.choices };
    case 'choice':
      return field.choices.length <= fewChoices
        ? { type: 'radio', choices: withNone(field, field.choices) }
        : null;
    case 'text':
    case 'number':
      return null;
    default:
      return field satisfies never;
  }
}

const yesOrNo: Choice[] = [
  { value: 'true', title: 'Yes' },
  { value: 'false', title: 'No' },
];

/** Radio buttons cannot be unselected, so optional fields get “No answer”. */
function withNone({ isRequired }: Field, choices: Choice[]): Choice[] {
  const isThere = choices.some(({ value }) => value === '');
  return isRequired || isThere ? choices : [...choices, { value: '', title: 'No answer' }];
}

function option(field: Field, type: string, { value, title }: Choice, index: number, shown: Shown): Html {
  const isNone = type === 'radio' && value === '' && shown.values.length === 0 && !field.isRequired;
  const isOn = isNone || shown.values.includes(value);
  const takesFocus = index === 0 && shown.isFirst;
  return html`<label class="tick"
    ><input
      type="${type}"
      name="${fieldPrefix + field.name}"
      value="${value}"
      ${isOn && html`checked`}
      ${shown.problem !== undefined && html`aria-invalid="true"`}
      ${takesFocus && html`autofocus`}
    /><span dir="auto">${plainLine(title)}</span></label
  >`;
}

const longText = 200;
const inputTypes = { email: 'email', uri: 'url', date: 'date', 'date-time': 'text' } as const;

function single(field: Field, shown: Shown): Html {
  const { id, values, problem, isFirst } = shown;
  const [value = ''] = values;
  const common = html`id="${id}" name="${fieldPrefix + field.name}" dir="auto" autocomplete="off"
  aria-describedby="${describedBy(field, shown)}" ${field.isRequired && html`required`}
  ${problem !== undefined && html`aria-invalid="true"`} ${isFirst && html`autofocus`}`;
  switch (field.kind) {
    case 'choice':
      return html`<select ${common}>
        <option value="">Choose…</option>
        ${field.choices.map(
          (choice) =>
            html`<option value="${choice.value}" ${choice.value === value && html`selected`}>
              ${plainLine(choice.title)}
            </option>`,
        )}
      </select>`;
    case 'number':
      return html`<input
        ${common}
        type="text"
        inputmode="${field.isInteger ? 'numeric' : 'decimal'}"
        value="${value}"
      />`;
    case 'text': {
      const isLong = field.format === undefined && (field.maxLength ?? 0) > longText;
      if (isLong) return html`<textarea ${common} rows="4">${value}</textarea>`;
      const { format } = field;
      return html`<input
        ${common}
        type="${format === undefined ? 'text' : inputTypes[format]}"
        value="${value}"
        ${format === 'date-time' && html`placeholder="2026-01-31T09:30:00Z"`}
      />`;
    }
    case 'boolean':
    case 'choices':
      return html``;
    default:
      return field satisfies never;
  }
}

function describedBy({ description }: Field, { id, problem }: Shown): string {
  return [description !== undefined && `${id}-help`, problem !== undefined && `${id}-problem`]
    .filter(Boolean)
    .join(' ');
}

function defaultOf(field: Field): string | string[] | undefined {
  const { default: value } = field;
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value : String(value);
}

/** Browsers send nothing for a list with nothing chosen, and CRLF for line breaks. */
export function typedIn(fields: Field[], body: Record<string, unknown>): Typed {
  const none = fields
    .filter(({ kind }) => kind === 'choices')
    .map(({ name }): [string, string[]] => [name, []]);
  const given = Object.entries(body).flatMap(([name, value]) => {
    if (!name.startsWith(fieldPrefix)) return [];
    const texts = [value]
      .flat()
      .filter((text) => typeof text === 'string')
      .map(withPlainLines);
    const [only, ...others] = texts;
    if (only === undefined) return [];
    return [[name.slice(fieldPrefix.length), others.length === 0 ? only : texts] as const];
  });
  return Object.fromEntries<string | string[]>([...none, ...given]);
}

export function withPlainLines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
