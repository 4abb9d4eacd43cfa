/**
 * Fields of a form as inputs in a Slack window, and the values entered there. Nothing is cut and no limit is dropped: a form with
 * a field that Slack cannot show is answered on our page. Pure.
 */
import type { InputBlock, InputBlockElement, PlainTextOption } from '@slack/types';
import { z } from 'zod';
import type {
  Choice,
  ChoicesInput,
  Field,
  NumberInput,
  TextInput,
} from '@interlude-ai/core/elicitation/form/field.ts';
import { isVisible, plainLine, plainText } from '@interlude-ai/core/elicitation/plain-text.ts';
import type { SlackWords } from '../vocabulary/words/en.ts';
import { literal } from '../vocabulary/blocks/texts.ts';

/** The id of the one input in each block. */
const inputAction = 'value';
/** Value of “No answer”, because radio buttons cannot be unselected. Other choices have their index as value. */
const noAnswer = 'none';

/** Slack's limits. */
const most = { label: 2_000, text: 3_000, option: 75, shownOptions: 10, options: 100 };
/** Longer texts get an input with several lines. */
const longText = 300;

type ChoiceWords = Pick<SlackWords, 'yes' | 'no' | 'noAnswer'>;

/** Null: Slack cannot show it. */
export function fieldInput(words: ChoiceWords, field: Field, blockId: string): InputBlock | null {
  const label = plainLine(field.title);
  const hint = field.description === undefined ? '' : plainText(field.description).trim();
  const element = elementOf(words, field);
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

/** If `minItems` is 0, choosing nothing is an answer. */
function isOptional(field: Field): boolean {
  return field.kind === 'choices' ? (field.minItems ?? 0) === 0 || !field.isRequired : !field.isRequired;
}

function elementOf(words: ChoiceWords, field: Field): InputBlockElement | null {
  switch (field.kind) {
    case 'text':
      return textElement(field);
    case 'number':
      return numberElement(field);
    case 'boolean':
      return choiceElement(
        words,
        [
          { value: 'true', title: words.yes },
          { value: 'false', title: words.no },
        ],
        field.default === undefined ? undefined : String(field.default),
        field,
      );
    case 'choice':
      return choiceElement(words, field.choices, field.default, field);
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
      // Slack takes ten digits of seconds, and its picker has no seconds.
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
    // Slack wants at least 1.
    ...(maxLength !== undefined && maxLength > 0 && { max_length: Math.min(maxLength, most.text) }),
    ...value,
  };
}

/** Slack takes no exponents (`1e21`): such limits are left to our own check, and such a default makes a text input. */
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
  words: ChoiceWords,
  choices: Choice[],
  initial: string | undefined,
  { isRequired }: Pick<Field, 'isRequired'>,
): InputBlockElement | null {
  const options = optionsOf(choices);
  if (options === null) return null;
  if (!isRequired) options.push({ text: literal(words.noAnswer), value: noAnswer });
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

/** Null: a title is invisible or too long for Slack. */
function optionsOf(choices: Choice[]): PlainTextOption[] | null {
  const titles = choices.map(({ title }) => plainLine(title));
  if (titles.some((title) => !isVisible(title) || title.length > most.option)) return null;
  return titles.map((title, index) => ({ text: literal(title), value: String(index) }));
}

const option = z.object({ value: z.string() });
const enteredSchema = z.object({
  value: z.string().nullish(),
  selected_date: z.string().nullish(),
  selected_date_time: z.int().min(0).max(1e11).nullish(),
  selected_option: option.nullish(),
  selected_options: z.array(option).nullish(),
});

/** `view.state.values` as Slack sends it, by block and input. */
export const viewValuesSchema = z.record(z.string(), z.record(z.string(), enteredSchema));
export type ViewValues = z.infer<typeof viewValuesSchema>;

/** The values as form fields take them. Empty fields are left out, except lists with nothing chosen. */
export function typedIn(
  fields: Field[],
  values: ViewValues,
  blockIdOf: (index: number) => string,
): Record<string, string | string[]> {
  return Object.fromEntries(
    fields.flatMap((field, index) => {
      const given = readField(field, values[blockIdOf(index)]?.[inputAction] ?? {});
      return given === undefined ? [] : [[field.name, given] as const];
    }),
  );
}

/** The text entered, or the index of the option chosen. */
export function enteredText(values: ViewValues, blockId: string): string | undefined {
  const { value, selected_option: selected } = values[blockId]?.[inputAction] ?? {};
  return value ?? selected?.value;
}

function readField(
  field: Field,
  {
    value,
    selected_date,
    selected_date_time,
    selected_option,
    selected_options,
  }: z.infer<typeof enteredSchema>,
): string | string[] | undefined {
  switch (field.kind) {
    case 'text':
      if (selected_date_time != null) return momentOf(selected_date_time);
      return selected_date ?? value ?? undefined;
    case 'number':
      return value ?? undefined;
    case 'boolean':
      return ['true', 'false'][Number(selected_option?.value)];
    case 'choice':
      return chosen(field.choices, selected_option);
    case 'choices':
      return (selected_options ?? []).flatMap((one) => chosen(field.choices, one) ?? []);
    default:
      return field satisfies never;
  }
}

function momentOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

/** Undefined for “No answer”. */
function chosen(choices: Choice[], selected: z.infer<typeof option> | null | undefined): string | undefined {
  return choices[Number(selected?.value)]?.value;
}
