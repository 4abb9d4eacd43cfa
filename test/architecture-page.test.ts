/** The page for newcomers names files that are there, and follows a turn through few enough of them to read. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '..');
const page = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
const filesIn = (text: string) => [...new Set(text.match(/(?<=`)(?:src|test)\/[\w./-]+(?=`)/g))];

test('every file that the page names is there', () => {
  expect(filesIn(page).length).toBeGreaterThan(20);
  expect(filesIn(page).filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
});

test('every folder of the source is on the map', () => {
  const named = new Set([...page.matchAll(/`([a-z-]+)\/`/g)].map(([, folder]) => folder));
  const folders = readdirSync(path.join(root, 'src'));
  expect(folders.length).toBeGreaterThan(20);
  expect(folders.filter((folder) => !named.has(folder))).toEqual([]);
});

test('a turn is followed through 40 files at most', () => {
  const [, story = ''] = /## One turn, file by file\n(.*?)\n## /s.exec(page) ?? [];
  expect(filesIn(story).length).toBeGreaterThan(20);
  expect(filesIn(story).length).toBeLessThanOrEqual(40);
});
