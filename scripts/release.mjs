/**
 * Prepares a release: `npm run release -- patch|minor|major|<version> [--dry-run]`. Sets the version everywhere, dates the
 * changelog, builds and packs what is published, commits and tags. Pushing the tag has .github/workflows/release.yml publish
 * it. With `--dry-run` all of this happens in a copy below `build/`. Without a version: the one that is set, as it stands.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

const checkout = path.resolve(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const isDryRun = values['dry-run'];
const root = isDryRun ? copyCheckout() : checkout;

/** @typedef {Record<string, Record<string, string>>} Dependencies */

const before = readJson('package.json').version;
const version = nextVersion(before, positionals[0]);
if (!isDryRun) requireCleanCheckout();

setVersion();
dateChangelog();
run('npm', 'run', 'build', '--ignore-scripts');
const packages = globSync('dist/*/package.json', { cwd: root }).map((file) => pack(path.dirname(file)));
const chart = isThere('helm')
  ? run('helm', 'package', 'deploy/helm/interlude', '--destination', 'dist') &&
    `dist/interlude-${version}.tgz`
  : undefined;

console.log(
  [
    '',
    `Release ${version} (before: ${before})`,
    '',
    'npm packages, public, with provenance:',
    ...packages.map(({ name, size, files }) => `  ${name}@${version}  ${kilobytes(size)}, ${files} files`),
    'image:',
    `  ghcr.io/<owner>/interlude:${[version, ...(version.includes('-') ? [] : [version.split('.', 2).join('.'), 'latest'])].join(', :')}`,
    'chart:',
    `  oci://ghcr.io/<owner>/charts/interlude:${version}${chart === undefined ? ' (not packaged here: helm is not installed)' : `, from ${chart}`}`,
    'changelog:',
    ...changesOf(version).map((line) => `  ${line}`),
    '',
  ].join('\n'),
);

if (isDryRun) {
  console.log(
    `Nothing was changed, published or pushed; the files are in ${path.relative(checkout, root)}/dist.
Not tested: .github/workflows/release.yml (the image, publishing, provenance), which only runs on GitHub.`,
  );
} else {
  run('git', 'commit', '--quiet', '--all', '--message', `build(release): ${version}`);
  run('git', 'tag', '--annotate', `v${version}`, '--message', `Interlude ${version}`);
  console.log(`Committed and tagged. This publishes it: git push origin HEAD v${version}`);
}

/** The tracked files, with links to their own packages and to those that are installed in the checkout. */
function copyCheckout() {
  const copy = path.join(checkout, 'build/release');
  rmSync(copy, { recursive: true, force: true });
  const files = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: checkout,
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  if (files.status !== 0) throw new Error(`git cannot list the files: ${files.stderr}`);
  for (const file of files.stdout.split('\0').filter(Boolean)) {
    if (file.startsWith('test/')) continue;
    cpSync(path.join(checkout, file), path.join(copy, file), { force: true });
  }
  const own = new Map(workspaces(copy).map(({ name, folder }) => [name, path.join(copy, folder)]));
  const installed = globSync(['*', '.bin', '@*/*'], { cwd: path.join(checkout, 'node_modules') });
  for (const name of new Set([...installed.filter((one) => !/^@[^/]+$/.test(one)), ...own.keys()])) {
    const link = path.join(copy, 'node_modules', name);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(own.get(name) ?? path.join(checkout, 'node_modules', name), link, 'junction');
  }
  return copy;
}

/** @param {string} [from] */
function workspaces(from = root) {
  return globSync('packages/*/package.json', { cwd: from }).map((file) => ({
    name: /** @type {string} */ (JSON.parse(readFileSync(path.join(from, file), 'utf8')).name),
    folder: path.dirname(file),
  }));
}

/** @param {string} current @param {string | undefined} wanted */
function nextVersion(current, wanted = current) {
  if (/^\d+\.\d+\.\d+(?:-[\w.-]+)?$/.test(wanted)) return wanted;
  const at = ['major', 'minor', 'patch'].indexOf(wanted);
  if (at < 0) throw new Error(`“${wanted}” is no version: give patch, minor, major, or one like 0.3.0.`);
  const parts = current.split('-', 1)[0]?.split('.').map(Number) ?? [];
  return parts.map((part, index) => (index < at ? part : index === at ? part + 1 : 0)).join('.');
}

function requireCleanCheckout() {
  const { stdout } = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (stdout !== '') throw new Error(`Commit or remove these changes first:\n${stdout}`);
}

function setVersion() {
  const names = new Set(workspaces().map(({ name }) => name));
  const places = ['', ...workspaces().map(({ folder }) => folder)];
  /** @param {Dependencies & { version: string }} manifest */
  const raise = (manifest) => {
    manifest.version = version;
    for (const kind of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'])
      for (const name of Object.keys(manifest[kind] ?? {}))
        if (names.has(name) && manifest[kind]) manifest[kind][name] = version;
  };
  for (const place of places) edit(path.join(place, 'package.json'), raise);
  edit('package-lock.json', (lock) => {
    lock.version = version;
    for (const place of places) raise(lock.packages[place]);
  });
  replace('packages/core/src/contract/version.ts', /(export const version = ')[^']*/, `$1${version}`);
  replace('deploy/helm/interlude/Chart.yaml', /^(version|appVersion): .*$/gm, `$1: ${version}`);
}

/** What is under `Unreleased` is from now on under the version, unless that has its entry. */
function dateChangelog() {
  const file = 'CHANGELOG.md';
  const text = readFileSync(path.join(root, file), 'utf8');
  if (text.includes(`## [${version}]`)) return;
  const today = new Date().toISOString().slice(0, 10);
  replace(file, /^## \[Unreleased\]$/m, `## [Unreleased]\n\n## [${version}] - ${today}`);
}

/** @param {string} release */
function changesOf(release) {
  const [, after = ''] = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8').split(`## [${release}]`);
  const [entry = ''] = after.split(/^## \[/m);
  return [`${release}${entry.trimEnd()}`].flatMap((text) => text.split('\n').filter(Boolean).slice(0, 8));
}

/** @param {string} folder */
function pack(folder) {
  const { stdout, stderr } = spawnSync(
    'npm',
    ['pack', `./${folder}`, '--pack-destination', 'dist', '--ignore-scripts', '--json'],
    { cwd: root, encoding: 'utf8', shell: process.platform === 'win32' },
  );
  if (!stdout) throw new Error(`npm could not pack ${folder}: ${stderr}`);
  const [packed] = JSON.parse(stdout);
  if (packed.version !== version) throw new Error(`${packed.name} has the version ${packed.version}.`);
  return /** @type {{ name: string, size: number, files: number }} */ ({
    ...packed,
    files: packed.files.length,
  });
}

/** @param {string} command */
function isThere(command) {
  return spawnSync(command, ['version'], { stdio: 'ignore' }).status === 0;
}

/** @param {string} command @param {...string} args */
function run(command, ...args) {
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.`);
  return true;
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(path.join(root, file), 'utf8'));
}

/** @param {string} file @param {(content: any) => void} change */
function edit(file, change) {
  const content = readJson(file);
  change(content);
  writeFileSync(path.join(root, file), `${JSON.stringify(content, null, 2)}\n`);
}

/** @param {string} file @param {RegExp} pattern @param {string} by */
function replace(file, pattern, by) {
  const text = readFileSync(path.join(root, file), 'utf8');
  if (text.search(pattern) < 0) throw new Error(`${file} has nothing like ${pattern}.`);
  writeFileSync(path.join(root, file), text.replace(pattern, by));
}

/** @param {number} bytes */
function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(0)} kB`;
}
