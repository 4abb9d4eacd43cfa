/** The values of a choice, in each of the ways MCP has had to write them. */
import type { Choice } from './field.ts';
import { isRecord, textOf, Unsupported } from './schema-keywords.ts';
import type { Schema } from './schema-keywords.ts';

const maximalChoices = 500;

interface Enumeration {
  choices: Choice[];
  /** Where they stood in the schema. */
  keywords: string[];
}

/** Nothing, when the schema does not name its values. */
export function readEnumeration(schema: Schema, what: string): Enumeration | undefined {
  const keyword = ['enum', 'oneOf', 'anyOf'].find((candidate) => Array.isArray(schema[candidate]));
  const members = keyword && schema[keyword];
  if (keyword === undefined || !Array.isArray(members)) return undefined;
  if (members.length > maximalChoices)
    throw new Unsupported(`${what} has ${members.length} choices; at most ${maximalChoices} are possible.`);
  const isEnum = keyword === 'enum';
  const named = (name: string) => members.map((member) => (isRecord(member) ? member[name] : undefined));
  const choices = isEnum
    ? fromValues(members, schema['enumNames'])
    : fromValues(named('const'), named('title'));
  if (!choices) {
    if (!isEnum) return undefined;
    throw new Unsupported(`${what} must have only texts in its "enum".`);
  }
  if (choices.length === 0) throw new Unsupported(`${what} has no choices.`);
  // The first of equals: told twice, it is still one choice.
  const distinct = choices.filter(
    ({ value }, index) => choices.findIndex((choice) => choice.value === value) === index,
  );
  return { choices: distinct, keywords: [keyword] };
}

/** Null among the values is how some generators write "optional". */
function fromValues(values: unknown[], names: unknown): Choice[] | undefined {
  if (!values.every((value) => typeof value === 'string' || value === null)) return undefined;
  const titles: unknown[] = Array.isArray(names) ? names : [];
  return values.flatMap((value, index) =>
    value === null ? [] : [{ value, title: textOf(titles[index]) ?? value }],
  );
}
