import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadOrCreateKeys } from '../../../src/credentials/sealing/key-file.ts';

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'interlude-keys-'));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

test('the generated key survives a restart and only its owner may read it', async () => {
  const dataDir = path.join(await folder(), 'not', 'there', 'yet');
  const sealed = (await loadOrCreateKeys(dataDir)).seal('token', 'row');
  expect((await loadOrCreateKeys(dataDir)).open(sealed, 'row')).toBe('token');
  expect((await stat(path.join(dataDir, 'keys'))).mode & 0o777).toBe(0o600);
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
});

test('many that start at once end up with one key and leave nothing behind', async () => {
  const dataDir = await folder();
  const rings = await Promise.all(Array.from({ length: 20 }, () => loadOrCreateKeys(dataDir)));
  const sealed = rings[0]?.seal('token', 'row') ?? '';
  expect(rings.map((ring) => ring.open(sealed, 'row'))).toEqual(rings.map(() => 'token'));
  expect(await readdir(dataDir)).toEqual(['keys']);
});

test('a damaged key file is reported, never replaced', async () => {
  const dataDir = await folder();
  await writeFile(path.join(dataDir, 'keys'), 'local:AAAA\n');
  await expect(loadOrCreateKeys(dataDir)).rejects.toThrow(
    /keys is damaged \(key 1 \("local"\): 3 bytes instead of 32/,
  );
  expect((await stat(path.join(dataDir, 'keys'))).size).toBe(11);
});
