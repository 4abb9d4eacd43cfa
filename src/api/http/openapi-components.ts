/**
 * Tidies the schemas of an OpenAPI document. The generator writes each one twice, as `X` for responses and as `XInput` for
 * requests: what nothing refers to is dropped, and a schema that is left without its twin loses the suffix. Pure.
 */
type Schemas = Record<string, unknown>;

const prefix = '#/components/schemas/';
const inputSuffix = /Input$/;

export function tidyComponents<Document extends object>(document: Document): Document {
  const { components = {}, ...rest }: { components?: { schemas?: Schemas } } = document;
  const { schemas = {} } = components;
  const used = reachable(rest, schemas);
  const nameOf = (name: string) => {
    const base = name.replace(inputSuffix, '');
    return used.has(base) ? name : base;
  };
  const kept = Object.fromEntries([...used].toSorted().map((name) => [nameOf(name), schemas[name]]));
  const tidy = { ...document, components: { ...components, schemas: kept } };
  return JSON.parse(JSON.stringify(tidy), (key, value: unknown) => {
    const name = key === '$ref' ? referred(value) : undefined;
    return name === undefined ? value : prefix + nameOf(name);
  }) as Document;
}

function reachable(from: unknown, schemas: Schemas, found = new Set<string>()): Set<string> {
  JSON.stringify(from, (key, value: unknown) => {
    const name = key === '$ref' ? referred(value) : undefined;
    if (name !== undefined && name in schemas && !found.has(name)) {
      found.add(name);
      reachable(schemas[name], schemas, found);
    }
    return value;
  });
  return found;
}

function referred(value: unknown): string | undefined {
  return typeof value === 'string' && value.startsWith(prefix) ? value.slice(prefix.length) : undefined;
}
