/** Every regular expression of the product is one that no text can keep busy for long. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Visitor, parseSync } from 'oxc-parser';
import { checkSync } from 'recheck';
import { expect, test } from 'vitest';

/** Those that see nothing but what the process's own operator or user typed, and need not be quick. */
const ownText = [
  'src/ai-sdk/call-error.ts',
  'src/cli/chat/read-answer.ts',
  'src/client/send.ts',
  'src/credentials/sealing/key-file.ts',
  'src/config/environment-schema.ts',
  'src/config/variable-kinds.ts',
  'src/config/agents-file/read-agents-file.ts',
];
/** Our own style sheet. */
const ourText = ['src/widget/style.ts'];

const root = path.resolve(import.meta.dirname, '..');

function patternsOf(name: string, code: string): { pattern: string; flags: string }[] {
  const found: { pattern: string; flags: string }[] = [];
  new Visitor({
    Literal: (literal) => void ('regex' in literal && found.push(literal.regex)),
  }).visit(parseSync(name, code).program);
  return found;
}

const slow = ({ pattern, flags }: { pattern: string; flags: string }) =>
  checkSync(pattern, flags, { timeout: 20_000 }).status !== 'safe';

test('no text that a stranger writes makes a pattern slow', { timeout: 120_000 }, () => {
  const files = globSync('src/**/*.{ts,tsx}', { cwd: root });
  const read = files.flatMap((name) =>
    patternsOf(name, readFileSync(path.join(root, name), 'utf8')).map((regex) => ({ name, ...regex })),
  );
  expect(read.length).toBeGreaterThan(100);

  const found = read.filter(slow).map(({ name, pattern, flags }) => `${name}: /${pattern}/${flags}`);
  expect(found.filter((line) => ![...ownText, ...ourText].some((name) => line.startsWith(name)))).toEqual([]);
});

test('a slow pattern is found', () => {
  const [planted] = patternsOf('planted.ts', 'export const planted = /^(?:a|a)+$/;');
  expect(planted && slow(planted)).toBe(true);
});
