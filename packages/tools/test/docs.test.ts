import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const examples = [
  'tools/tools/list-teams',
  'tools/tools/delete-page',
  'tools/tools/welcome',
  'tools/tools/digest',
  'tools/tools/grant-access',
  'tools/tools/pay',
  'tools/page/report-done',
];

test.each(examples)('docs/tools.md shows the example %s as it is', (name) => {
  expect(read('docs/tools.md')).toContain(`\`\`\`ts\n${read(`examples/${name}.ts`)}\`\`\``);
});

test('the README shows the tool of the first example, without what it imports', () => {
  const example = read('examples/tools/tools/delete-page.ts');
  expect(read('README.md')).toContain(`\`\`\`ts\n${example.slice(example.indexOf('export const'))}\`\`\``);
});

test('every example in TypeScript of docs/tools.md is one of these files', () => {
  expect(read('docs/tools.md').match(/^```ts$/gm)).toHaveLength(examples.length);
});
