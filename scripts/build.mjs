/**
 * Builds the package people install, complete, into a folder of its own: `node scripts/build.mjs [folder]`. Its
 * dependencies are what its files import, not what the service needs.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
const folder = path.resolve(process.argv[2] ?? dist);
const service = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

// Only what is ours to remove.
if (folder === dist) rmSync(dist, { recursive: true, force: true });
const { status } = spawnSync('tsc', ['-p', path.join(root, 'tsconfig.build.json'), '--outDir', folder], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
if (status !== 0) process.exit(1);

/** @type {Set<string>} */
const packages = new Set();
for (const name of globSync('**/*.{js,d.ts}', { cwd: folder })) {
  const file = path.join(folder, name);
  const code = readFileSync(file, 'utf8');
  for (const [, specifier = ''] of code.matchAll(/\b(?:from|import)\s*\(?\s*["']([^"'.][^"']*)["']/g))
    packages.add(nameOf(specifier));
  // The compiler rewrites the addresses in code, and leaves those in declarations to compilers that know how.
  if (name.endsWith('.d.ts')) writeFileSync(file, code.replaceAll(/(["']\.[^"']*)\.ts(["'])/g, '$1.js$2'));
}

const { name, version, license, type, exports } = service;
const manifest = {
  name,
  version,
  description:
    'Client, contract and AI SDK provider of Interlude: agent turns that can stop, ask a person, and go on',
  license,
  type,
  sideEffects: false,
  exports: JSON.parse(JSON.stringify(exports).replaceAll('"./dist/', '"./')),
  dependencies: Object.fromEntries([...packages].toSorted(byName).map((one) => [one, rangeOf(one)])),
  engines: { node: '>=22' },
};
writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync(path.join(root, 'LICENSE'), path.join(folder, 'LICENSE'));
copyFileSync(path.join(root, 'docs/client.md'), path.join(folder, 'README.md'));
if (existsSync(path.join(root, 'docs/ai-sdk.md')))
  copyFileSync(path.join(root, 'docs/ai-sdk.md'), path.join(folder, 'ai-sdk.md'));

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
