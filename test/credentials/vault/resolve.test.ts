/** What a call gets, and what is asked when a server refuses a key. */
import { expect, test } from 'vitest';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import type { Credential } from '../../../src/credentials/credential-store.ts';
import { sealAccount } from '../../../src/credentials/mcp-oauth/account.ts';
import { alice, bob, createVault, goodKey, headersOf, vaultServer } from './vault-store.ts';

const unchecked = { vault: { header: 'authorization', check: false } };
const server = vaultServer('https://tracker.example.com/mcp', unchecked);
const missing = { kind: 'connection-required', reason: 'missing' };

async function connected(options: Parameters<typeof createVault>[0] = {}) {
  const vault = await createVault(options);
  await vault.store.keep(server, alice, goodKey);
  const current = async () => {
    const found = await vault.store.resolve(server, alice);
    if (found.kind !== 'credential') throw new Error(`asks to connect: ${found.reason}`);
    return found;
  };
  const refuse = (
    { version, tokenId }: Credential,
    status: 401 | 403 = 401,
    challenge: string | null = null,
  ) => vault.store.reject(server, alice, { version, tokenId, status, challenge });
  return { ...vault, current, refuse, row: () => vault.storage.connections.get(alice) };
}

test('who has given no key is asked, and after a disconnect asked anew', async () => {
  const { store, row } = await connected();
  expect(await store.resolve(server, bob)).toEqual({ ...missing, seenVersion: 0 });
  expect(await store.disconnect(alice, server)).toEqual({
    kind: 'removed',
    revocation: { kind: 'not-offered' },
  });
  expect(await row()).toBeNull();
  expect(await store.resolve(server, alice)).toEqual({ ...missing, seenVersion: 1 });
  expect(await store.disconnect(alice, server)).toEqual({ kind: 'nothing-there' });
});

test('a server that needs no account gets none', async () => {
  const { store } = await createVault();
  const open = { ...server, credentialScope: 'none' as const };
  expect(headersOf(await store.resolve(open, alice))).toEqual({});
});

test('a refused key is broken: one question, which says so, until there is another', async () => {
  const { store, current, refuse, row } = await connected();
  const first = await current();
  const asked = { kind: 'connection-required', reason: 'rejected', seenVersion: 1 };
  expect(await refuse(first)).toEqual(asked);
  expect(await row()).toMatchObject({ status: 'broken', brokenReason: 'rejected' });
  expect(await refuse(first)).toEqual(asked);
  expect(await store.resolve(server, alice)).toEqual(asked);
  await store.keep(server, alice, 'another');
  expect(await current()).toMatchObject({ version: 2, headers: { authorization: 'Bearer another' } });
});

test('a refusal of a key that was replaced meanwhile answers with its replacement and breaks nothing', async () => {
  const { store, current, refuse, row } = await connected();
  const first = await current();
  await store.keep(server, alice, 'another');
  const second = await refuse(first);
  expect(second).toMatchObject({ version: 2, headers: { authorization: 'Bearer another' } });
  expect(second).not.toMatchObject({ tokenId: first.tokenId });
  expect(await row()).toMatchObject({ status: 'active' });
});

test('a refusal after the key was disconnected asks as for the first time', async () => {
  const { store, current, refuse } = await connected();
  const first = await current();
  await store.disconnect(alice, server);
  expect(await refuse(first)).toEqual({ ...missing, seenVersion: 1 });
});

test.each([
  [null, 'rejected', undefined],
  ['ApiKey realm="tracker"', 'rejected', undefined],
  ['Bearer error="invalid_token"', 'rejected', undefined],
  ['Bearer error="insufficient_scope"', 'insufficient_scope', undefined],
  ['Bearer scope="issues:write issues:read"', 'insufficient_scope', ['issues:write', 'issues:read']],
])(
  'a 403 with %s asks for another key (%s), and this one still serves the rest',
  async (challenge, reason, scopes) => {
    const { current, refuse, row } = await connected();
    const asked = await refuse(await current(), 403, challenge);
    expect(asked).toEqual({ kind: 'connection-required', reason, seenVersion: 1, ...(scopes && { scopes }) });
    expect(await row()).toMatchObject({ status: 'active', version: 1 });
    expect(await current()).toMatchObject({ version: 1 });
  },
);

test('a key is for one address: at another it is asked for anew, and not sent', async () => {
  const { store, row } = await connected();
  const moved = { ...server, url: 'https://tracker.example.com/v2/mcp' };
  expect(await store.resolve(moved, alice)).toEqual({ ...missing, seenVersion: 1 });
  const stored = await row();
  if (!stored) throw new Error('nothing is connected');
  expect(store.statusOf(stored, moved)).toEqual({
    host: 'tracker.example.com',
    status: 'broken',
    reason: 'server_changed',
  });
  expect(store.statusOf(stored, server)).toEqual({ host: 'tracker.example.com', status: 'active' });
  expect(store.statusOf(stored, undefined)).toMatchObject({ reason: 'server_changed' });
});

test('a broken key stands as refused', async () => {
  const { store, current, refuse, row } = await connected();
  await refuse(await current());
  const stored = await row();
  if (!stored) throw new Error('nothing is connected');
  expect(store.statusOf(stored, server)).toMatchObject({ status: 'broken', reason: 'rejected' });
});

test('the header is the configuration’s: whoever corrects it there makes nobody enter their key again', async () => {
  const { store } = await connected();
  const corrected = { ...server, vault: { header: 'x-api-key', check: true } };
  expect(headersOf(await store.resolve(corrected, alice))).toEqual({ 'x-api-key': goodKey });
});

test('an account of another kind, from before the configuration changed, is not sent as a key', async () => {
  const keys = parseKeys(generateKey('k1'));
  const { store, storage } = await createVault({ keys });
  const sealed = sealAccount(keys, alice, {
    accessToken: 'a-token',
    obtainedAt: 0,
    connectedAt: 0,
    expiresAt: null,
    serverUrl: server.url,
    issuer: server.url,
    resource: server.url,
    client: { kind: 'registered', registration: { client_id: 'c' } },
  });
  await storage.connections.establish(alice, {
    store: 'oauth',
    account: null,
    scopes: [],
    sealed,
    freshUntil: null,
  });
  expect(await store.resolve(server, alice)).toEqual({ ...missing, seenVersion: 1 });
});

test('keys stay readable while encryption keys are rotated; a lost one is an outage, not a question', async () => {
  const old = generateKey('old');
  const { another, row } = await connected({ keys: parseKeys(old) });
  const rotated = another(parseKeys(`${generateKey('new')},${old}`));
  expect(headersOf(await rotated.resolve(server, alice))).toEqual({ authorization: `Bearer ${goodKey}` });
  const lost = another(parseKeys(generateKey('new')));
  const trouble = lost.resolve(server, alice);
  await expect(trouble).rejects.toMatchObject({
    name: 'CredentialStoreError',
    message: expect.stringMatching(
      /^Tracker \(tracker\.example\.com\): the stored API key cannot be opened \(sealed with the key "old"/,
    ),
  });
  const stored = await row();
  expect(stored).toMatchObject({ status: 'active' });
  const standing = stored && lost.statusOf(stored, server);
  expect(standing).toMatchObject({ status: 'broken', reason: 'unreadable' });
});

test("a sealed key that is copied into another user's row does not open", async () => {
  const { store, storage, row } = await connected();
  const stored = await row();
  if (!stored) throw new Error('nothing is connected');
  await storage.connections.establish(bob, stored);
  await expect(store.resolve(server, bob)).rejects.toMatchObject({ name: 'CredentialStoreError' });
});

test('a shared key that one call is refused with stays for the calls of everybody else', async () => {
  const { store, storage } = await createVault();
  const shared = { ...server, credentialScope: 'project' as const };
  const key = { ...alice, user: null };
  await store.keep(shared, key, goodKey);
  for (const status of [401, 403] as const)
    expect(await store.reject(shared, alice, { version: 1, status, challenge: null })).toMatchObject({
      kind: 'connection-required',
      reason: 'rejected',
    });
  expect(await storage.connections.get(key)).toMatchObject({ status: 'active' });
  expect(await store.resolve(shared, bob)).toMatchObject({ kind: 'credential', version: 1 });
});

test('an odd answer to a key is asked about, but not right after it was entered, and takes no key away', async () => {
  let turned = 0;
  const { store, row, current } = await connected({ now: () => Date.now() + turned });
  const { version, tokenId } = await current();
  const doubt = () =>
    store.reject(server, alice, { version, tokenId, status: 302, challenge: null, isDoubtful: true });
  expect(await doubt()).toEqual({ kind: 'unrelated' });
  turned = 11 * 60_000;
  expect(await doubt()).toEqual({ kind: 'connection-required', reason: 'rejected', seenVersion: 1 });
  expect(await row()).toMatchObject({ status: 'active' });
});
