/** The end of a connection, here and at a strict provider, which shows what is left of its tokens. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ServerConfig } from '../../../src/platform/config/config.ts';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import type { ConnectionRequired, Credential } from '../../../src/credentials/credential-store.ts';
import { alice, setUpOAuthStore } from '../oauth-store.ts';
import { startGuardedServer } from '../guarded-server.ts';

const hour = 3_600_000;
const revoked = { kind: 'removed', revocation: { kind: 'revoked' } };

type Intercept = (path: string, request: Request) => Promise<Response | undefined> | undefined;
type Options = Parameters<typeof startGuardedServer>[0] & { secret?: string; disconnectWaitMs?: number };

/** Connected, with everything in hand that goes out to the provider. `intercept` stands in its way. */
async function connected({ secret, disconnectWaitMs, ...options }: Options = {}) {
  const guarded = await startGuardedServer(options);
  const sent: { path: string; body: URLSearchParams; authorization: string | null; answer: Response }[] = [];
  let intercept: Intercept = () => undefined;
  const setup = await setUpOAuthStore({
    fetch: async (url, init) => {
      const request = new Request(url, init);
      const { pathname: path } = new URL(request.url);
      const body = new URLSearchParams(await request.clone().text());
      const answer = (await intercept(path, request.clone())) ?? (await fetch(request));
      sent.push({ path, body, authorization: request.headers.get('authorization'), answer: answer.clone() });
      return answer;
    },
    ...(secret !== undefined && { secret: () => secret }),
    ...(disconnectWaitMs !== undefined && { disconnectWaitMs }),
  });
  const [client] = options.clients ?? [];
  const oauth = client && {
    oauth: {
      issuer: guarded.authorization.issuer,
      clientId: client.client_id,
      ...(secret !== undefined && { clientSecretEnv: 'SECRET' }),
    },
  };
  const config: ServerConfig = { ...guarded.config, ...oauth };
  await setup.connect(config);
  const resolve = () => setup.store.resolve(config, alice);
  return {
    ...guarded,
    ...setup,
    config,
    resolve,
    token: async () => credential(await resolve()).headers,
    revocations: () => sent.filter(({ path }) => path === '/token/revocation'),
    sent,
    onTheWay: (next: Intercept) => void (intercept = next),
  };
}

function credential(answer: Credential | ConnectionRequired): Credential {
  if (answer.kind !== 'credential') throw new Error(`asks to connect: ${answer.reason}`);
  return answer;
}

function refreshTokenIn(body: unknown): string {
  return String((body as { refresh_token?: string }).refresh_token);
}

test('disconnecting ends the tokens at the provider, the refresh token first, and forgets them here', async () => {
  const { store, config, token, call, revocations, resolve, storage, sent, authorization } =
    await connected();
  const headers = await token();
  expect(await call(headers)).toMatchObject({ status: 200 });
  const given = sent.find(({ path }) => path === '/token');
  const refreshToken = refreshTokenIn(await given?.answer.json());
  const { RefreshToken } = authorization.provider;
  expect(await RefreshToken.find(refreshToken)).toBeTruthy();

  expect(await store.disconnect(alice, config)).toEqual(revoked);
  expect(revocations().map(({ body }) => body.get('token_type_hint'))).toEqual([
    'refresh_token',
    'access_token',
  ]);
  expect(revocations()[0]?.body.get('token')).toBe(refreshToken);
  expect(await call(headers)).toMatchObject({ status: 401 });
  expect(await RefreshToken.find(refreshToken)).toBeUndefined();
  expect(await storage.connections.get(alice)).toBeNull();
  expect(await resolve()).toMatchObject({ reason: 'missing', seenVersion: 1 });
});

test('again there is nothing to end, and nobody else’s account is touched', async () => {
  const { store, config, storage, revocations } = await connected();
  const bob = { ...alice, user: 'bob' };
  const row = await storage.connections.get(alice);
  await storage.connections.establish(bob, { ...row!, account: null });
  await storage.connections.establish({ ...alice, user: null }, { ...row!, account: null });
  await store.disconnect(alice, config);
  const asked = revocations().length;
  expect(await store.disconnect(alice, config)).toEqual({ kind: 'nothing-there' });
  expect(revocations()).toHaveLength(asked);
  for (const key of [bob, { ...alice, user: null }])
    expect(await storage.connections.get(key)).toMatchObject({ status: 'active' });
});

test('connecting again is the next version', async () => {
  const { store, config, connect, call, token } = await connected();
  await store.disconnect(alice, config);
  expect(await connect(config)).toMatchObject({ kind: 'connected', version: 2 });
  expect(await call(await token())).toMatchObject({ status: 200 });
});

test.each(['client_secret_basic', 'client_secret_post'] as const)(
  'a client with a secret shows it by %s',
  async (method) => {
    const { store, config, revocations, call, token, onTheWay } = await connected({
      secret: 'the-secret',
      clients: [
        {
          client_id: 'ours',
          client_secret: 'the-secret',
          redirect_uris: ['http://127.0.0.1:3000/auth/callback'],
          grant_types: ['authorization_code', 'refresh_token'],
          token_endpoint_auth_method: method,
          application_type: 'native',
        },
      ],
    });
    onTheWay(async (path, request) => {
      if (!path.includes('/.well-known/')) return undefined;
      const document = (await (await fetch(request)).json()) as object;
      return Response.json({ ...document, revocation_endpoint_auth_methods_supported: [method] });
    });
    const headers = await token();
    expect(await store.disconnect(alice, config)).toEqual(revoked);
    expect(await call(headers)).toMatchObject({ status: 401 });
    const shown = revocations().map(({ body, authorization }) => [
      authorization?.startsWith('Basic '),
      body.get('client_secret'),
    ]);
    const once = method === 'client_secret_basic' ? [true, null] : [undefined, 'the-secret'];
    expect(shown).toEqual([once, once]);
  },
);

test('a provider that is away keeps nobody from disconnecting', async () => {
  const { store, config, storage, onTheWay } = await connected();
  onTheWay(() => Promise.reject(new TypeError('fetch failed')));
  const ended = await store.disconnect(alice, config);
  expect(ended).toMatchObject({
    revocation: { kind: 'failed', reason: expect.stringContaining('cannot be reached') },
  });
  expect(await storage.connections.get(alice)).toBeNull();
});

test('nor does one that does not answer', async () => {
  const { store, config, storage, onTheWay } = await connected({ disconnectWaitMs: 100 });
  const late = Promise.withResolvers<undefined>();
  onTheWay(() => late.promise);
  const ended = await store.disconnect(alice, config);
  expect(ended).toMatchObject({ revocation: { kind: 'failed', reason: expect.stringContaining('in time') } });
  expect(await storage.connections.get(alice)).toBeNull();
  late.resolve(undefined);
});

test('a provider that refuses is heard, and what it wrote is not repeated', async () => {
  const { store, config, storage, onTheWay } = await connected();
  onTheWay(async (path, request) => {
    if (path !== '/token/revocation') return undefined;
    const error_description = `never: ${await request.text()}`;
    return Response.json({ error: 'invalid_client', error_description }, { status: 401 });
  });
  const ended = await store.disconnect(alice, config);
  expect(ended).toEqual({
    kind: 'removed',
    revocation: { kind: 'failed', reason: 'its sign-in server refused with "invalid_client"' },
  });
  expect(await storage.connections.get(alice)).toBeNull();
});

test('a provider without a revocation endpoint has no means for it', async () => {
  const { store, config, storage, onTheWay, revocations } = await connected();
  onTheWay(async (path, request) => {
    if (!path.includes('/.well-known/')) return undefined;
    const document = (await (await fetch(request)).json()) as object;
    return Response.json({ ...document, revocation_endpoint: undefined });
  });
  expect(await store.disconnect(alice, config)).toEqual({
    kind: 'removed',
    revocation: { kind: 'not-offered' },
  });
  expect(revocations()).toEqual([]);
  expect(await storage.connections.get(alice)).toBeNull();
});

test.each([
  ['access_token', 'revoked'],
  ['refresh_token', 'not-offered'],
])('a provider that does not end a single %s: %s', async (kept, kind) => {
  const { store, config, onTheWay } = await connected();
  onTheWay(async (path, request) => {
    const isKept = path === '/token/revocation' && (await request.text()).includes(`hint=${kept}`);
    return isKept ? Response.json({ error: 'unsupported_token_type' }, { status: 400 }) : undefined;
  });
  expect(await store.disconnect(alice, config)).toMatchObject({ revocation: { kind } });
});

test('tokens go to the sign-in server that gave them, whatever the MCP server names by now', async () => {
  const { store, config, authorization, call, token } = await connected();
  const headers = await token();
  const thief = await startGuardedServer();
  const asked: string[] = [];
  thief.authorization.provider.use(async (ctx, next) => {
    asked.push(ctx.path);
    await next();
  });
  const { issuer } = authorization;
  authorization.issuer = thief.authorization.issuer;
  expect(await store.disconnect(alice, config)).toEqual(revoked);
  authorization.issuer = issuer;
  expect(asked).toEqual([]);
  expect(await call(headers)).toMatchObject({ status: 401 });
});

test('the account of a server that left the agents file is ended, too', async () => {
  const { store, call, token } = await connected();
  const headers = await token();
  expect(await store.disconnect(alice, undefined)).toEqual(revoked);
  expect(await call(headers)).toMatchObject({ status: 401 });
});

test('an account whose key is missing is forgotten, though nobody can be told', async () => {
  const { another, config, storage } = await connected();
  const other = another({ keys: parseKeys(generateKey('k2')) });
  const ended = await other.disconnect(alice, config);
  expect(ended).toMatchObject({ revocation: { kind: 'failed', reason: expect.stringContaining('"k1"') } });
  expect(await storage.connections.get(alice)).toBeNull();
});

/** Holds the provider's answer to a refresh back, after it was given. */
function holdRefresh() {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const given = Promise.withResolvers<string>();
  const intercept: Intercept = async (path, request) => {
    if (path !== '/token') return undefined;
    const answer = await fetch(request);
    const { access_token: fresh } = (await answer.clone().json()) as { access_token: string };
    given.resolve(fresh);
    arrived.resolve();
    await released.promise;
    return answer;
  };
  const headers = async () => ({ authorization: `Bearer ${await given.promise}` });
  return { intercept, arrived: arrived.promise, release: released.resolve, headers };
}

test('who disconnects during a refresh ends what the refresh brings, too', async () => {
  const { store, config, storage, resolve, call, later, onTheWay } = await connected();
  later(hour);
  const refresh = holdRefresh();
  onTheWay(refresh.intercept);
  const resolving = resolve();
  await refresh.arrived;
  const ending = store.disconnect(alice, config);
  // It waits for the refresh: nothing is removed before.
  await delay(100);
  expect(await storage.connections.get(alice)).toMatchObject({ status: 'active' });
  expect(await call(await refresh.headers())).toMatchObject({ status: 200 });
  refresh.release();
  expect(await ending).toEqual(revoked);
  await resolving;
  expect(await call(await refresh.headers())).toMatchObject({ status: 401 });
  expect(await storage.connections.get(alice)).toBeNull();
  expect(await resolve()).toMatchObject({ reason: 'missing', seenVersion: 1 });
});

test('a refresh that takes too long is not waited for, brings nothing back, and leaves no living token behind', async () => {
  const { store, config, storage, resolve, call, later, onTheWay } = await connected({
    disconnectWaitMs: 200,
  });
  later(hour);
  const refresh = holdRefresh();
  onTheWay(refresh.intercept);
  const resolving = resolve();
  await refresh.arrived;
  // Out of reach for a moment, so that the old tokens do not take the new ones with them.
  onTheWay(() => Promise.reject(new TypeError('fetch failed')));
  expect(await store.disconnect(alice, config)).toMatchObject({ revocation: { kind: 'failed' } });
  expect(await storage.connections.get(alice)).toBeNull();
  expect(await call(await refresh.headers())).toMatchObject({ status: 200 });
  onTheWay(() => undefined);
  refresh.release();
  expect(await resolving).toMatchObject({ kind: 'connection-required', reason: 'missing', seenVersion: 1 });
  expect(await storage.connections.get(alice)).toBeNull();
  expect(await storage.connections.lastVersion(alice)).toBe(1);
  expect(await call(await refresh.headers())).toMatchObject({ status: 401 });
});

test('a credential that was resolved before goes on with its call; the next one asks', async () => {
  const { config, store, resolve, call, onTheWay } = await connected();
  const underWay = credential(await resolve());
  onTheWay(() => Promise.reject(new TypeError('fetch failed')));
  await store.disconnect(alice, config);
  // The provider does not know; here nothing stops it.
  expect(await call(underWay.headers)).toMatchObject({ status: 200 });
  onTheWay(() => undefined);
  expect(await resolve()).toMatchObject({ reason: 'missing' });
  const refusal = {
    version: underWay.version,
    tokenId: underWay.tokenId,
    status: 401 as const,
    challenge: null,
  };
  expect(await store.reject(config, alice, refusal)).toMatchObject({ reason: 'missing', seenVersion: 1 });
});

test('what a connection is worth is told as the next call would find it', async () => {
  const { config, store, storage, another } = await connected();
  const row = (await storage.connections.get(alice))!;
  const host = new URL(config.url).host;
  expect(store.statusOf(row, config)).toEqual({ host, status: 'active' });
  const changed = { host, status: 'broken', reason: 'server_changed' };
  expect(store.statusOf(row, { ...config, url: 'http://127.0.0.1:9/other' })).toEqual(changed);
  expect(store.statusOf(row, undefined)).toEqual(changed);
  const other = another({ keys: parseKeys(generateKey('k2')) });
  expect(other.statusOf(row, config)).toEqual({ host: null, status: 'broken', reason: 'unreadable' });
  await storage.connections.markBroken(alice, 1, 'revoked');
  const broken = (await storage.connections.get(alice))!;
  expect(store.statusOf(broken, config)).toEqual({ host, status: 'broken', reason: 'revoked' });
});

test('a token without a successor is worth nothing after its end', async () => {
  const { config, store, storage, later } = await connected({
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
  const row = (await storage.connections.get(alice))!;
  later(hour - 1_000);
  expect(store.statusOf(row, config)).toMatchObject({ status: 'active' });
  later(1_001);
  expect(store.statusOf(row, config)).toMatchObject({ status: 'broken', reason: 'rejected' });
});
