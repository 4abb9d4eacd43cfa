/**
 * The fields of a form → the schema that ACP has for them. Written anew from the fields instead of cut down from the
 * server's schema: clients refuse a keyword or a format that they do not know. What ACP cannot say is said in the
 * description, and checked by the service. Pure.
 */
import type { ElicitationPropertySchema, ElicitationSchema } from '@agentclientprotocol/sdk';
import type { Choice, Field, NumberInput } from '../../../elicitation/form/field.ts';

export function toAcpSchema(fields: readonly Field[]): ElicitationSchema {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, toProperty(field)])),
    ...(required.length > 0 && { required }),
  };
}

function toProperty(field: Field): ElicitationPropertySchema {
  const { title } = field;
  const description = [field.description, ...(field.kind === 'number' ? numberInWords(field) : [])]
    .filter((words) => words !== undefined)
    .join(' ');
  const about = { title, ...(description !== '' && { description }) };
  switch (field.kind) {
    case 'text':
      return {
        type: 'string',
        ...about,
        ...given(field, ['minLength', 'maxLength', 'pattern', 'format', 'default']),
      };
    case 'number':
      return {
        type: field.isInteger ? 'integer' : 'number',
        ...about,
        ...given(field, ['minimum', 'maximum', 'default']),
      };
    case 'boolean':
      return { type: 'boolean', ...about, ...given(field, ['default']) };
    case 'choice':
      return { type: 'string', ...about, ...toChoices(field.choices), ...given(field, ['default']) };
    case 'choices':
      return {
        type: 'array',
        ...about,
        items: toItems(field.choices),
        ...given(field, ['minItems', 'maxItems', 'default']),
      };
    default:
      return field satisfies never;
  }
}

function given<Input extends object, Name extends keyof Input>(
  input: Input,
  names: Name[],
): Pick<Input, Name> {
  const members = names.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]]));
  return Object.fromEntries(members) as Pick<Input, Name>;
}

const isPlain = ({ value, title }: Choice) => value === title;

function toChoices(choices: Choice[]) {
  return choices.every(isPlain) ? { enum: choices.map(({ value }) => value) } : { oneOf: toOptions(choices) };
}

function toItems(choices: Choice[]) {
  return choices.every(isPlain)
    ? ({ type: 'string', enum: choices.map(({ value }) => value) } as const)
    : { anyOf: toOptions(choices) };
}

function toOptions(choices: Choice[]) {
  return choices.map(({ value, title }) => ({ const: value, title }));
}

function numberInWords({ exclusiveMinimum, exclusiveMaximum, multipleOf }: NumberInput): string[] {
  return [
    exclusiveMinimum === undefined ? [] : [`More than ${exclusiveMinimum}.`],
    exclusiveMaximum === undefined ? [] : [`Less than ${exclusiveMaximum}.`],
    multipleOf === undefined ? [] : [`A multiple of ${multipleOf}.`],
  ].flat();
}
