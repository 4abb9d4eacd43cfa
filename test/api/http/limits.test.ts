import { afterEach, expect, test } from 'vitest';
import { createRefusalLimit } from '../../../src/api/http/limits.ts';
import { beginTurn, startApi } from '../api-under-test.ts';
import type { ApiUnderTest } from '../api-under-test.ts';

let api: ApiUnderTest;
afterEach(() => api?.stop());

test('an address that guesses keys is refused before the next key is looked at, whatever it presents', async () => {
  api = await startApi({ env: { RATE_LIMIT_PER_MINUTE: '3' } });
  const listing = { method: 'GET', url: '/run/v1/conversations' } as const;
  const guess = (remoteAddress: string) =>
    api.app.inject({
      ...listing,
      remoteAddress,
      headers: { authorization: `Bearer ilk_${'0'.repeat(16)}_${'a'.repeat(43)}` },
    });
  const statuses = [];
  for (let times = 0; times < 5; times++) statuses.push((await guess('10.0.0.1')).statusCode);
  expect(statuses).toEqual([401, 401, 401, 429, 429]);

  const refused = await api.send('alice', { ...listing, remoteAddress: '10.0.0.1' });
  expect([refused.statusCode, refused.json().code]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await guess('10.0.0.2')).statusCode).toBe(401);
  expect((await api.send('alice', { ...listing, remoteAddress: '10.0.0.2' })).statusCode).toBe(200);
});

test('refusals are forgotten after a minute, and addresses when there are too many', () => {
  let now = 0;
  const limit = createRefusalLimit(1, () => now);
  limit.count('a');
  expect(() => limit.check('a')).toThrow(/Wait 60 s/);
  now = 60_000;
  limit.check('a');

  limit.count('b');
  for (let n = 0; n < 10_000; n++) limit.count(`other ${n}`);
  limit.check('b');
});

test('the contract is no way to keep the service busy', async () => {
  api = await startApi({ env: { RATE_LIMIT_PER_MINUTE: '2' } });
  const statuses = [];
  for (let times = 0; times < 3; times++) statuses.push((await api.app.inject('/openapi.json')).statusCode);
  expect(statuses).toEqual([200, 200, 429]);
});

test('a user may keep so many streams open, and gets a place back with each that ends', async () => {
  api = await startApi({ env: { OPEN_REQUESTS_PER_USER: '3' } });
  const { conversation } = await beginTurn(api.storage, 'c1');
  const url = `${await api.app.listen({ port: 0, host: '127.0.0.1' })}/run/v1/conversations/${conversation}/events`;
  const open = async () => {
    const leave = new AbortController();
    const { status } = await fetch(url, { headers: api.headers('alice'), signal: leave.signal });
    return { status, leave: () => leave.abort() };
  };
  const streams = [await open(), await open(), await open()];
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await open()).status).toBe(429);
  expect((await api.send('bob', { method: 'GET', url: '/run/v1/conversations' })).statusCode).toBe(200);

  streams[0]?.leave();
  await expect.poll(open).toMatchObject({ status: 200 });
  expect((await open()).status).toBe(429);
});

test('one address may keep so many open, whoever its users are', async () => {
  api = await startApi({ env: { OPEN_REQUESTS_PER_ADDRESS: '1' } });
  const { conversation } = await beginTurn(api.storage, 'c1');
  const base = await api.app.listen({ port: 0, host: '127.0.0.1' });
  const stream = await fetch(`${base}/run/v1/conversations/${conversation}/events`, {
    headers: api.headers('alice'),
  });
  expect(stream.status).toBe(200);
  const refused = await fetch(`${base}/run/v1/conversations`, { headers: api.headers('service') });
  expect(refused.status).toBe(429);
  await stream.body?.cancel();
});
