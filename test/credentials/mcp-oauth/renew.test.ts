import { expect, test } from 'vitest';
import type { ConnectionRequired, Credential } from '../../../src/credentials/credential-store.ts';
import { alice, setUpOAuthStore } from '../oauth-store.ts';
import { startGuardedServer } from '../guarded-server.ts';

const hour = 3_600_000;

function credential(answer: Credential | ConnectionRequired): Credential {
  if (answer.kind !== 'credential') throw new Error(`asks to connect: ${answer.reason}`);
  return answer;
}

async function connected(options: Parameters<typeof startGuardedServer>[0] = {}) {
  const guarded = await startGuardedServer(options);
  const setup = await setUpOAuthStore();
  await setup.connect(guarded.config);
  const refreshes = () =>
    guarded.authorization.tokenRequests.filter(({ grantType }) => grantType === 'refresh_token');
  return { ...guarded, ...setup, refreshes };
}

test('a fresh token is used as it is', async () => {
  const { store, config, refreshes } = await connected();
  const first = credential(await store.resolve(config, alice));
  expect(credential(await store.resolve(config, alice))).toEqual(first);
  expect(refreshes()).toEqual([]);
});

test('a token close to its end is renewed, for the same resource, and the connection keeps its version', async () => {
  const { store, config, later, call, refreshes } = await connected();
  const first = credential(await store.resolve(config, alice));
  later(hour - 59_000);
  const second = credential(await store.resolve(config, alice));
  expect(second.headers).not.toEqual(first.headers);
  expect(second.version).toBe(1);
  expect(await call(second.headers)).toMatchObject({ status: 200 });
  expect(refreshes()).toEqual([{ grantType: 'refresh_token', resource: config.url, error: null }]);
});

test('rotated refresh tokens are kept, so that renewing goes on', async () => {
  const { store, config, later, call, refreshes } = await connected();
  for (let round = 1; round <= 3; round++) {
    later(hour);
    expect(await call(credential(await store.resolve(config, alice)).headers)).toMatchObject({ status: 200 });
    expect(refreshes()).toHaveLength(round);
  }
});

test('many calls in two processes renew once', async () => {
  const { store, another, config, later, refreshes } = await connected();
  later(hour);
  const other = another();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => (n % 2 ? store : other).resolve(config, alice)),
  );
  expect(new Set(answers.map((answer) => credential(answer).tokenId)).size).toBe(1);
  expect(refreshes()).toHaveLength(1);
});

test('a refused refresh breaks the connection, and everyone is asked to connect again', async () => {
  const { store, config, later, authorization, storage, refreshes } = await connected();
  const { provider } = authorization;
  const row = await storage.connections.get(alice);
  provider.RefreshToken.adapter.find = async () => undefined;
  later(hour);
  const ask = { kind: 'connection-required', reason: 'revoked', seenVersion: 1, scopes: ['issues:read'] };
  expect(await store.resolve(config, alice)).toEqual(ask);
  expect(await store.resolve(config, alice)).toEqual(ask);
  expect(refreshes()).toHaveLength(1);
  expect(await storage.connections.get(alice)).toMatchObject({
    ...row,
    status: 'broken',
    brokenReason: 'revoked',
    updatedAt: expect.any(Number),
  });
});

test('connecting again after that is the next version', async () => {
  const { store, connect, config, later, authorization } = await connected();
  const { adapter } = authorization.provider.RefreshToken;
  const find = adapter.find.bind(adapter);
  adapter.find = async () => undefined;
  later(hour);
  expect(await store.resolve(config, alice)).toMatchObject({ reason: 'revoked' });
  adapter.find = find;
  expect(await connect(config)).toMatchObject({ kind: 'connected', version: 2 });
  expect(credential(await store.resolve(config, alice)).version).toBe(2);
});

test('while the sign-in server is down, the old token serves as long as it lives', async () => {
  const { store, config, later, authorization, storage } = await connected();
  const first = credential(await store.resolve(config, alice));
  authorization.refuse.tokens = 'slow-down';
  later(hour - 30_000);
  expect(credential(await store.resolve(config, alice))).toEqual(first);
  later(30_001);
  const outage = await store.resolve(config, alice).catch((error: unknown) => error);
  expect(outage).toMatchObject({ name: 'CredentialStoreError', message: expect.stringContaining('Tracker') });
  expect(outage).not.toHaveProperty('cause');
  expect(String(outage)).not.toMatch(/refresh_token|busy/);
  expect(await storage.connections.get(alice)).toMatchObject({ status: 'active' });
  authorization.refuse.tokens = 'no';
  expect(await store.resolve(config, alice)).toMatchObject({ kind: 'credential' });
});

test('a token that lives only seconds is still used for most of its life', async () => {
  const { store, config, later, refreshes } = await connected({ accessTokenSeconds: 30 });
  await store.resolve(config, alice);
  later(15_000);
  await store.resolve(config, alice);
  expect(refreshes()).toHaveLength(0);
  later(6_000);
  await store.resolve(config, alice);
  expect(refreshes()).toHaveLength(1);
});

test('a token without a successor is used to its end and then asked for again', async () => {
  const guarded = await startGuardedServer({
    clients: [
      {
        client_id: 'short',
        redirect_uris: ['http://127.0.0.1:3000/auth/callback'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'none',
        application_type: 'native',
      },
    ],
  });
  const config = { ...guarded.config, oauth: { issuer: guarded.authorization.issuer, clientId: 'short' } };
  const { store, connect, later } = await setUpOAuthStore();
  await connect(config);
  later(hour - 10_000);
  expect(await store.resolve(config, alice)).toMatchObject({ kind: 'credential' });
  later(10_001);
  expect(await store.resolve(config, alice)).toMatchObject({ reason: 'rejected', seenVersion: 1 });
});

test('a refresh token is not shown to another sign-in server that the MCP server names later', async () => {
  const { store, config, later, authorization, refreshes } = await connected();
  const thief = await startGuardedServer();
  const { issuer } = authorization;
  authorization.issuer = thief.authorization.issuer;
  later(25 * hour);
  expect(await store.resolve(config, alice)).toMatchObject({ kind: 'credential', version: 1 });
  expect(thief.authorization.tokenRequests).toEqual([]);
  expect(refreshes()).toHaveLength(1);
  authorization.issuer = issuer;
});
