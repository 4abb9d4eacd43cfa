/** Before every test file: it gets a folder for temporary files, and what it leaves there is named and removed. */
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
  process.env['TMPDIR'] = runFolder;
  const left = readdirSync(folder);
  rmSync(folder, { recursive: true, force: true });
  const { testPath = '' } = expect.getState();
  if (left.length > 0) process.stderr.write(`${testPath} leaves temporary files: ${left.join(', ')}\n`);
});
