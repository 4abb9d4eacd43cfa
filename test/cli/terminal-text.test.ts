import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { forTerminal, toJsonText, withoutStyles } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { tricky } from '../servers/noisy-server.ts';

const rewritesTheScreen = /(?![\n\t])\p{Cc}|[\u202A-\u202E\u2066-\u2069]/u;

test('words of others lose what rewrites the screen, and the program keeps its own styles', () => {
  const styled = `\u001B[1m\u001B[36mlink\u001B[39m\u001B[22m ${tricky}\n`;
  const own = '\u001B[1m\u001B[36mlink\u001B[39m\u001B[22m ';
  expect(forTerminal(styled).startsWith(own)).toBe(true);
  expect(forTerminal(styled).slice(own.length).replaceAll('\u001B[31m', '')).not.toMatch(rewritesTheScreen);
  expect(forTerminal('\u001B[8mhidden\u001B[38;5;0m \u001B[0m')).toBe('[8mhidden[38;5;0m [0m');
  expect(withoutStyles(styled)).not.toMatch(rewritesTheScreen);
});

test('JSON is the same value, and harmless on a terminal', () => {
  const value = { [tricky]: [tricky, '\u0085\u2066é好'] };
  const text = toJsonText(value, 2);
  expect(text).not.toMatch(rewritesTheScreen);
  expect(JSON.parse(text)).toEqual(value);
});

test('what libraries write on the console is harmless, too', () => {
  const program = JSON.stringify(
    path.resolve(import.meta.dirname, '../../packages/kit/src/terminal/run-program.ts'),
  );
  const code = `import { runProgram } from ${program};
    await runProgram({ name: 'program', description: '', commands: [] }, ['--help']);
    console.warn('it says %s', ${JSON.stringify(tricky)});`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  expect(stderr).toContain('it says [2J');
  expect(stderr.replaceAll('\u001B[31m', '')).not.toMatch(rewritesTheScreen);
});

test('no command writes to a terminal in another way', () => {
  const root = path.resolve(import.meta.dirname, '../..');
  const files = globSync(['src/cli/**/*.ts', 'packages/{kit,program}/src/**/*.ts'], { cwd: root });
  expect(files.length).toBeGreaterThan(60);
  const writes = files.filter((file) =>
    /process\.std(?:out|err)\.write\(|console\./.test(readFileSync(path.join(root, file), 'utf8')),
  );
  // An old Node, which cannot load more, is refused in the package's own file.
  expect(writes.toSorted()).toEqual([
    'packages/kit/src/terminal/terminal-text.ts',
    'packages/program/src/index.ts',
  ]);
});
