/**
 * Renames arguments whose names a provider refuses, such as `filter[name]`, for the model, and back for the server. Pure.
 */
import { hash } from 'node:crypto';
import { isRecord } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';
import type { ProviderRules } from './provider-rules.ts';
import { resolve } from './root.ts';

/** From the name for the model to that of the server. */
export type ArgumentNames = Record<string, string>;

type Names = Pick<ProviderRules, 'propertyName' | 'unfitCharacter'>;

/** From the server's name of a property to the offered name, for all that have to be renamed. */
export function renamedProperties(schema: unknown, rules: Names): Map<string, string> {
  const own = new Set<string>();
  collectNames(schema, own);
  const renamed = new Map<string, string>();
  const taken = new Set(own);
  for (const name of own) {
    if (rules.propertyName.test(name)) continue;
    const offered = fitName(name, rules, taken);
    renamed.set(name, offered);
    taken.add(offered);
  }
  return renamed;
}

function fitName(name: string, { propertyName, unfitCharacter }: Names, taken: ReadonlySet<string>): string {
  const clean = name.replaceAll(unfitCharacter, '_').replaceAll(/^_|_$/g, '');
  const begun = /^[a-zA-Z_]/.test(clean) ? clean : `_${clean}`;
  const candidate = propertyName.test(clean) ? clean : begun;
  if (candidate !== '_' && propertyName.test(candidate) && !taken.has(candidate)) return candidate;
  return `${begun.slice(0, 55)}_${hash('sha256', name).slice(0, 8)}`;
}

function collectNames(value: unknown, names: Set<string>): void {
  if (Array.isArray(value)) for (const one of value) collectNames(one, names);
  if (!isRecord(value)) return;
  const { properties } = value;
  if (isRecord(properties)) for (const name of Object.keys(properties)) names.add(name);
  for (const one of Object.values(value)) collectNames(one, names);
}

/** The arguments with the server's names. `schema`: as it was offered. */
export function withOwnNames(input: unknown, schema: unknown, names: ArgumentNames): unknown {
  return Object.keys(names).length === 0 ? input : renamed(input, [schema], { root: schema, names });
}

function renamed(value: unknown, schemas: unknown[], tool: { root: unknown; names: ArgumentNames }): unknown {
  const nodes = schemas.flatMap((schema) => alternativesOf(schema, tool.root));
  if (nodes.length === 0) return value;
  const below = (key: string) => nodes.flatMap((node) => (node[key] === undefined ? [] : [node[key]]));
  if (Array.isArray(value)) return value.map((one) => renamed(one, below('items'), tool));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const own = nodes.flatMap(({ properties }) =>
        isRecord(properties) && Object.hasOwn(properties, key) ? [properties[key]] : [],
      );
      if (own.length === 0) return [key, renamed(one, below('additionalProperties'), tool)];
      return [Object.hasOwn(tool.names, key) ? tool.names[key] : key, renamed(one, own, tool)];
    }),
  );
}

function alternativesOf(
  schema: unknown,
  root: unknown,
  inside: readonly unknown[] = [],
): Record<string, unknown>[] {
  if (!isRecord(schema) || inside.includes(schema)) return [];
  const within = [...inside, schema];
  const { $ref: reference } = schema;
  const others = [
    ...(typeof reference === 'string' ? [resolve(root, reference)] : []),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((keyword) =>
      Array.isArray(schema[keyword]) ? schema[keyword] : [],
    ),
  ];
  return [schema, ...others.flatMap((other) => alternativesOf(other, root, within))];
}
