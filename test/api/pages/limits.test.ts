import { randomBytes } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { startApi } from '../api-under-test.ts';
import type { ApiUnderTest } from '../api-under-test.ts';

const keys = `k1:${randomBytes(32).toString('base64')}`;
const page = '/auth/connect?e=q1';
const home = '203.0.113.1';
const office = '203.0.113.2';

let api: ApiUnderTest;
afterEach(() => api.stop());

/** Behind a proxy of ours, so that tests come from where they like. */
async function start(perMinute: number): Promise<void> {
  api = await startApi({
    env: { INTERLUDE_KEYS: keys, RATE_LIMIT_PER_MINUTE: String(perMinute), TRUST_PROXY: '127.0.0.1' },
  });
}

function cookieOf(user: string, tenant = 'demo'): string {
  const session = { id: 'x', tenant, user, csrf: 'x', expiresAt: Date.now() + 60_000 };
  return `interlude-session=${parseKeys(keys).seal(JSON.stringify(session), 'interlude-session')}`;
}

async function get(url: string, from: string, cookie = '') {
  return api.app.inject({ url, headers: { 'x-forwarded-for': from, cookie } });
}

async function statuses(count: number, url: string, from: string, cookie?: string): Promise<number[]> {
  const seen = [];
  for (let round = 0; round < count; round += 1) seen.push((await get(url, from, cookie)).statusCode);
  return seen;
}

async function refusals() {
  const lines = await api.storage.audit.ofElicitation('');
  return lines.map(({ tenant, actor, detail, address }) => [tenant, actor, detail, address]);
}

test('an address that asks too often is told how long to wait, on a page; others are not held up', async () => {
  await start(3);
  expect(await statuses(6, page, home)).toEqual([303, 303, 303, 429, 429, 429]);
  const refused = await get(page, home);
  expect(refused.headers['content-type']).toContain('text/html');
  expect(refused.body).toContain('Too many tries');
  expect(refused.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(await statuses(1, page, office)).toEqual([303]);
  // Once, however often.
  await expect.poll(refusals).toEqual([['', null, 'too many requests', home]]);
});

test.each([
  '/auth/login/callback?state=x&code=y',
  '/auth/callback/x?state=x&code=y',
  '/auth/login?e=%00',
  '/connections',
])('so is whoever tries %s too often', async (url) => {
  await start(2);
  expect((await statuses(3, url, home)).slice(-1)).toEqual([429]);
});

test('all addresses of a signed-in person count together, and only theirs', async () => {
  await start(4);
  const alice = cookieOf('alice');
  expect(await statuses(2, page, home, alice)).toEqual([404, 404]);
  expect(await statuses(3, page, office, alice)).toEqual([404, 404, 429]);
  const refused = await get(page, '203.0.113.3', alice);
  expect(refused.statusCode).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(await refusals()).toEqual([['demo', 'alice', 'too many requests', office]]);

  expect(await statuses(1, page, '203.0.113.4', cookieOf('bob'))).toEqual([404]);
  expect(await statuses(1, page, '203.0.113.4', cookieOf('alice', 'acme'))).toEqual([404]);
});

test('a forged session is nobody’s, and uses up nobody’s requests', async () => {
  await start(2);
  const forged = `${cookieOf('alice').slice(0, -6)}AAAAAA`;
  expect(await statuses(2, page, home, forged)).toEqual([303, 303]);
  expect(await statuses(2, page, office, cookieOf('alice'))).toEqual([404, 404]);
});

test('strangers cannot fill the audit: the same from one address is one line a minute', async () => {
  await start(100);
  for (let round = 0; round < 20; round += 1) {
    await get(`/auth/callback/x?state=${round}`, home);
    await get(`/auth/connect?e=q1&returnUrl=https://evil-${round}.example`, home);
  }
  await get('/auth/callback/x?state=x', office);
  expect(await refusals()).toEqual([
    ['', null, 'a callback without a session', home],
    ['', null, 'a way back that is not allowed: evil-0.example', home],
    ['', null, 'a callback without a session', office],
  ]);
});
