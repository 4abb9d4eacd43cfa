/** What somebody entered into a window, as the fields of a form take it from every page. Pure. */
import { z } from 'zod';
import type { Choice, Field } from '../../elicitation/form/field.ts';
import { inputAction } from './field-input.ts';

const option = z.object({ value: z.string() });
const enteredSchema = z.object({
  value: z.string().nullish(),
  selected_date: z.string().nullish(),
  selected_date_time: z.int().min(0).max(1e11).nullish(),
  selected_option: option.nullish(),
  selected_options: z.array(option).nullish(),
});

/** Of a window, by block and input: `view.state.values` as Slack sends it. */
export const viewValuesSchema = z.record(z.string(), z.record(z.string(), enteredSchema));
export type ViewValues = z.infer<typeof viewValuesSchema>;

/** What is left alone is not there, except for a list of which nothing is chosen. */
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

/** What is written in a text, or the place of what is chosen. */
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

/** None for “No answer”, which has no place. */
function chosen(choices: Choice[], selected: z.infer<typeof option> | null | undefined): string | undefined {
  return choices[Number(selected?.value)]?.value;
}
