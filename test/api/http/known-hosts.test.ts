/** A page that makes its own name mean our address (DNS rebinding) is refused by the name it uses. */
import { request } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startIdentityProvider } from '../../../demo/identity.ts';
import { startHostCheckingProxy } from '../../../src/platform/development/temporal-server.ts';
import { isKnownHost } from '../../../src/platform/network/addresses.ts';
import { freePort } from '../../free-port.ts';
import { startApi } from '../api-under-test.ts';
import type { ApiUnderTest } from '../api-under-test.ts';

const known = ['localhost:3000', 'LOCALHOST', 'x.localhost:1', '127.0.0.1:3000', '[::1]:3000', '10.1.2.3:80'];
const strange = [
  'evil.example',
  'evil.example:3000',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'a b',
  '',
];

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startApi({
    env: { PUBLIC_URL: 'https://Agents.example', ALLOWED_HOSTS: 'api, interlude.internal' },
  });
});
afterAll(() => api.stop());

test.each(known)('%s is this machine, or an address that no page can take', (host) =>
  expect(isKnownHost(host)).toBe(true),
);
test.each(strange)('"%s" is not', (host) => expect(isKnownHost(host)).toBe(false));

describe('the API', () => {
  const statusAs = async (host: string, url = '/healthz') =>
    (await api.app.inject({ url, headers: { host } })).statusCode;

  test.each(['agents.example', 'agents.example:443', 'api:3000', 'interlude.internal', ...known])(
    'answers as %s',
    async (host) => expect(await statusAs(host)).toBe(200),
  );

  test.each(['/healthz', '/run/v1/models', '/openapi.json', '/nowhere'])(
    'refuses a name that is not its own at %s, and says which setting knows more',
    async (url) => {
      const response = await api.app.inject({
        url,
        headers: { ...api.headers('alice'), host: 'evil.example' },
      });
      expect(response.statusCode).toBe(421);
      expect(response.headers['content-type']).toContain('application/problem+json');
      expect(response.json()).toMatchObject({
        code: 'unknown_host',
        detail: expect.stringContaining('ALLOWED_HOSTS'),
      });
    },
  );
});

test.each(['/connections', '/auth/connect', '/widget.js'])('%s is no page of such a name', async (url) => {
  const response = await api.app.inject({ url, headers: { host: 'evil.example' } });
  expect(response.statusCode).toBe(421);
});

function statusOf(port: number, pathname: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: pathname, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once('error', reject)
      .end();
  });
}

test('the demo identity provider gives its tokens to no such page', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'interlude-hosts-'));
  const provider = await startIdentityProvider({ port: 0, dataDir, redirectUris: ['http://localhost/back'] });
  const port = Number(new URL(provider.issuer).port);
  const metadata = '/.well-known/openid-configuration';
  expect(await statusOf(port, metadata, `127.0.0.1:${port}`)).toBe(200);
  expect(await statusOf(port, metadata, `evil.example:${port}`)).toBe(421);
  expect(await statusOf(port, '/interaction/x', 'evil.example')).toBe(421);
  await provider.stop();
  await rm(dataDir, { recursive: true });
});

test('what stands behind the checking proxy hears of no such page, and nobody waits for a server that is away', async () => {
  const [port, behind] = [await freePort(), await freePort()];
  const proxy = await startHostCheckingProxy(
    { host: '127.0.0.1', port },
    { host: '127.0.0.1', port: behind },
  );
  expect(await statusOf(port, '/', 'localhost')).toBe(502);
  expect(await statusOf(port, '/', 'evil.example')).toBe(421);
  await proxy.stop();
});
