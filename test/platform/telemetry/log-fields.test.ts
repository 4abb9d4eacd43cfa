/** The page about logs names every field, also of lines that are rare. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import type { Expression } from 'oxc-parser';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');
const docs = readFileSync(path.join(root, 'docs/logs.md'), 'utf8');

const isLogger = (callee: Expression): boolean => {
  if (callee.type !== 'MemberExpression') return false;
  const { object, property, computed } = callee;
  const isLevel =
    computed ||
    (property.type === 'Identifier' && /^(debug|info|warn|error|fatal|child)$/.test(property.name));
  const name =
    object.type === 'Identifier'
      ? object.name
      : object.type === 'MemberExpression' && object.property.type === 'Identifier'
        ? object.property.name
        : '';
  return isLevel && /^(logger|log)$/.test(name);
};

test('every field of a line is on the page about logs', () => {
  const fields = new Map<string, string>();
  for (const file of globSync('src/**/*.ts', { cwd: root })) {
    if (file.startsWith('src/cli/')) continue;
    const { program } = parseSync(file, readFileSync(path.join(root, file), 'utf8'));
    new Visitor({
      CallExpression({ callee, arguments: [about] }) {
        if (!isLogger(callee as Expression) || about?.type !== 'ObjectExpression') return;
        for (const property of about.properties)
          if (property.type === 'Property' && property.key.type === 'Identifier')
            fields.set(property.key.name, file);
      },
    }).visit(program);
  }
  expect(fields.size).toBeGreaterThan(40);
  expect([...fields].filter(([field]) => !docs.includes(`| \`${field}\``))).toEqual([]);
});
