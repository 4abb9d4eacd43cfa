import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fastifyFactory from 'fastify';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { exportSPKI, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import type { JWTPayload } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoToken, startIdentityProvider } from '../../../demo/identity.ts';
import type { IdentityProvider } from '../../../demo/identity.ts';
import { listen } from '../../../demo/listen.ts';
import { createApiKey } from '../../../src/service/api-keys.ts';
import { createAuthenticate, createRecordRefusal } from '../../../src/service/authenticate.ts';
import { requirePrincipal } from '../../../src/api/http/authentication.ts';
import { answerWithProblems } from '../../../src/api/http/problems.ts';
import { createRefusalLimit } from '../../../src/api/http/limits.ts';
import { sendEventStream } from '../../../src/api/http/event-stream.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { Storage } from '../../../src/storage/storage.ts';

let folder: string;
let database: string;
let storage: Storage;
let provider: IdentityProvider;
let app: FastifyInstance;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-auth-'));
  database = path.join(folder, 'interlude.db');
  storage = await openStorage({ kind: 'sqlite', path: database });
  provider = await startIdentityProvider({ port: 0, dataDir: folder, redirectUris: ['http://127.0.0.1/cb'] });
  app = apiFor(provider.issuer);
});

afterAll(async () => {
  await app.close();
  await provider.stop();
  await storage.close();
  await rm(folder, { recursive: true });
});

function apiFor(
  issuer: string,
  audience = 'interlude',
  tenantClaim: string | null = 'tenant',
): FastifyInstance {
  const api = fastifyFactory();
  answerWithProblems(api);
  requirePrincipal(api, {
    authenticate: createAuthenticate({
      auth: { issuer, audience, tenantClaim, operator: undefined },
      apiKeys: storage.apiKeys,
      recordRefusal: createRecordRefusal(storage.audit),
    }),
    refusals: createRefusalLimit(1_000),
    names: { publicUrl: 'https://agents.example', audience },
  });
  api.get('/who', (request) => request.principal);
  api.get('/a/surface', { config: { resource: '/a/surface' } }, (request) => request.principal);
  return api;
}

async function who(authorization?: string, api = app, url = '/who') {
  const response = await api.inject({
    url,
    headers: authorization === undefined ? {} : { authorization },
  });
  return {
    status: response.statusCode,
    challenge: response.headers['www-authenticate'],
    body: response.json(),
  };
}

/** An issuer of our own, to sign what the demo's provider never would. */
async function startIssuer() {
  const keys = await generateKeyPair('RS256');
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const body = request.url === '/jwks' ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/jwks` };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  const { port, stop } = await listen(server, 0, 'PORT');
  const issuer = `http://127.0.0.1:${port}`;
  const good = { iss: issuer, aud: 'interlude', sub: 'alice', tenant: 'demo', exp: inSeconds(60) };
  const sign = (claims: JWTPayload, key = keys.privateKey, typ?: string) =>
    new SignJWT({ ...good, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'one', ...(typ !== undefined && { typ }) })
      .sign(key);
  return { issuer, stop, keys, good, sign, asked };
}

function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

test('a token of the issuer says which user of which tenant is calling', async () => {
  const token = await demoToken(provider.issuer, 'alice');
  expect(await who(`Bearer ${token}`)).toMatchObject({
    status: 200,
    body: { kind: 'user', tenant: 'demo', user: 'alice', name: 'Alice' },
  });
});

test('tokens stay good when the identity provider starts again', async () => {
  const first = await startIdentityProvider({ port: 0, dataDir: folder, redirectUris: [] });
  const token = await demoToken(first.issuer, 'bob');
  await first.stop();
  const port = Number(new URL(first.issuer).port);
  const second = await startIdentityProvider({ port, dataDir: folder, redirectUris: [] });
  const api = apiFor(second.issuer);
  expect(await who(`Bearer ${token}`, api)).toMatchObject({ status: 200, body: { user: 'bob' } });
  await second.stop();
});

test('the demo gives no token to a user it does not have, and says whom it has', async () => {
  await expect(demoToken(provider.issuer, 'mallory')).rejects.toThrow(
    'no user "mallory"; there are alice and bob',
  );
});

test.each([
  ['nothing at all', undefined, /Send Authorization: Bearer/],
  ['another scheme', 'Basic YTpi', /Only Authorization: Bearer/],
])('%s is answered with 401 and a bare Bearer challenge', async (_, authorization, detail) => {
  const answer = await who(authorization);
  expect(answer).toMatchObject({ status: 401, challenge: 'Bearer', body: { code: 'unauthenticated' } });
  expect(answer.body.detail).toMatch(detail);
});

test('each wrong token is refused with 401 and the reason', async () => {
  const issuer = await startIssuer();
  const api = apiFor(issuer.issuer);
  const stranger = await generateKeyPair('RS256');
  const publicKey = await exportSPKI(issuer.keys.publicKey);
  const confused = hs256(issuer.good, publicKey);
  const cases: [token: string, detail: RegExp][] = [
    [await issuer.sign({ aud: 'somebody-else' }), /another audience/],
    [await issuer.sign({ aud: 'somebody-else', tenant: 7 }), /another audience/],
    [await issuer.sign({ iss: 'http://evil.example' }), /not issued by/],
    [await issuer.sign({ exp: inSeconds(-60) }), /expired/],
    [await issuer.sign({ nbf: inSeconds(600) }), /not valid yet/],
    [await issuer.sign({}, stranger.privateKey), /not signed by a key of the issuer/],
    [await issuer.sign({ sub: '' }), /names no user/],
    [await issuer.sign({ sub: 'a\0b' }), /claim sub/],
    [await issuer.sign({ sub: 'a'.repeat(256) }), /claim sub/],
    [await issuer.sign({ tenant: ['a', 'b'] }), /claim tenant/],
    [await issuer.sign({ tenant: 7 }), /claim tenant/],
    [await issuer.sign({ tenant: '' }), /claim tenant/],
    [await issuer.sign({ tenant: 'demo\n' }), /claim tenant/],
    // Half a character: it has no place in a URL, and so none in the id of a workflow.
    [await issuer.sign({ tenant: '\ud800' }), /claim tenant/],
    [await issuer.sign({ tenant: '租'.repeat(100) }), /claim tenant/],
    [new UnsecuredJWT(issuer.good).encode(), /public-key algorithm/],
    [confused, /public-key algorithm/],
    ['abc.def.ghi', /neither an access token/],
    [`${await issuer.sign({})}x`, /not signed by a key of the issuer/],
  ];
  for (const [token, detail] of cases) {
    const answer = await who(`Bearer ${token}`, api);
    expect(answer).toMatchObject({ status: 401, challenge: 'Bearer error="invalid_token"' });
    expect(answer.body.detail).toMatch(detail);
    expect(JSON.stringify(answer.body)).not.toContain(token);
  }
  expect(await who(`Bearer ${await issuer.sign({})}`, api)).toMatchObject({ status: 200 });
  await issuer.stop();
});

test('a token has to be for one of the audiences of the surface it is presented to', async () => {
  const issuer = await startIssuer();
  const authenticate = createAuthenticate({
    auth: { issuer: issuer.issuer, audience: 'interlude', tenantClaim: 'tenant', operator: undefined },
    apiKeys: storage.apiKeys,
    recordRefusal: createRecordRefusal(storage.audit),
  });
  const audiences = ['https://interlude.example/run/v1/mcp', 'interlude'];
  const present = async (aud: string, ...of: (readonly string[])[]) => {
    const bearer = await issuer.sign({ aud });
    return authenticate({ bearer, ...(of[0] && { audiences: of[0] }) });
  };
  for (const audience of audiences)
    expect(await present(audience, audiences)).toMatchObject({ kind: 'user', user: 'alice' });
  await expect(present('https://elsewhere.example/mcp', audiences)).rejects.toMatchObject({
    code: 'unauthenticated',
    message: expect.stringContaining('https://interlude.example/run/v1/mcp or interlude'),
  });
  await expect(present(audiences[0] ?? '')).rejects.toMatchObject({ code: 'unauthenticated' });
  await issuer.stop();
});

test('a surface that is a resource names its metadata, and takes tokens for its own address', async () => {
  const issuer = await startIssuer();
  const api = apiFor(issuer.issuer);
  const there = (authorization?: string) => who(authorization, api, '/a/surface');
  const metadata = 'https://agents.example/.well-known/oauth-protected-resource/a/surface';
  expect(await there()).toMatchObject({ status: 401, challenge: `Bearer resource_metadata="${metadata}"` });
  expect(await there('Bearer a.b.c')).toMatchObject({
    status: 401,
    challenge: `Bearer error="invalid_token", resource_metadata="${metadata}"`,
  });
  const forSurface = `Bearer ${await issuer.sign({ aud: 'https://agents.example/a/surface' })}`;
  expect(await there(forSurface)).toMatchObject({ status: 200, body: { user: 'alice' } });
  expect(await who(forSurface, api)).toMatchObject({ status: 401 });
  for (const aud of ['interlude', 'https://agents.example']) {
    const token = `Bearer ${await issuer.sign({ aud })}`;
    expect([(await who(token, api)).status, (await there(token)).status]).toEqual([200, 200]);
  }
  await api.close();
  await issuer.stop();
});

test('a token for another audience enters the audit under its user; one that nobody signed does not', async () => {
  const issuer = await startIssuer();
  const api = apiFor(issuer.issuer);
  const forger = await generateKeyPair('RS256');
  const aud = 'somebody-else';
  await who(`Bearer ${await issuer.sign({ aud, sub: 'mallory' }, forger.privateKey)}`, api);
  await who(`Bearer ${await issuer.sign({ aud, sub: 'carol' })}`, api);
  const audit = await storage.audit.ofElicitation('');
  expect(audit.filter(({ actor }) => actor === 'mallory')).toEqual([]);
  expect(audit.filter(({ actor }) => actor === 'carol')).toMatchObject([
    { action: 'refused', tenant: 'demo', detail: 'token for another audience', address: '127.0.0.1' },
  ]);
  await api.close();
  await issuer.stop();
});

test('a stream ends when its token expires, also one that was posted; a single answer may still come', async () => {
  const issuer = await startIssuer();
  const api = apiFor(issuer.issuer);
  const stream = (reply: FastifyReply, more: { lastText?: string } = {}) =>
    sendEventStream(reply, {
      texts: new ReadableStream<string>(),
      signal: new AbortController().signal,
      ...more,
    });
  const later = Promise.withResolvers<{ answer: string }>();
  api.get('/feed', (_, reply) => stream(reply));
  api.post('/turn', (_, reply) => stream(reply));
  api.post('/explained', (_, reply) => stream(reply, { lastText: 'data: expired\n\n' }));
  api.post('/answer', () => later.promise);
  const base = await api.listen({ port: 0, host: '127.0.0.1' });
  // Clocks may differ by five seconds, so that it is accepted for two more.
  const headers = { authorization: `Bearer ${await issuer.sign({ exp: inSeconds(-3) })}` };
  const open = async (method: string, path: string) => {
    const response = await fetch(base + path, { method, headers });
    expect(response.status).toBe(200);
    return response.text().catch((error: Error) => error.message);
  };
  const answer = open('POST', '/answer');
  const texts = [open('GET', '/feed'), open('POST', '/turn'), open('POST', '/explained')];
  expect(await Promise.all(texts)).toEqual([
    'terminated',
    'terminated',
    ': stream-open\n\ndata: expired\n\n',
  ]);
  expect((await fetch(`${base}/feed`, { headers })).status).toBe(401);
  later.resolve({ answer: 'late' });
  expect(JSON.parse(await answer)).toEqual({ answer: 'late' });
  await api.close();
  await issuer.stop();
});

test('without an issuer only API keys are accepted', async () => {
  const authenticate = createAuthenticate({
    auth: undefined,
    apiKeys: storage.apiKeys,
    recordRefusal: createRecordRefusal(storage.audit),
  });
  await expect(authenticate({ bearer: 'a.b.c' })).rejects.toMatchObject({ code: 'unauthenticated' });
  const bearer = await createApiKey(storage, 'acme');
  expect(await authenticate({ bearer })).toMatchObject({ kind: 'service', tenant: 'acme' });
});

/** What an attacker makes of the public key when a verifier lets the token choose the algorithm. */
function hs256(claims: object, secret: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256', kid: 'one' })}.${part(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

test('a token without a tenant belongs to the tenant "default" only where no claim is configured', async () => {
  const issuer = await startIssuer();
  const withoutTenant = `Bearer ${await issuer.sign({ tenant: undefined })}`;
  expect(await who(withoutTenant, apiFor(issuer.issuer, 'interlude', null))).toMatchObject({
    body: { tenant: 'default', user: 'alice' },
  });
  expect(
    await who(`Bearer ${await issuer.sign({})}`, apiFor(issuer.issuer, 'interlude', null)),
  ).toMatchObject({ body: { tenant: 'demo', user: 'alice' } });
  const answer = await who(withoutTenant, apiFor(issuer.issuer, 'interlude', 'org'));
  expect(answer).toMatchObject({ status: 401, challenge: 'Bearer error="invalid_token"' });
  expect(answer.body.detail).toMatch(/claim org/);
  await issuer.stop();
});

test.each<[what: string, claims: JWTPayload, typ?: string]>([
  ['an ID token', { nonce: 'n-0S6_WzA2Mj' }],
  ['an ID token of the hybrid flow', { at_hash: 'MTIzNDU2Nzg5MDEyMzQ1Ng' }],
  ['a logout token', { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }],
  ['a logout token by its type', {}, 'logout+jwt'],
  ['a security event', {}, 'application/secevent+jwt'],
])('%s for our audience is no access token', async (_what, claims, typ) => {
  const issuer = await startIssuer();
  const token = await issuer.sign(claims, undefined, typ);
  const answer = await who(`Bearer ${token}`, apiFor(issuer.issuer));
  expect(answer).toMatchObject({ status: 401, challenge: 'Bearer error="invalid_token"' });
  expect(answer.body.detail).toMatch(/no access token/);
  await issuer.stop();
});

test.each(['JWT', 'at+jwt', 'application/at+jwt'])('a token of the type %s is one', async (typ) => {
  const issuer = await startIssuer();
  const token = await issuer.sign({}, undefined, typ);
  expect(await who(`Bearer ${token}`, apiFor(issuer.issuer))).toMatchObject({ status: 200 });
  await issuer.stop();
});

test('a name that is long or tries to look like something else is not shown', async () => {
  const issuer = await startIssuer();
  const api = apiFor(issuer.issuer);
  for (const name of ['n'.repeat(201), 'alice\u202e', 'two\nlines', '']) {
    const { status, body } = await who(`Bearer ${await issuer.sign({ name })}`, api);
    expect([status, body]).toEqual([200, { kind: 'user', tenant: 'demo', user: 'alice' }]);
  }
  await issuer.stop();
});

test('the signing keys are fetched once for many tokens, and not at all for a hopeless one', async () => {
  const issuer = await startIssuer();
  const api = apiFor(issuer.issuer);
  await who(`Bearer ${await issuer.sign({ iss: 'http://evil.example' })}`, api);
  expect(issuer.asked).toEqual([]);
  const token = await issuer.sign({});
  await Promise.all([1, 2, 3].map(() => who(`Bearer ${token}`, api)));
  await who(`Bearer ${token}`, api);
  expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/jwks']);
  await issuer.stop();
});

test('an issuer that cannot be reached is 503, and the next token is checked again', async () => {
  const first = await startIssuer();
  const token = await first.sign({});
  await first.stop();
  const api = apiFor(first.issuer);
  const answer = await who(`Bearer ${token}`, api);
  expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect(answer.challenge).toBeUndefined();

  const port = Number(new URL(first.issuer).port);
  const again = createServer((request, response) => {
    const body =
      request.url === '/jwks' ? { keys: [] } : { issuer: first.issuer, jwks_uri: `${first.issuer}/jwks` };
    response.end(JSON.stringify(body));
  });
  const { stop } = await listen(again, port, 'PORT');
  expect(await who(`Bearer ${token}`, api)).toMatchObject({ status: 401 });
  await stop();
});

test('an API key is a service of its tenant, and only its hash is kept', async () => {
  const key = await createApiKey(storage, 'acme');
  const answer = await who(`Bearer ${key}`);
  expect(answer).toMatchObject({ status: 200, body: { kind: 'service', tenant: 'acme' } });
  expect(answer.body).not.toHaveProperty('user');
  const kept = await storage.apiKeys.get(answer.body.keyId);
  expect(JSON.stringify(kept)).not.toContain(key.slice(-43));
});

test('an API key is only made for a tenant that could also be named in a token', async () => {
  for (const tenant of ['', 'a\0', 'x'.repeat(801)])
    await expect(createApiKey(storage, tenant)).rejects.toThrow('tenant');
});

test('an API key that is wrong in its id, its secret or its shape is refused with the same words', async () => {
  const key = await createApiKey(storage, 'acme');
  const [, id] = key.split('_');
  const other = await createApiKey(storage, 'acme');
  const details = new Set<string>();
  for (const wrong of [
    `ilk_${id}_${'A'.repeat(43)}`,
    other.replace(/^ilk_[0-9a-f]{16}/, `ilk_${'0'.repeat(16)}`),
    key.slice(0, -1),
    'ilk_x',
  ]) {
    const answer = await who(`Bearer ${wrong}`);
    expect(answer).toMatchObject({ status: 401, challenge: 'Bearer error="invalid_token"' });
    details.add(answer.body.detail);
  }
  expect(details.size).toBe(1);
});

test('a revoked API key is refused and told so', async () => {
  const key = await createApiKey(storage, 'acme');
  const connection = new DatabaseSync(database);
  connection
    .prepare('update api_keys set revoked_at = ? where id = ?')
    .run(Date.now(), key.split('_')[1] ?? '');
  connection.close();
  const answer = await who(`Bearer ${key}`);
  expect(answer.status).toBe(401);
  expect(answer.body.detail).toMatch(/revoked/);
});
