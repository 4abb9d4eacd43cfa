/** Finds what is wrong with a form. The rules are the same for forms of servers, of tools in TypeScript and of models. */
import { textFormats } from './field.ts';
import { readRequestedSchema } from './requested-schema.ts';
import { isRecord } from './schema-keywords.ts';
import { asksForSecret, isSecretName, secretFields } from './secret-fields.ts';

interface FormFinding {
  rule: 'nested-schema' | 'schema-leftover' | 'secret-in-form' | 'link-in-form';
  /** One sentence. */
  message: string;
}

const link = /https?:\/\/\S/i;

export function inspectForm({ message, requestedSchema }: Record<string, unknown>): FormFinding[] {
  // No form at all is a protocol error, which is reported elsewhere.
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

/** Finds what lenient clients accept, but is not in the specification (any more). */
function inspectLeftovers(name: string, schema: unknown): FormFinding[] {
  if (!isRecord(schema)) return [];
  const { format, enumNames, pattern } = schema;
  const seen = (what: string): FormFinding => ({
    rule: 'schema-leftover',
    message: `The field "${name}" has ${what}.`,
  });
  const isKnown =
    format === undefined || format === 'password' || textFormats.some((known) => known === format);
  return [
    ...(isKnown ? [] : [seen(`the format ${JSON.stringify(format)}; there is ${textFormats.join(', ')}`)]),
    ...(enumNames === undefined
      ? []
      : [seen('"enumNames", which is deprecated; titled choices are "oneOf"')]),
    ...(pattern === undefined ? [] : [seen('a "pattern", which most clients do not check')]),
  ];
}
