/** What a source file imports, by a real parser: types or values, static or dynamic, and re-exports. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';

export interface Import {
  from: string;
  /** A path below the repository for our own modules, the bare name for packages. */
  to: string;
  typeOnly: boolean;
}

export interface SourceFile {
  name: string;
  imports: Import[];
  readsEnvironment: boolean;
}

const root = path.resolve(import.meta.dirname, '..');

/** Modules of packages, too, are named by their path. */
function placeOf(specifier: string, from: string): string {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(from), specifier);
  return specifier.replace(/^@interlude-ai\/(\w+)\//, 'packages/$1/src/');
}

export function readSource(name: string): SourceFile {
  return parse(name, readFileSync(path.join(root, name), 'utf8'));
}

export function parse(name: string, code: string): SourceFile {
  const { module, errors } = parseSync(name, code);
  if (errors.length > 0) throw new Error(`${name}: ${errors[0]?.message}`);
  const imports = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      typeOnly: entries.length > 0 && entries.every(({ isType }) => isType),
    })),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest ? [{ specifier: moduleRequest.value, typeOnly: isType }] : [],
      ),
    ),
    // One whose address is computed says nothing here.
    ...module.dynamicImports.flatMap(({ moduleRequest }) => {
      const [, specifier] = /^['"](.*)['"]$/.exec(code.slice(moduleRequest.start, moduleRequest.end)) ?? [];
      return specifier === undefined ? [] : [{ specifier, typeOnly: false }];
    }),
  ];
  return {
    name,
    imports: imports.map(({ specifier, typeOnly }) => ({
      from: name,
      to: placeOf(specifier, name),
      typeOnly,
    })),
    readsEnvironment: /\bprocess\s*\.\s*env\b|\bprocess\s*\[|\benv\b.*from 'node:process'/.test(code),
  };
}
