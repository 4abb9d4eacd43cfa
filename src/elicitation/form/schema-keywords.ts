/** What all readers of a stranger's schema need: its keywords, and the words to refuse it in. */
export type Schema = Record<string, unknown>;

/** Its message is the reason that is given. */
export class Unsupported extends Error {
  override name = 'Unsupported';
}

/** These would make a form mean something that its fields do not show. All else that is unknown is an annotation. */
const meaningful = new Set(
  (
    '$ref $dynamicRef $recursiveRef allOf anyOf oneOf not if then else const enum items prefixItems ' +
    'additionalItems unevaluatedItems contains properties patternProperties propertyNames unevaluatedProperties ' +
    'minProperties maxProperties dependencies dependentRequired dependentSchemas'
  ).split(' '),
);

export function refuseKeywords(schema: Schema, what: string, known: readonly string[] = []): void {
  const found = Object.keys(schema).find((keyword) => meaningful.has(keyword) && !known.includes(keyword));
  if (found !== undefined) throw new Unsupported(`${what} uses "${found}", which a form cannot show.`);
}

export function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text that says something. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A stranger's word, short enough for a sentence. */
export function quoted(word: string): string {
  return JSON.stringify(word.length > 64 ? `${word.slice(0, 63)}…` : word);
}
