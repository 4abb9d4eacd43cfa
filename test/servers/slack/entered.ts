/** What a person enters into a modal's inputs, by label, in Slack's format: `view.state.values`. */
import type { View } from './check-view.ts';

/** A text, the title of a choice, several of them, seconds of a moment; null: left or made empty. */
export type Entered = Record<string, string | string[] | number | null>;

interface Option {
  text: { text: string };
  value: string;
}

interface Element {
  type: string;
  action_id: string;
  options?: Option[];
  initial_value?: string;
  initial_date?: string;
  initial_date_time?: number;
  initial_option?: Option;
  initial_options?: Option[];
  min_length?: number;
  max_length?: number;
}

interface Input {
  type: 'input';
  block_id: string;
  optional?: boolean;
  label: { text: string };
  element: Element;
}

export function inputsOf({ blocks }: View): Input[] {
  return blocks.filter(({ type }) => type === 'input') as unknown as Input[];
}

/** Throws where Slack would not allow the submit. */
export function valuesOf(view: View, entered: Entered): Record<string, Record<string, object>> {
  const inputs = inputsOf(view);
  for (const label of Object.keys(entered)) {
    if (!inputs.some((input) => input.label.text === label)) throw new Error(`There is no input "${label}".`);
  }
  return Object.fromEntries(
    inputs.map(({ block_id, label, element, optional = false }) => {
      const given = label.text in entered ? entered[label.text] : undefined;
      const { state, isEmpty } = stateOf(element, given);
      if (isEmpty && !optional) throw new Error(`Slack wants "${label.text}" filled in.`);
      return [block_id, { [element.action_id]: { type: element.type, ...state } }];
    }),
  );
}

function stateOf(element: Element, given: Entered[string] | undefined): { state: object; isEmpty: boolean } {
  const find = (title: string): Option => {
    const found = element.options?.find((option) => option.text.text === title);
    if (!found) throw new Error(`There is no choice "${title}".`);
    return found;
  };
  switch (element.type) {
    case 'datepicker': {
      const date = given === undefined ? (element.initial_date ?? null) : given;
      return { state: { selected_date: date }, isEmpty: date === null };
    }
    case 'datetimepicker': {
      const at = given === undefined ? (element.initial_date_time ?? null) : given;
      return { state: { selected_date_time: at }, isEmpty: at === null };
    }
    case 'radio_buttons':
    case 'static_select': {
      const chosen =
        given === undefined ? (element.initial_option ?? null) : given === null ? null : find(String(given));
      return { state: { selected_option: chosen }, isEmpty: chosen === null };
    }
    case 'checkboxes':
    case 'multi_static_select': {
      const chosen =
        given === undefined
          ? (element.initial_options ?? [])
          : [given ?? []].flat().map((one) => find(String(one)));
      return { state: { selected_options: chosen }, isEmpty: chosen.length === 0 };
    }
    default: {
      const text = given === undefined ? (element.initial_value ?? null) : given;
      checkLength(element, text);
      return { state: { value: text === '' ? null : text }, isEmpty: text === null || text === '' };
    }
  }
}

function checkLength({ min_length: least = 0, max_length: most = 3_000 }: Element, text: unknown): void {
  if (typeof text !== 'string' || text === '') return;
  if (text.length < least || text.length > most) throw new Error('Slack wants another length.');
}
