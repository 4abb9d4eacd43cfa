/** Keys of services by the command line, as operators use it, in a checkout or in the image. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findApiKey } from '../../src/service/api-keys.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { bareEnvironment } from '../bare-environment.ts';

let folder: string;
let storage: Storage;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-api-key-'));
  storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'interlude.db') });
});
afterAll(async () => {
  await storage.close();
  await rm(folder, { recursive: true });
});

async function apiKey(...args: string[]): Promise<{ code: number; output: string; errors: string }> {
  const root = path.resolve(import.meta.dirname, '../..');
  const env = { ...bareEnvironment(), INTERLUDE_DATA: folder };
  const child = spawn(process.execPath, ['src/cli/checkout.ts', 'api-keys', ...args], { cwd: root, env });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = await once(child, 'close');
  return { code: Number(code), output, errors };
}

test('a key is made, seen with its maker and last use, and refused by a running process once it is revoked', async () => {
  const made = await apiKey('--tenant', 'acme', '--service', 'billing', '--by', 'carol');
  expect(made).toMatchObject({ code: 0, output: expect.stringMatching(/^ilk_\w{16}_\S{43}\n$/) });
  const key = made.output.trim();
  const id = key.split('_')[1] ?? '';
  const listed = () => apiKey('list', '--tenant', 'acme').then(({ output }) => output);
  expect(await listed()).toMatch(
    new RegExp(`^${id}  acme  service billing  made .* by carol  not used  valid\n$`),
  );
  expect(await findApiKey(storage.apiKeys, key)).toMatchObject({ tenant: 'acme', id });
  expect(await listed()).toMatch(/ {2}used 20\S+ \S+ {2}valid/);

  expect(await apiKey('revoke', key)).toMatchObject({
    code: 0,
    output: `The key ${id} is refused from now on.\n`,
  });
  await expect(findApiKey(storage.apiKeys, key)).rejects.toThrow('was revoked');
  const after = await listed();
  expect(after).toContain('revoked 20');
  expect(after).not.toContain(key.slice(-43));
});

test('what cannot be done is said with what can', async () => {
  expect(await apiKey('revoke', 'nothing')).toMatchObject({
    code: 1,
    errors: expect.stringContaining('There is no key nothing'),
  });
  expect(await apiKey()).toMatchObject({
    code: 2,
    errors: expect.stringContaining("required option '--tenant <tenant>' not specified"),
  });
});
