/** Whether a content fits the fields of a form. ajv judges; here is what it is asked, and its verdict in words. */
import { Ajv } from 'ajv';
import type { ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import type { Field, Input, NumberInput } from '../elicitation/form/requested-schema.ts';
import { boundedPatterns } from './bounded-patterns.ts';
import { detailOf } from './form-words.ts';

/** A field that does not fit. `detail` is for the person who filled it in, and never repeats what they wrote. */
export interface Misfit {
  name: string;
  detail: string;
}

/** For all patterns of a form together: an honest one takes microseconds. */
const patternBudgetMs = 10;

/** One entry for each field that does not fit; of several reasons the first. */
export function checkForm(fields: Field[], content: Record<string, unknown>): Misfit[] {
  const fits = boundedPatterns(patternBudgetMs);
  // A new one for each form: it would keep every schema it ever saw.
  const ajv = new Ajv({
    allErrors: true,
    ownProperties: true,
    strict: false,
    meta: false,
    validateSchema: false,
    logger: false,
    multipleOfPrecision: 9,
    code: {
      regExp: Object.assign(
        // ajv tells patterns apart by their text.
        (pattern: string) => ({ test: (text: string) => fits(pattern, text), toString: () => pattern }),
        { code: 'boundedPatterns' },
      ),
    },
  });
  addFormats.default(ajv, ['email', 'uri', 'date', 'date-time']);
  const validate = ajv.compile(schemaOf(fields));
  validate(content);
  const known = new Map(fields.map((field) => [field.name, field]));
  const found = new Map<string, Misfit>();
  for (const error of validate.errors ?? []) {
    const name = nameIn(error);
    if (!found.has(name)) found.set(name, { name, detail: detailOf(known.get(name), error) });
  }
  return [...found.values()];
}

/** ajv says of what is missing or too much where it should be; else where it is, perhaps inside a list. */
function nameIn({ instancePath, params }: ErrorObject): string {
  const inParams: unknown = params['missingProperty'] ?? params['additionalProperty'];
  const [, first = ''] = instancePath.split('/');
  return typeof inParams === 'string' ? inParams : first.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Rebuilt from the fields: what is checked is what was shown, and no keyword of a stranger reaches the compiler. */
function schemaOf(fields: Field[]): Record<string, unknown> {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, schemaOfInput(field)])),
    required: fields.filter((field) => field.isRequired).map((field) => field.name),
    additionalProperties: false,
  };
}

function schemaOfInput(input: Input): Record<string, unknown> {
  switch (input.kind) {
    case 'text':
      return { type: 'string', ...pick(input, ['format', 'minLength', 'maxLength', 'pattern']) };
    case 'number': {
      const limits = pick(input, [
        'minimum',
        'maximum',
        'exclusiveMinimum',
        'exclusiveMaximum',
        'multipleOf',
      ]);
      return input.isInteger
        ? { type: 'integer', ...limits, ...exactly(input) }
        : { type: 'number', ...limits };
    }
    case 'boolean':
      return { type: 'boolean' };
    case 'choice':
      return { type: 'string', enum: input.choices.map(({ value }) => value) };
    case 'choices': {
      const { minItems, maxItems = input.choices.length } = input;
      const most = Math.min(maxItems, input.choices.length);
      return {
        type: 'array',
        ...(minItems !== undefined && { minItems }),
        maxItems: most,
        // Each item of a list that is too long anyway would be one more error to collect.
        if: { minItems: most + 1 },
        else: {
          uniqueItems: true,
          items: { type: 'string', enum: input.choices.map(({ value }) => value) },
        },
      };
    }
    default:
      return input satisfies never;
  }
}

/** Beyond these limits a whole number reaches us as another one than was sent. */
function exactly({ minimum = -Infinity, maximum = Infinity }: NumberInput) {
  return {
    minimum: Math.max(minimum, Number.MIN_SAFE_INTEGER),
    maximum: Math.min(maximum, Number.MAX_SAFE_INTEGER),
  };
}

function pick<T extends object, K extends keyof T>(from: T, keys: K[]): Partial<Pick<T, K>> {
  const picked: Partial<Pick<T, K>> = {};
  for (const key of keys) if (from[key] !== undefined) picked[key] = from[key];
  return picked;
}
