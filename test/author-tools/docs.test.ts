import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const examples = ['delete-page', 'welcome', 'digest', 'pay'];

test.each(examples)('docs/tools.md shows the example %s as it is', (name) => {
  expect(read('docs/tools.md')).toContain(`\`\`\`ts\n${read(`examples/tools/${name}.ts`)}\`\`\``);
});
