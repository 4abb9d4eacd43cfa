import { expect, test } from 'vitest';
import type { OAuthStore } from '../../../src/credentials/mcp-oauth/oauth-store.ts';
import type { Credential } from '../../../src/credentials/credential-store.ts';
import { alice, setUpOAuthStore } from '../oauth-store.ts';
import { startGuardedServer } from '../guarded-server.ts';

function credential(answer: Awaited<ReturnType<OAuthStore['reject']>>): Credential {
  if (answer.kind !== 'credential') throw new Error(`no credential: ${JSON.stringify(answer)}`);
  return answer;
}

async function connected(options: Parameters<typeof startGuardedServer>[0] = {}) {
  const guarded = await startGuardedServer(options);
  const setup = await setUpOAuthStore();
  await setup.connect(guarded.config);
  const { config, authorization } = guarded;
  const refuse = (refused: Credential, status: 401 | 403 = 401, challenge: string | null = null) =>
    setup.store.reject(config, alice, {
      version: refused.version,
      tokenId: refused.tokenId,
      status,
      challenge,
    });
  return {
    ...guarded,
    ...setup,
    refuse,
    current: async () => credential(await setup.store.resolve(config, alice)),
    refreshes: () =>
      authorization.tokenRequests.filter(({ grantType }) => grantType === 'refresh_token').length,
  };
}

test('a token that ended early heals without asking anybody', async () => {
  const { refuse, current, later, call, authorization, refreshes } = await connected();
  const first = await current();
  await authorization.lose('AccessToken', first.headers['authorization']?.slice(7) ?? '');
  const { status, challenge } = await call(first.headers);
  expect(status).toBe(401);
  later(60_000);
  const healed = credential(await refuse(first, 401, challenge));
  expect(await call(healed.headers)).toMatchObject({ status: 200 });
  expect(refreshes()).toBe(1);
});

test('calls that failed with the same token heal with one refresh', async () => {
  const { refuse, current, later, refreshes } = await connected();
  const first = await current();
  later(60_000);
  const healed = await Promise.all([refuse(first), refuse(first), refuse(first)]);
  const late = await refuse(first);
  expect(new Set([...healed, late].map((answer) => credential(answer).tokenId)).size).toBe(1);
  expect(refreshes()).toBe(1);
});

test('a token that is refused right after it was made is not renewed: the person is asked', async () => {
  const { refuse, current, later, storage, refreshes } = await connected();
  later(60_000);
  const healed = credential(await refuse(await current()));
  expect(await refuse(healed)).toEqual({
    kind: 'connection-required',
    reason: 'rejected',
    seenVersion: 1,
    scopes: ['issues:read'],
  });
  expect(refreshes()).toBe(1);
  expect(await storage.connections.get(alice)).toMatchObject({ status: 'broken', brokenReason: 'rejected' });
});

test('a token with a very short life that is refused near its end is renewed', async () => {
  const { refuse, current, later, call } = await connected({ accessTokenSeconds: 6 });
  const first = await current();
  later(3_000);
  const healed = credential(await refuse(first));
  expect(await call(healed.headers)).toMatchObject({ status: 200 });
});

test('the next turn asks at once after that, without a request anywhere', async () => {
  const { store, config, refuse, current, authorization } = await connected();
  await refuse(await current());
  const before = authorization.tokenRequests.length;
  expect(await store.resolve(config, alice)).toMatchObject({ reason: 'rejected', seenVersion: 1 });
  expect(authorization.tokenRequests).toHaveLength(before);
});

test('a refusal of what was replaced meanwhile answers with the replacement and breaks nothing', async () => {
  const { refuse, current, connect, config, storage } = await connected();
  const first = await current();
  await connect(config);
  expect(await refuse(first)).toMatchObject({ kind: 'credential', version: 2 });
  expect(await storage.connections.get(alice)).toMatchObject({ status: 'active' });
});

test('a refusal after the account was disconnected asks as for the first time, and late news does not count', async () => {
  const { refuse, current, storage } = await connected();
  const first = await current();
  await storage.connections.remove(alice);
  expect(await refuse(first)).toMatchObject({ reason: 'missing', seenVersion: 1 });
});

test('too little scope asks for what is missing, loses nothing that is held, and the account still serves the rest', async () => {
  const { refuse, current, call, connect, config, storage, authorization } = await connected();
  const first = await current();
  const { status, challenge } = await call(first.headers, 'issues:write');
  expect(status).toBe(403);
  const ask = await refuse(first, 403, challenge);
  expect(ask).toEqual({
    kind: 'connection-required',
    reason: 'insufficient_scope',
    seenVersion: 1,
    scopes: ['issues:write'],
  });
  expect(await call((await current()).headers)).toMatchObject({ status: 200 });

  if (ask.kind !== 'connection-required' || !ask.scopes) throw new Error('unreachable');
  await connect(config, { scopes: ask.scopes });
  expect(authorization.authorizations.at(-1)?.get('scope')?.split(' ')).toEqual(
    expect.arrayContaining(['issues:read', 'issues:write']),
  );
  expect(await call((await current()).headers, 'issues:write')).toMatchObject({ status: 200 });
  expect(await storage.connections.get(alice)).toMatchObject({ scopes: ['issues:read', 'issues:write'] });
});

test.each([
  ['names one that is held', 'Bearer error="insufficient_scope", scope="issues:read"'],
  // The server publishes issues:read, which is held.
  ['names none', 'Bearer error="insufficient_scope"'],
])(
  'too little scope that %s is no question of scopes: another account is asked for',
  async (_, challenge) => {
    const { refuse, current, storage } = await connected();
    expect(await refuse(await current(), 403, challenge)).toEqual({
      kind: 'connection-required',
      reason: 'rejected',
      seenVersion: 1,
      scopes: ['issues:read'],
    });
    expect(await storage.connections.get(alice)).toMatchObject({ status: 'active' });
  },
);

test('too little scope without a name asks for what the server publishes and is not held', async () => {
  const { refuse, current, storage, call } = await connected();
  const row = (await storage.connections.get(alice))!;
  await storage.connections.refresh(row, { ...row, scopes: ['issues:write'] });
  const ask = await refuse(await current(), 403, 'Bearer error="insufficient_scope"');
  expect(ask).toMatchObject({ reason: 'insufficient_scope', scopes: ['issues:read'] });
  expect(await call((await current()).headers)).toMatchObject({ status: 200 });
});

test('a plain 403 asks for another account, without calling this one broken', async () => {
  const { refuse, current, storage } = await connected();
  expect(await refuse(await current(), 403)).toMatchObject({ reason: 'rejected', seenVersion: 1 });
  expect(await storage.connections.get(alice)).toMatchObject({ status: 'active' });
});

test('an outage of the sign-in server during healing asks nobody', async () => {
  const { refuse, current, later, authorization, storage } = await connected();
  const first = await current();
  later(60_000);
  authorization.refuse.tokens = 'slow-down';
  await expect(refuse(first)).rejects.toMatchObject({ name: 'CredentialStoreError' });
  expect(await storage.connections.get(alice)).toMatchObject({ status: 'active' });
});

test('a shared account that one call is refused with stays for the calls of everybody else', async () => {
  const { config } = await startGuardedServer();
  const { connect, store, storage } = await setUpOAuthStore();
  const shared = { ...config, credentialScope: 'project' as const };
  await connect(shared);
  for (const status of [401, 403] as const)
    expect(await store.reject(shared, alice, { version: 1, status, challenge: null })).toMatchObject({
      kind: 'connection-required',
      reason: 'rejected',
    });
  expect(await storage.connections.get({ ...alice, user: null })).toMatchObject({ status: 'active' });
  expect(await store.resolve(shared, { ...alice, user: 'bob' })).toMatchObject({
    kind: 'credential',
    version: 1,
  });
});
