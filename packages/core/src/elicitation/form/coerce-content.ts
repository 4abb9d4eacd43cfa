import type { Field } from './field.ts';

/**
 * Converts what HTML forms and terminals send to the types of the fields: "42" for a number, "" for a field that was left
 * out, "on" for yes, one text for a list of one. Programs send null for a field that is left out. Other values stay
 * unchanged, and the check reports them.
 */
export function coerceContent(fields: Field[], content: Record<string, unknown>): Record<string, unknown> {
  const known = new Map(fields.map((field) => [field.name, field]));
  return Object.fromEntries(
    Object.entries(content).flatMap(([name, value]) => {
      const field = known.get(name);
      if (!field) return [[name, value]];
      return isLeftAlone(field, value) ? [] : [[name, coerceValue(field, value)]];
    }),
  );
}

function isLeftAlone(field: Field, value: unknown): boolean {
  if (value === null) return true;
  switch (field.kind) {
    case 'text':
      // If the field is required, the empty text may be meant.
      return value === '' && !field.isRequired;
    case 'choice':
      return value === '' && !hasEmptyChoice(field);
    case 'choices': {
      // Unless the field has a minimum, the empty list is an answer.
      const isNone = Array.isArray(value) && value.length === 0;
      return isNone ? !field.isRequired && (field.minItems ?? 0) > 0 : value === '' && !hasEmptyChoice(field);
    }
    case 'number':
    case 'boolean':
      return value === '';
    default:
      return field satisfies never;
  }
}

function hasEmptyChoice({ choices }: Extract<Field, { kind: 'choice' | 'choices' }>): boolean {
  return choices.some((choice) => choice.value === '');
}

function coerceValue(field: Field, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  switch (field.kind) {
    case 'text':
      return field.format ? value.trim() : value;
    case 'number':
      return toNumber(value.trim()) ?? value;
    case 'boolean':
      return yesOrNo.get(value.trim().toLowerCase()) ?? value;
    case 'choice':
      return value;
    case 'choices':
      return [value];
    default:
      return field satisfies never;
  }
}

const yesOrNo = new Map([
  ...['on', 'true', 'yes', '1'].map((word) => [word, true] as const),
  ...['off', 'false', 'no', '0'].map((word) => [word, false] as const),
]);

/** Plain decimals only. */
function toNumber(text: string): number | undefined {
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
