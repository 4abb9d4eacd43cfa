/**
 * Builds the package people install, complete, into a folder of its own: `node scripts/build.mjs [folder]`. Its
 * dependencies are what its files import, not what the service needs.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bundle, licensesName } from '../src/api/http/bundle.ts';

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
const folder = path.resolve(process.argv[2] ?? dist);
const service = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

// Only what is ours to remove.
if (folder === dist) rmSync(dist, { recursive: true, force: true });
for (const project of ['tsconfig.build.json', 'tsconfig.build-testing.json', 'tsconfig.build-program.json']) {
  const { status } = spawnSync('tsc', ['-p', path.join(root, project), '--outDir', folder], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(1);
}

/** @type {Set<string>} */
const packages = new Set();
for (const name of globSync('**/*.{js,d.ts}', { cwd: folder })) {
  const file = path.join(folder, name);
  const code = readFileSync(file, 'utf8');
  for (const [, specifier = ''] of code.matchAll(/\b(?:from|import)\s*\(?\s*["']([\w@][\w@./:-]*)["']/g))
    if (!specifier.startsWith('node:')) packages.add(nameOf(specifier));
  // The compiler rewrites the addresses in code, and leaves those in declarations to compilers that know how.
  if (name.endsWith('.d.ts')) writeFileSync(file, code.replaceAll(/(["']\.[^"']*)\.ts(["'])/g, '$1.js$2'));
}

// Self-contained, so that it brings no dependencies; it stands where the types of its element do.
const script = 'widget/interlude-chat.js';
const { code: widget, licenses } = await bundle('widget.js');
writeFileSync(path.join(folder, script), widget);
writeFileSync(path.join(folder, 'widget', licensesName('widget.js')), licenses);

/**
 * What its user chooses: the React of the page, the zod that an author's schemas are made with, a bundler for `tools
 * check`, and vitest for its matchers, which are not for everybody.
 * @type {Record<string, { range: string, optional: boolean }>}
 */
const peers = {
  react: { range: '>=18', optional: true },
  rolldown: { range: rangeOf('rolldown'), optional: true },
  vitest: { range: '>=5', optional: true },
  zod: { range: '^4.0.0', optional: false },
};
const { name, version, license, type, exports } = service;
const manifest = {
  name,
  version,
  description:
    'Client, terminal client, chat widget, contract, AI SDK provider and tools that ask, of Interlude: agent turns that can stop, ask a person, and go on',
  license,
  type,
  bin: { interlude: 'cli/package.js' },
  // Importing the script is what defines the element.
  sideEffects: [`./${script}`],
  exports: JSON.parse(JSON.stringify(exports).replaceAll('"./dist/', '"./')),
  dependencies: Object.fromEntries(
    [...packages]
      .filter((one) => !(one in peers))
      .toSorted(byName)
      .map((one) => [one, rangeOf(one)]),
  ),
  peerDependencies: Object.fromEntries(Object.entries(peers).map(([one, { range }]) => [one, range])),
  peerDependenciesMeta: Object.fromEntries(
    Object.entries(peers).flatMap(([one, { optional }]) => (optional ? [[one, { optional }]] : [])),
  ),
  engines: { node: '>=22' },
};
writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
copyFileSync(path.join(root, 'docs/client.md'), path.join(folder, 'README.md'));
for (const page of ['ai-sdk.md', 'tools.md', 'widget.md'])
  copyFileSync(path.join(root, 'docs', page), path.join(folder, page));

/** @param {string} one @param {string} other */
function byName(one, other) {
  return one.localeCompare(other);
}

/** @param {string} specifier */
function nameOf(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** The service pins; whoever installs the package may already have a newer one. @param {string} one */
function rangeOf(one) {
  const pinned = service.dependencies[one];
  if (pinned === undefined)
    throw new Error(`The package imports ${one}, which is not among the dependencies.`);
  return `^${pinned}`;
}
