/**
 * A field of a form as an input of Slack's. Nothing of it is cut and no limit is given up: a field that Slack cannot carry
 * as it is has no input, and its form is for our page. Pure.
 */
import type { InputBlock, InputBlockElement, PlainTextOption } from '@slack/types';
import type { Choice, ChoicesInput, Field, NumberInput, TextInput } from '../../elicitation/form/field.ts';
import { isVisible, plainLine, plainText } from '../../elicitation/plain-text.ts';
import { literal } from './texts.ts';

/** The input's id within its block; there is one in each. */
export const inputAction = 'value';
/** Of an optional choice: a radio button alone cannot be taken back. Choices have their place as their value. */
const noAnswer = 'none';

/** Of Slack's. */
const most = { label: 2_000, text: 3_000, option: 75, shownOptions: 10, options: 100 };
/** Beyond that a text is written over several lines. */
const longText = 300;

/** Null: Slack cannot carry it. */
export function fieldInput(field: Field, blockId: string): InputBlock | null {
  const label = plainLine(field.title);
  const hint = field.description === undefined ? '' : plainText(field.description).trim();
  const element = elementOf(field);
  if (element === null || !isVisible(label) || label.length > most.label || hint.length > most.label)
    return null;
  return {
    type: 'input',
    block_id: blockId,
    optional: isOptional(field),
    label: literal(label),
    ...(isVisible(hint) && { hint: literal(hint) }),
    element: { ...element, action_id: inputAction },
  };
}

/** Where any number of choices will do, none of them is an answer, too. */
function isOptional(field: Field): boolean {
  return field.kind === 'choices' ? (field.minItems ?? 0) === 0 || !field.isRequired : !field.isRequired;
}

function elementOf(field: Field): InputBlockElement | null {
  switch (field.kind) {
    case 'text':
      return textElement(field);
    case 'number':
      return numberElement(field);
    case 'boolean':
      return choiceElement(
        [
          { value: 'true', title: 'Yes' },
          { value: 'false', title: 'No' },
        ],
        field.default === undefined ? undefined : String(field.default),
        field,
      );
    case 'choice':
      return choiceElement(field.choices, field.default, field);
    case 'choices':
      return choicesElement(field);
    default:
      return field satisfies never;
  }
}

function textElement({ format, minLength = 0, maxLength, default: initial }: TextInput) {
  const seconds = initial === undefined ? undefined : Date.parse(initial) / 1000;
  switch (format) {
    case 'date':
      return { type: 'datepicker' as const, ...(initial !== undefined && { initial_date: initial }) };
    case 'date-time':
      // Slack takes ten digits of seconds, and its clock has minutes.
      if (seconds === undefined) return { type: 'datetimepicker' as const };
      if (seconds % 60 !== 0 || seconds < 1e9 || seconds >= 1e10) return null;
      return { type: 'datetimepicker' as const, initial_date_time: seconds };
    default:
  }
  if (minLength > most.text || (initial?.length ?? 0) > most.text) return null;
  const value = initial !== undefined && initial !== '' && { initial_value: initial };
  if (format === 'email') return { type: 'email_text_input' as const, ...value };
  if (format === 'uri') return { type: 'url_text_input' as const, ...value };
  return {
    type: 'plain_text_input' as const,
    multiline: (maxLength ?? 0) > longText,
    ...(minLength > 0 && { min_length: minLength }),
    // At least one, says Slack.
    ...(maxLength !== undefined && maxLength > 0 && { max_length: Math.min(maxLength, most.text) }),
    ...value,
  };
}

/** What Slack's number cannot say (`1e21`) is left to our own check, or is typed as a text. */
function numberElement({ isInteger, minimum, maximum, default: initial }: NumberInput): InputBlockElement {
  const value = initial === undefined ? {} : { initial_value: String(initial) };
  if (initial !== undefined && !isPlain(initial)) return { type: 'plain_text_input', ...value };
  const least = isInteger && minimum !== undefined ? Math.ceil(minimum) : minimum;
  const greatest = isInteger && maximum !== undefined ? Math.floor(maximum) : maximum;
  return {
    type: 'number_input',
    is_decimal_allowed: !isInteger,
    ...(least !== undefined && isPlain(least) && { min_value: String(least) }),
    ...(greatest !== undefined && isPlain(greatest) && { max_value: String(greatest) }),
    ...value,
  };
}

function isPlain(value: number): boolean {
  return /^-?\d{1,15}(?:\.\d{1,10})?$/.test(String(value));
}

function choiceElement(
  choices: Choice[],
  initial: string | undefined,
  { isRequired }: Pick<Field, 'isRequired'>,
): InputBlockElement | null {
  const options = optionsOf(choices);
  if (options === null) return null;
  if (!isRequired) options.push({ text: literal('No answer'), value: noAnswer });
  const untouched = isRequired ? undefined : options.at(-1);
  const chosen =
    initial === undefined ? untouched : options[choices.findIndex(({ value }) => value === initial)];
  const selected = chosen && { initial_option: chosen };
  if (options.length <= most.shownOptions) return { type: 'radio_buttons', options, ...selected };
  if (options.length > most.options) return null;
  return { type: 'static_select', options, ...selected };
}

function choicesElement({
  choices,
  maxItems,
  default: initial = [],
}: ChoicesInput): InputBlockElement | null {
  const options = optionsOf(choices);
  if (options === null || options.length > most.options) return null;
  const chosen = options.filter((_, index) => initial.includes(choices[index]?.value ?? ''));
  const selected = chosen.length > 0 && { initial_options: chosen };
  if (options.length <= most.shownOptions) return { type: 'checkboxes', options, ...selected };
  return {
    type: 'multi_static_select',
    options,
    ...(maxItems !== undefined && maxItems > 0 && { max_selected_items: maxItems }),
    ...selected,
  };
}

/** Null: one is too long to be told from others, or shows nothing. */
function optionsOf(choices: Choice[]): PlainTextOption[] | null {
  const titles = choices.map(({ title }) => plainLine(title));
  if (titles.some((title) => !isVisible(title) || title.length > most.option)) return null;
  return titles.map((title, index) => ({ text: literal(title), value: String(index) }));
}
