/** The headers that browsers get for pages of other origins. */
import fastify from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { warnOfForeignPages } from '../../../src/api/http/origins.ts';
import { startApi } from '../api-under-test.ts';
import type { ApiUnderTest } from '../api-under-test.ts';

const page = 'https://app.example';

let api: ApiUnderTest;
let plain: ApiUnderTest;
beforeAll(async () => {
  [api, plain] = await Promise.all([
    startApi({
      env: { CORS_ORIGINS: `${page}, http://localhost:5173`, TEMPORAL_UI_URL: 'http://localhost:8233' },
    }),
    startApi(),
  ]);
});
afterAll(() => Promise.all([api.stop(), plain.stop()]));

function preflight({ app }: ApiUnderTest, origin: string) {
  const asked = 'authorization,content-type,x-supports-elicitation,idempotency-key';
  return app.inject({
    method: 'OPTIONS',
    url: '/run/api/chat',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
  });
}

describe('a page whose origin is named', () => {
  test.each([page, 'http://localhost:5173'])(
    '%s may send what clients send, without a token at first',
    async (origin) => {
      const response = await preflight(api, origin);
      expect(response.statusCode).toBe(204);
      expect(response.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST, DELETE',
        'access-control-allow-headers': 'authorization,content-type,x-supports-elicitation,idempotency-key',
        vary: expect.stringContaining('Origin'),
      });
      expect(response.headers).not.toHaveProperty('access-control-allow-credentials');
    },
  );

  test('can read what it gets, and the headers that clients go by', async () => {
    const response = await api.send('alice', { url: '/run/v1/conversations', headers: { origin: page } });
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': page,
      'access-control-expose-headers':
        'x-conversation-id, x-turn-id, x-interlude-warning, x-interlude-version, retry-after, date, www-authenticate, mcp-session-id',
    });
  });

  test('can read why it was refused', async () => {
    const response = await api.app.inject({ url: '/run/v1/conversations', headers: { origin: page } });
    expect(response.statusCode).toBe(401);
    expect(response.headers['access-control-allow-origin']).toBe(page);
    expect(response.json()).toMatchObject({ code: 'unauthenticated' });
  });

  test('has nothing to read on the pages for people', async () => {
    const response = await api.app.inject({ url: '/auth/connect?e=x', headers: { origin: page } });
    expect(response.headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('any other page', () => {
  test.each(['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null'])(
    'of %s is not allowed in',
    async (origin) => {
      const response = await api.send('alice', { url: '/run/v1/conversations', headers: { origin } });
      expect(response.headers).not.toHaveProperty('access-control-allow-origin');
      expect((await preflight(api, origin)).headers).not.toHaveProperty('access-control-allow-origin');
    },
  );

  test('is not allowed in where no origin is named', async () => {
    const response = await plain.send('alice', { url: '/run/v1/conversations', headers: { origin: page } });
    expect(response.statusCode).toBe(200);
    expect(response.headers).not.toHaveProperty('access-control-allow-origin');
    expect((await preflight(plain, page)).statusCode).toBe(404);
  });

  test('is named in the log, once', async () => {
    const lines: string[] = [];
    const logger = pino({}, { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) });
    const names = { publicUrl: 'https://own.example', allowedHosts: [], corsOrigins: [page] };
    await using app = fastify();
    warnOfForeignPages(app, names, logger);
    for (const origin of [page, 'https://own.example', 'http://localhost:8090', 'http://localhost:8090']) {
      const headers = { origin, 'access-control-request-method': 'POST' };
      await app.inject({ method: 'OPTIONS', url: '/run/api/chat', headers });
    }
    expect(lines).toEqual([
      'pages of http://localhost:8090 may not call this service; CORS_ORIGINS names those that may',
    ]);
  });
});
