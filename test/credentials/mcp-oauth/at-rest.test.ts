import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { alice, setUpOAuthStore } from '../oauth-store.ts';
import { startGuardedServer } from '../guarded-server.ts';

const bob = { ...alice, user: 'bob' };

test('no token, verifier or client secret is in the database in the clear', async () => {
  const { config, authorization } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  const { url } = await setup.store.begin({
    server: config,
    key: alice,
    elicitationId: 'q1',
    sessionHash: 's',
  });
  await setup.connect(config);
  const credential = await setup.store.resolve(config, alice);
  if (credential.kind !== 'credential') throw new Error('not connected');
  const token = credential.headers['authorization']?.slice('Bearer '.length) ?? '';
  expect(token.length).toBeGreaterThan(20);
  const names = (await readdir(setup.folder)).filter((name) => name.startsWith('test.db'));
  const files = await Promise.all(names.map((name) => readFile(path.join(setup.folder, name), 'latin1')));
  const database = files.join('');
  expect(database).toContain('alice');
  expect(database).not.toContain(token);
  expect(database).not.toContain(new URL(url).searchParams.get('state'));
  expect(database).not.toMatch(/codeVerifier|client_secret|refreshToken/);
  expect(authorization.registrations).toHaveLength(1);
});

test('accounts stay readable while keys are rotated, and a lost key is an outage, not a question', async () => {
  const { config } = await startGuardedServer();
  const old = generateKey('old');
  const setup = await setUpOAuthStore({ keys: parseKeys(old) });
  await setup.connect(config);
  const rotated = setup.another({ keys: parseKeys(`${generateKey('new')},${old}`) });
  expect(await rotated.resolve(config, alice)).toMatchObject({ kind: 'credential' });
  const lost = setup.another({ keys: parseKeys(generateKey('new')) });
  await expect(lost.resolve(config, alice)).rejects.toMatchObject({
    name: 'CredentialStoreError',
    message: expect.stringContaining('the stored account cannot be opened (sealed with the key "old"'),
  });
  expect(await setup.storage.connections.get(alice)).toMatchObject({ status: 'active' });
});

test("a sealed account that is copied into another user's row does not open", async () => {
  const { config } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  await setup.connect(config);
  const row = await setup.storage.connections.get(alice);
  if (!row) throw new Error('not connected');
  await setup.storage.connections.establish(bob, row);
  await expect(setup.store.resolve(config, bob)).rejects.toMatchObject({ name: 'CredentialStoreError' });
});
