/** Pages name files that are there, and the one for newcomers follows a turn through few enough of them to read. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');
const page = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
const filesIn = (text: string) => [...new Set(text.match(/(?<=`)(?:src|test)\/[\w./-]+(?=`)/g))];

test('every file that a page names is there', () => {
  const pages = globSync(['README.md', 'docs/**/*.md'], { cwd: root });
  const named = pages.flatMap((name) => filesIn(readFileSync(path.join(root, name), 'utf8')));
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
});

test('every folder of the source is on the map', () => {
  const named = new Set([...page.matchAll(/`([a-z0-9-]+)\/`/g)].map(([, folder]) => folder));
  const folders = readdirSync(path.join(root, 'src'));
  expect(folders.length).toBeGreaterThan(20);
  expect(folders.filter((folder) => !named.has(folder))).toEqual([]);
});

test('a turn is followed through 40 files at most', () => {
  const [, story = ''] = /## One turn, file by file\n(.*?)\n## /s.exec(page) ?? [];
  expect(filesIn(story).length).toBeGreaterThan(20);
  expect(filesIn(story).length).toBeLessThanOrEqual(40);
});
