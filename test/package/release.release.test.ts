/** `npm run release -- --dry-run`: what would be published, and that nothing of the checkout changes. */
import { execFile } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { withTools } from './installed.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');
const copy = path.join(root, 'build/release');

const release = (...words: string[]) =>
  run(process.execPath, ['scripts/release.mjs', ...words], { cwd: root, env: withTools() });
const changed = () => run('git', ['status', '--porcelain'], { cwd: root }).then(({ stdout }) => stdout);
const read = (...place: string[]) => readFileSync(path.join(copy, ...place), 'utf8');

test('a dry run builds a release in a copy, with its version everywhere, and says what was not tested', async () => {
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  const before = await changed();
  const { stdout } = await release('77.0.0-beta.1', '--dry-run');
  expect(await changed()).toBe(before);
  expect(stdout).toContain('Not tested: .github/workflows/release.yml');

  const manifests = globSync(['package.json', 'packages/*/package.json', 'dist/*/package.json'], {
    cwd: copy,
  });
  expect(manifests.length).toBeGreaterThan(12);
  const released = manifests.map((file) => JSON.parse(read(file)) as { name: string; version: string });
  expect(new Set(released.map(({ version }) => version))).toEqual(new Set(['77.0.0-beta.1']));
  const published = manifests.filter((file) => file.startsWith('dist')).map((file) => JSON.parse(read(file)));
  expect(
    stdout
      .match(/^ {2}\S+@77\.0\.0-beta\.1 /gm)
      ?.map((line) => line.trim())
      .toSorted(),
  ).toEqual(published.map(({ name }: { name: string }) => `${name}@77.0.0-beta.1`).toSorted());
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { version: string; dependencies: Record<string, string> }>;
  };
  expect(packages['packages/kit']).toMatchObject({
    version: '77.0.0-beta.1',
    dependencies: { '@interlude-ai/client': '77.0.0-beta.1' },
  });
  expect(parse(read('deploy/helm/interlude/Chart.yaml'))).toMatchObject({
    version: '77.0.0-beta.1',
    appVersion: '77.0.0-beta.1',
  });
  expect(read('CHANGELOG.md')).toMatch(/^## \[Unreleased\]\n\n## \[77\.0\.0-beta\.1\] - \d{4}-\d\d-\d\d$/m);
  // What clients send and what pages load was built from the copy.
  for (const file of ['client/core/contract/version.js', 'widget/widget/interlude-chat.js'])
    expect(read('dist', file)).toContain('77.0.0-beta.1');
});

test('what is no version is refused before anything is built', async () => {
  await expect(release('latest', '--dry-run')).rejects.toMatchObject({
    stderr: expect.stringContaining('“latest” is no version: give patch, minor, major, or one like 0.3.0.'),
  });
});
