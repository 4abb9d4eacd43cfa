import { expect, onTestFinished, test } from 'vitest';
import { redirectUri } from '../../../src/credentials/mcp-oauth/client-metadata.ts';
import { startAuthorizationServer } from '../authorization-server.ts';
import { alice, setUpOAuthStore, publicUrl } from '../oauth-store.ts';
import {
  issuerDocument,
  json,
  resourceDocument,
  serverConfig,
  startGuardedServer,
  startServer,
} from '../guarded-server.ts';
import { followRedirects, callbackFor } from '../redirects.ts';

const bob = { ...alice, user: 'bob' };

async function begin(
  setup: Awaited<ReturnType<typeof setUpOAuthStore>>,
  server: ReturnType<typeof serverConfig>,
) {
  const { url } = await setup.store.begin({ server, key: alice, elicitationId: 'q1', sessionHash: 'laptop' });
  return new URL(url);
}

test('a person who connects is missing before, and has a credential the server takes after', async () => {
  const { config, authorization, call, ...guarded } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  expect(await setup.store.resolve(config, alice)).toEqual({
    kind: 'connection-required',
    reason: 'missing',
    seenVersion: 0,
    scopes: ['issues:read'],
  });

  expect(await setup.connect(config)).toEqual({
    kind: 'connected',
    elicitationId: 'q1',
    server: 'tracker',
    key: alice,
    version: 1,
    account: 'alice@example.com',
    returnUrl: null,
  });

  const credential = await setup.store.resolve(config, alice);
  if (credential.kind !== 'credential') throw new Error('not connected');
  expect(credential.version).toBe(1);
  expect(await call(credential.headers)).toMatchObject({ status: 200 });
  expect(guarded.uncredentialed).toBe(0);
  expect(authorization.tokenRequests).toEqual([
    { grantType: 'authorization_code', resource: config.url, error: null },
  ]);
  expect(await setup.storage.connections.get(alice)).toMatchObject({
    status: 'active',
    scopes: ['issues:read'],
  });
});

test('the request for authorization carries PKCE, the resource, a long state and the scopes', async () => {
  const { config, authorization } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  const { searchParams } = await begin(setup, config);
  expect(Object.fromEntries(searchParams)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    resource: config.url,
    redirect_uri: redirectUri(publicUrl, authorization.issuer),
    scope: 'issues:read offline_access openid email',
  });
  expect(Buffer.from(searchParams.get('state') ?? '', 'base64url')).toHaveLength(32);
});

test('an account at a sign-in server that is no longer used leaves it no scopes to name elsewhere, and is ended there', async () => {
  const guarded = await startGuardedServer();
  const { config, authorization: before } = guarded;
  const setup = await setUpOAuthStore();
  await setup.connect(config, { scopes: ['issues:read', 'issues:write'] });
  const old = await setup.store.resolve(config, alice);
  if (old.kind !== 'credential') throw new Error('not connected');
  guarded.authorization = await startAuthorizationServer({ resource: () => config.url });
  onTestFinished(guarded.authorization.stop);
  setup.later(25 * 3_600_000);
  const moved = { ...config, oauth: { issuer: guarded.authorization.issuer } };
  expect(await setup.store.resolve(moved, alice)).toMatchObject({ reason: 'revoked' });

  expect(await setup.connect(moved)).toMatchObject({ kind: 'connected', version: 2 });
  const scope = guarded.authorization.authorizations.at(-1)?.get('scope');
  expect(scope).toBe('issues:read offline_access openid email');
  const token = old.headers['authorization']?.slice('Bearer '.length) ?? '';
  await expect.poll(() => before.provider.AccessToken.find(token)).toBeUndefined();
});

test('who the person is is not asked for where an operator has chosen the scopes', async () => {
  const { config, authorization } = await startGuardedServer({
    clients: [
      {
        client_id: 'by-hand',
        redirect_uris: [`${publicUrl}/auth/callback`],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
        application_type: 'native',
      },
    ],
  });
  const setup = await setUpOAuthStore();
  const server = {
    ...config,
    oauth: { issuer: authorization.issuer, clientId: 'by-hand', scopes: ['issues:read'] },
  };
  expect((await begin(setup, server)).searchParams.get('scope')).toBe('issues:read offline_access');
  expect(await setup.connect(server)).toMatchObject({ kind: 'connected', account: null });
});

test("one user's account is not another's", async () => {
  const { config } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  await setup.connect(config);
  expect(await setup.store.resolve(config, bob)).toMatchObject({
    kind: 'connection-required',
    reason: 'missing',
  });
});

test('a server of project scope has one account for the whole tenant', async () => {
  const { config } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  const shared = { ...config, credentialScope: 'project' as const };
  expect(await setup.connect(shared)).toMatchObject({ kind: 'connected', key: { ...alice, user: null } });
  expect(await setup.store.resolve(shared, bob)).toMatchObject({ kind: 'credential', version: 1 });
  expect(await setup.store.resolve(shared, { ...bob, tenant: 'other' })).toMatchObject({ reason: 'missing' });
});

test('a server of user scope is never resolved for nobody', async () => {
  const setup = await setUpOAuthStore();
  const nobody = { ...alice, user: null };
  await expect(setup.store.resolve(serverConfig('http://127.0.0.1:1/mcp'), nobody)).rejects.toThrow(
    /needs a user/,
  );
});

test('a server that needs no credential is asked nothing', async () => {
  const setup = await setUpOAuthStore();
  const open = serverConfig('http://127.0.0.1:1/mcp', { credentialScope: 'none' });
  expect(await setup.store.resolve(open, alice)).toEqual({ kind: 'credential', headers: {}, version: 0 });
});

test('a state is good for one return only', async () => {
  const { config } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  const callback = await followRedirects((await begin(setup, config)).href, `${publicUrl}/auth/callback`);
  const complete = () =>
    setup.store.complete({ callback, sessionHash: 'laptop', serverByName: () => config });
  const both = await Promise.all([complete(), complete()]);
  expect(both.map(({ kind }) => kind).toSorted()).toEqual(['connected', 'unknown-state']);
});

test("another browser's return is refused and leaves the right browser's attempt alone", async () => {
  const { config } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  const callback = await followRedirects((await begin(setup, config)).href, `${publicUrl}/auth/callback`);
  const from = (sessionHash: string) =>
    setup.store.complete({ callback, sessionHash, serverByName: () => config });
  expect(await from('phone')).toEqual({ kind: 'unknown-state' });
  expect(await setup.storage.connections.get(alice)).toBeNull();
  expect(await from('laptop')).toMatchObject({ kind: 'connected' });
});

test('a state that is older than ten minutes, made up or absent is unknown', async () => {
  const { config, authorization } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  const callback = await followRedirects((await begin(setup, config)).href, `${publicUrl}/auth/callback`);
  const from = (query: string) =>
    setup.store.complete({
      callback: new URL(query, callback),
      sessionHash: 'laptop',
      serverByName: () => config,
    });
  expect(await from('?code=x&state=made-up')).toEqual({ kind: 'unknown-state' });
  expect(await from('?code=x')).toEqual({ kind: 'unknown-state' });
  setup.later(600_001);
  expect(await from(callback.search)).toEqual({ kind: 'unknown-state' });
  expect(authorization.tokenRequests).toEqual([]);
});

test('who says no at the provider is denied, nothing is connected, and may start again', async () => {
  const { config, authorization } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  authorization.person.agrees = 'to nothing';
  expect(await setup.connect(config)).toEqual({
    kind: 'denied',
    key: alice,
    elicitationId: 'q1',
    server: 'tracker',
    returnUrl: null,
  });
  expect(await setup.storage.connections.get(alice)).toBeNull();
  authorization.person.agrees = 'to all';
  expect(await setup.connect(config)).toMatchObject({ kind: 'connected' });
});

test('an answer that names another issuer is not redeemed', async () => {
  const { config, authorization } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  for (const iss of ['https://evil.example', null]) {
    const callback = await followRedirects((await begin(setup, config)).href, `${publicUrl}/auth/callback`);
    if (iss === null) callback.searchParams.delete('iss');
    else callback.searchParams.set('iss', iss);
    expect(
      await setup.store.complete({ callback, sessionHash: 'laptop', serverByName: () => config }),
    ).toMatchObject({
      kind: 'failed',
      elicitationId: 'q1',
      server: 'tracker',
      reason: "The answer did not come from Tracker's sign-in server, so it was not used.",
      retry: true,
      isForeign: true,
      returnUrl: null,
    });
  }
  expect(authorization.tokenRequests).toEqual([]);
});

test('a code stolen from another flow does not pass, because the verifier is not its own', async () => {
  const { config } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  const mine = await followRedirects((await begin(setup, config)).href, `${publicUrl}/auth/callback`);
  const theirs = await followRedirects((await begin(setup, config)).href, `${publicUrl}/auth/callback`);
  mine.searchParams.set('code', theirs.searchParams.get('code') ?? '');
  expect(
    await setup.store.complete({ callback: mine, sessionHash: 'laptop', serverByName: () => config }),
  ).toMatchObject({
    kind: 'failed',
    reason: expect.stringContaining('its sign-in server refused with "invalid_grant".'),
    retry: true,
  });
  expect(await setup.storage.connections.get(alice)).toBeNull();
});

test('a server whose address was changed meanwhile gets no account of the old one', async () => {
  const { config, authorization } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  const callback = await followRedirects((await begin(setup, config)).href, `${publicUrl}/auth/callback`);
  const moved = { ...config, url: 'http://127.0.0.1:1/mcp' };
  expect(
    await setup.store.complete({ callback, sessionHash: 'laptop', serverByName: () => moved }),
  ).toMatchObject({
    kind: 'failed',
    retry: true,
  });
  expect(authorization.tokenRequests).toEqual([]);

  await setup.connect(config);
  expect(await setup.store.resolve(moved, alice)).toMatchObject({
    kind: 'connection-required',
    reason: 'missing',
    seenVersion: 1,
  });
});

test('what a provider writes when it fails is not repeated to anybody', async () => {
  const { config, authorization } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  for (const trouble of ['broken', 'slow-down'] as const) {
    authorization.refuse.tokens = trouble;
    const completion = await setup.connect(config);
    expect(completion).toMatchObject({
      kind: 'failed',
      retry: true,
      trouble: { server: expect.stringContaining('Tracker') },
    });
    expect(JSON.stringify(completion)).not.toMatch(/leaked|code=|code_verifier|busy/);
  }
});

test('an error code that is no code is not repeated either', async () => {
  const { config } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  const callback = callbackFor(await begin(setup, config), {
    error: '<b>Call 555-1234</b>',
    error_description: 'Send money',
  });
  const completion = await setup.store.complete({
    callback,
    sessionHash: 'laptop',
    serverByName: () => config,
  });
  expect(completion).toMatchObject({ reason: "Tracker's sign-in server answered with an error." });
});

test('a token of another kind, or one that fits no header, is not kept', async () => {
  for (const tokens of [
    { access_token: 'fine', token_type: 'DPoP' },
    { access_token: 'line\nbreak', token_type: 'Bearer' },
  ]) {
    const issuer = await startServer((request, response) => {
      if (request.url === '/token') return json(response, tokens);
      return json(response, issuerDocument(issuer));
    });
    const origin = await startServer((_, response) =>
      json(response, resourceDocument(`${origin}/mcp`, [issuer])),
    );
    const setup = await setUpOAuthStore();
    const server = serverConfig(`${origin}/mcp`, { oauth: { issuer, clientId: 'by-hand' } });
    const callback = callbackFor(await begin(setup, server), { code: 'code' });
    const completion = await setup.store.complete({
      callback,
      sessionHash: 'laptop',
      serverByName: () => server,
    });
    expect(completion).toMatchObject({ kind: 'failed' });
    expect(JSON.stringify(completion)).not.toContain('break');
  }
});
