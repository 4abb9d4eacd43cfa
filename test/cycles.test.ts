/**
 * No file of the source imports itself through others, not even for a type: the files of such a cycle can only be read
 * and moved together. Derived from the source, so that no comment switches it off.
 */
import { globSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, readSource } from './source-imports.ts';
import type { SourceFile } from './source-imports.ts';

const root = path.resolve(import.meta.dirname, '..');
const files = globSync(['src/**/*.{ts,tsx}', 'packages/*/src/**/*.{ts,tsx}'], { cwd: root })
  .map((name) => name.split(path.sep).join('/'))
  .map(readSource);

/** Groups of files of which each reaches each other by imports (strongly connected components, after Tarjan). */
function cyclesIn(sources: SourceFile[]): string[][] {
  const imports = new Map(sources.map(({ name, imports: found }) => [name, found.map(({ to }) => to)]));
  const indexOf = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];

  function visit(name: string): number {
    const index = indexOf.size;
    indexOf.set(name, index);
    stack.push(name);
    let low = index;
    for (const to of imports.get(name) ?? []) {
      if (!imports.has(to)) continue;
      if (!indexOf.has(to)) low = Math.min(low, visit(to));
      else if (stack.includes(to)) low = Math.min(low, lowest.get(to) ?? indexOf.get(to) ?? low);
    }
    lowest.set(name, low);
    if (low === index) {
      const group = stack.splice(stack.indexOf(name));
      if (group.length > 1 || imports.get(name)?.includes(name)) cycles.push(group.toSorted());
    }
    return low;
  }

  for (const name of imports.keys()) if (!indexOf.has(name)) visit(name);
  return cycles;
}

describe('the source', () => {
  test('was really read', () => {
    const known = new Set(files.map(({ name }) => name));
    const own = files.flatMap(({ imports }) => imports.filter(({ to }) => to.startsWith('src/')));
    expect(known.size).toBeGreaterThan(300);
    expect(own.length).toBeGreaterThan(1_000);
    expect(own.some(({ typeOnly }) => typeOnly)).toBe(true);
    // An import that leads nowhere would hide a cycle.
    expect(own.filter(({ to }) => /\.tsx?$/.test(to) && !known.has(to))).toEqual([]);
  });

  test('has no cycle of files', () => expect(cyclesIn(files)).toEqual([]));
});

describe('a planted cycle is found:', () => {
  test.each([
    ['of two types', ['a', "import type { B } from './b.ts';"], ['b', "import type { A } from './a.ts';"]],
    [
      'of three files',
      ['a', "import { b } from './b.ts';"],
      ['b', "export { c } from './c.ts';"],
      ['c', "import type { A } from './a.ts';"],
    ],
    ['of a file with itself', ['a', "import type { A } from './a.ts';"]],
  ])('%s', (_, ...planted) => {
    const sources = planted.map(([name, code]) => parse(`src/${name}.ts`, code ?? ''));
    expect(cyclesIn(sources)).toEqual([sources.map(({ name }) => name)]);
  });

  test('while two ways to the same file are none', () => {
    const sources = [
      parse('src/a.ts', "import { b } from './b.ts';\nimport { c } from './c.ts';"),
      parse('src/b.ts', "import { c } from './c.ts';"),
      parse('src/c.ts', "import { z } from 'zod';"),
    ];
    expect(cyclesIn(sources)).toEqual([]);
  });
});
