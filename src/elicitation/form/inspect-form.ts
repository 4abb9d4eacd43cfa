/** What is wrong with a form: the same rules for the forms of servers, of tools in TypeScript and of models. */
import { readRequestedSchema } from './requested-schema.ts';
import { isRecord } from './schema-keywords.ts';
import { asksForSecret, isSecretName, secretFields } from './secret-fields.ts';

export interface FormFinding {
  rule: 'nested-schema' | 'schema-leftover' | 'secret-in-form' | 'link-in-form';
  /** One sentence. */
  message: string;
}

const formats = ['email', 'uri', 'date', 'date-time'];
const link = /https?:\/\/\S/i;

export function inspectForm({ message, requestedSchema }: Record<string, unknown>): FormFinding[] {
  // Not a form at all: a fault of the protocol, which is reported as such.
  if (!isRecord(requestedSchema)) return [];
  const words = typeof message === 'string' ? message : '';
  const form = readRequestedSchema(requestedSchema);
  const properties = Object.entries(
    isRecord(requestedSchema['properties']) ? requestedSchema['properties'] : {},
  );
  return [
    ...(form.kind === 'unsupported' ? [{ rule: 'nested-schema' as const, message: form.reason }] : []),
    ...inspectSecrets(words, requestedSchema),
    ...inspectLinks(words, properties),
    ...properties.flatMap(([name, schema]) => inspectLeftovers(name, schema)),
  ];
}

function inspectSecrets(words: string, schema: Record<string, unknown>): FormFinding[] {
  const form = readRequestedSchema(schema);
  const fields = form.kind === 'form' ? form.fields : [];
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const names =
    form.kind === 'form' ? secretFields(fields, schema) : Object.keys(properties).filter(isSecretName);
  if (names.length > 0) {
    const list = names.map((name) => JSON.stringify(name)).join(', ');
    return [{ rule: 'secret-in-form', message: `The form asks for a secret: ${list}.` }];
  }
  const isTyped = fields.some(({ kind }) => kind === 'text' || kind === 'number');
  return isTyped && asksForSecret(words)
    ? [{ rule: 'secret-in-form', message: 'The words of the form ask for a secret.' }]
    : [];
}

function inspectLinks(words: string, properties: [string, unknown][]): FormFinding[] {
  const texts = properties.flatMap(([name, schema]) =>
    isRecord(schema)
      ? [schema['title'], schema['description']].map((text) => [`The field "${name}"`, text])
      : [],
  );
  const [found] = [['The message', words], ...texts].filter(
    ([, text]) => typeof text === 'string' && link.test(text),
  );
  return found ? [{ rule: 'link-in-form', message: `${String(found[0])} has a link in it.` }] : [];
}

/** What is no error to lenient clients, and is not in the specification (any more). */
function inspectLeftovers(name: string, schema: unknown): FormFinding[] {
  if (!isRecord(schema)) return [];
  const { format, enumNames, pattern } = schema;
  const seen = (what: string): FormFinding => ({
    rule: 'schema-leftover',
    message: `The field "${name}" has ${what}.`,
  });
  const isKnown = format === undefined || format === 'password' || formats.some((known) => known === format);
  return [
    ...(isKnown ? [] : [seen(`the format ${JSON.stringify(format)}; there is ${formats.join(', ')}`)]),
    ...(enumNames === undefined
      ? []
      : [seen('"enumNames", which is deprecated; titled choices are "oneOf"')]),
    ...(pattern === undefined ? [] : [seen('a "pattern", which most clients do not check')]),
  ];
}
