import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openWorkflowBundle } from '../../src/processes/workflow-bundle.ts';

/** Inside the checkout: that is where bundled packages are found. */
const folder = path.resolve(import.meta.dirname, `../../build/test-${randomUUID()}`);
const entry = path.join(folder, 'index.ts');
const file = path.join(folder, 'kept.js');
const open = () => openWorkflowBundle({ entry, file });

beforeAll(() => mkdir(folder, { recursive: true }));
beforeEach(async () => {
  await writeFile(entry, "export { told } from './near.ts';\n");
  await writeFile(path.join(folder, 'near.ts'), "export const told = async () => 'one';\n");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const keptAt = async () => (await stat(file)).mtimeMs;

test('it is made once, and the same again afterwards', async () => {
  const first = await open();
  const at = await keptAt();
  const second = await open();
  expect(second.buildId).toBe(first.buildId);
  expect(second.code === first.code).toBe(true);
  expect(await keptAt()).toBe(at);
  expect(first.buildId).toMatch(/^\d+\.\d+\.\d+-[0-9a-f]{12}$/);
  expect(first.code.startsWith('//')).toBe(false);
});

test('a change of anything it was made from makes it anew, under another build id', async () => {
  const before = await open();
  await writeFile(path.join(folder, 'near.ts'), "export const told = async () => 'two';\n");
  const changed = await open();
  expect(changed.code.includes("'two'")).toBe(true);
  expect(changed.buildId).not.toBe(before.buildId);

  await writeFile(path.join(folder, 'near.ts'), "export const told = async () => 'one';\n");
  expect((await open()).buildId).toBe(before.buildId);
});

test('one that was tampered with, cut short, or made with other packages is not used', async () => {
  const { code, buildId } = await open();
  await appendFile(file, '\n// more');
  expect((await open()).code === code).toBe(true);
  await writeFile(file, (await readFile(file, 'utf8')).slice(0, 50_000));
  expect((await open()).code === code).toBe(true);
  const lockfile = /"package-lock\.json":"\w{64}"/;
  const kept = await readFile(file, 'utf8');
  expect(lockfile.test(kept)).toBe(true);
  await writeFile(
    file,
    kept.replace(lockfile, `"package-lock.json":"${'0'.repeat(64)}"`).replace("'one'", "'other'"),
  );
  const again = await open();
  expect(again.buildId).toBe(buildId);
  expect(again.code === code).toBe(true);
});
