import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { thisClient } from '@interlude-ai/core/contract/version.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { rateLimitKey } from '../../../src/service/principal.ts';
import { startApi } from '../api-under-test.ts';
import type { ApiUnderTest } from '../api-under-test.ts';

const stream = { method: 'GET', url: '/run/api/chat/none/stream' } as const;

describe('health', () => {
  let api: ApiUnderTest;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.stop());

  test('a process that runs is alive, whatever else is down', async () => {
    const response = await api.app.inject('/healthz');
    expect([response.statusCode, response.json()]).toEqual([200, { status: 'ok' }]);
  });

  test('without Temporal it is ready, because it accepts answers, and warns of it', async () => {
    const response = await api.app.inject('/readyz');
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({ status: 'ready', warnings: [{ name: 'temporal' }] });
  });

  test('a path that cannot be decoded is a problem document too', async () => {
    const response = await api.app.inject('/run/api/chat/%zz/stream');
    expect(response.headers['content-type']).toContain('application/problem+json');
    expect(response.statusCode).toBe(400);
  });

  test('so is one that is too long to be anything', async () => {
    const response = await api.app.inject(`/run/api/chat/${'a'.repeat(1_000)}/stream`);
    expect([response.statusCode, response.json().code]).toEqual([400, 'invalid_request']);
  });

  test.each([
    ['/nope', 404, 'There is no page here'],
    ['/run/api/nope', 404, 'There is no page here'],
    ['/auth/%zz', 400, 'This is not understood'],
  ])('%s is a page with a way on for a person at a browser', async (url, status, title) => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const page = await api.app.inject({ url, headers: { accept } });
    expect([page.statusCode, page.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8']);
    expect(page.body).toContain(`<title>${title}</title>`);
    expect(page.body).toContain(`href="${api.config.http.publicUrl}/"`);
    for (const other of ['*/*', 'application/json', 'application/json, text/html']) {
      const { headers } = await api.app.inject({ url, headers: { accept: other } });
      expect(headers['content-type']).toContain('application/problem+json');
    }
    const posted = await api.app.inject({ method: 'POST', url, headers: { accept } });
    expect(posted.headers['content-type']).toContain('application/problem+json');
  });

  test('a browser takes no response for another type, and no cache keeps one of the API', async () => {
    const responses = [
      await api.send('alice', { url: '/run/v1/conversations' }),
      await api.send('alice', { url: '/run/v1/conversations/none' }),
      await api.app.inject('/run/v1/conversations'),
      await api.send('alice', { method: 'POST', url: '/run/api/chat', payload: {} }),
    ];
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 404, 401, 400]);
    for (const { headers } of responses)
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
    for (const url of ['/openapi.json', '/nowhere', '/.well-known/agent-card.json', '/healthz'])
      expect((await api.app.inject(url)).headers['x-content-type-options']).toBe('nosniff');
  });

  test('the hosted pages are there', async () => {
    const response = await api.app.inject('/auth/connect');
    expect(response.headers['content-type']).toContain('text/html');
  });
});

test('over the limit a caller is told how long to wait, and others are not held up', async () => {
  const api = await startApi({ env: { RATE_LIMIT_PER_MINUTE: '2' } });
  const statuses = [];
  for (let round = 0; round < 3; round++) statuses.push((await api.send('alice', stream)).statusCode);
  expect(statuses).toEqual([204, 204, 429]);
  const refused = await api.send('alice', stream);
  expect(refused.json().code).toBe('rate_limited');
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await api.send('bob', stream)).statusCode).toBe(204);
  expect((await api.app.inject('/healthz')).statusCode).toBe(200);
  await api.stop();
});

test('whose limit it is cannot be mistaken, however users and tenants are called', () => {
  const one = rateLimitKey({ kind: 'user', tenant: 'a b', user: 'c' });
  expect(rateLimitKey({ kind: 'user', tenant: 'a', user: 'b c' })).not.toBe(one);
  expect(rateLimitKey({ kind: 'user', tenant: 'a b', user: 'c', name: 'Carol' })).toBe(one);
});

describe('versions of clients', () => {
  let api: ApiUnderTest;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.stop());

  const send = async (version?: string) => {
    const headers = version === undefined ? {} : { 'x-interlude-client': version };
    const response = await api.send('alice', { url: '/run/v1/conversations', headers });
    expect(response.headers['x-interlude-version']).toBe(packageJson.version);
    return response;
  };

  test.each([undefined, thisClient, '99.0.0; service=0.2.0', '0.2.0-beta.1; service=0.1.12'])(
    '%s is served',
    async (version) => {
      expect((await send(version)).statusCode).toBe(200);
    },
  );

  test.each([
    ['0.1.12; service=0.1.0', /0\.1\.12.*update @interlude-ai\/client/],
    ['0.12.0; service=0.10.0', /needs a service of version 0\.10\.0.*Update the service, or use a client of/],
  ])('%s is refused with what to update', async (version, words) => {
    const response = await send(version);
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({ code: 'version_mismatch', detail: expect.stringMatching(words) });
  });

  test.each(['', 'latest', '0.2.0', '0.2.0; service=0.2', `${'9'.repeat(5_000)}.0.0; service=0.2.0`])(
    'what is no version is a malformed request (%#)',
    async (version) => {
      const response = await send(version);
      expect(response.statusCode).toBe(400);
      expect(response.json()).toMatchObject({ errors: [{ pointer: '/x-interlude-client' }] });
    },
  );
});

test('a caller that takes for ever to send its request is not waited for', async () => {
  const api = await startApi();
  expect(api.app.server.requestTimeout).toBeGreaterThan(0);
  await api.stop();
});

test('while the database is away, a request is told so with 503', async () => {
  const api = await startApi();
  await api.storage.close();
  const response = await api.send('alice', stream);
  expect([response.statusCode, response.json().code]).toEqual([503, 'unavailable']);
  expect(response.json().detail).toContain('database');
  expect((await api.app.inject('/readyz')).json().notReady).toContainEqual(
    expect.objectContaining({ name: 'database' }),
  );
  await api.stop();
});

test('a client that writes its whole body before it reads is told why the body is refused', async () => {
  const api = await startApi();
  const url = new URL(await api.app.listen({ port: 0, host: '127.0.0.1' }));
  const refusals = [
    { path: '/run/api/chat', authorization: api.headers('alice').authorization, status: 413 },
    { path: '/run/api/chat', authorization: 'Bearer none', status: 401 },
    { path: '/run/v1/chat/completions', authorization: api.headers('alice').authorization, status: 413 },
  ];
  for (const { path, authorization, status } of refusals) {
    const answer = await writeThenRead(url, { path, authorization, bytes: 30_000_000 });
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  }
  await api.stop();
});

/** The first line of the answer, of which nothing is read before everything is written. */
async function writeThenRead(
  { hostname, port }: URL,
  { path, authorization, bytes }: { path: string; authorization: string; bytes: number },
): Promise<string> {
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, 'connect');
  socket.pause();
  socket.write(
    [
      `POST ${path} HTTP/1.1`,
      `host: ${hostname}`,
      `authorization: ${authorization}`,
      'content-type: application/json',
      `content-length: ${bytes}`,
      '\r\n',
    ].join('\r\n'),
  );
  const piece = Buffer.alloc(1_000_000, 'x');
  for (let sent = 0; sent < bytes; sent += piece.length)
    if (!socket.write(piece)) await once(socket, 'drain');
  const [first] = (await once(socket.resume(), 'data')) as [Buffer];
  socket.destroy();
  return first.toString().split('\r\n', 1)[0] ?? '';
}
