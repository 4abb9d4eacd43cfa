/** Before every test file: it gets a folder for temporary files, and fails if it leaves something in it. */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect } from 'vitest';

const runFolder = tmpdir();
const folder = mkdtempSync(path.join(runFolder, 'file-'));
// Some tests run programs as another user.
chmodSync(folder, 0o755);
process.env['TMPDIR'] = folder;

// What is registered first is called last: after the file's own hooks.
afterAll(() => {
  const left = readdirSync(folder);
  process.env['TMPDIR'] = runFolder;
  rmSync(folder, { recursive: true, force: true });
  expect(left, 'the test file leaves temporary files').toEqual([]);
});
