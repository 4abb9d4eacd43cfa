/** What was measured of Nango's REST side and takes a knob of the double to see; see contract.test.ts for the rest. */
import { Nango } from '@nangohq/node';
import { beforeEach, expect, test } from 'vitest';
import { startNangoDouble } from './nango-double.ts';
import { refusalOf as refusal } from './nango-under-test.ts';
import type { NangoDouble } from './nango-double.ts';
import { connectPage, walkThrough } from './walk.ts';

let double: NangoDouble;
let nango: Nango;

beforeEach(async () => {
  double = await startNangoDouble();
  nango = new Nango({ host: double.host, apiKey: double.apiKey });
});

async function connect(tags: Record<string, string> = { attempt: 'one' }): Promise<string> {
  const { data } = await nango.createConnectSession({ tags, allowed_integrations: ['tracker'] });
  await walkThrough(connectPage(double.host, 'tracker', data.token));
  return newest();
}

function newest(): string {
  const { connectionId } = double.connections().at(-1) ?? {};
  if (connectionId === undefined) throw new Error('nothing is connected');
  return connectionId;
}

test('a session ends after half an hour', async () => {
  const { data } = await nango.createConnectSession({ tags: { attempt: 'one' } });
  double.advance(30 * 60_000);
  const page = await fetch(connectPage(double.host, 'tracker', data.token), { redirect: 'manual' });
  expect(page.status).toBe(401);
});

test('the wait after a refused refresh is over after half a minute', async () => {
  const connectionId = await connect();
  const token = await nango.getToken('tracker', connectionId);
  double.failRefresh('outage');
  await refusal(nango.getConnection('tracker', connectionId, true));
  double.advance(29_000);
  expect(await refusal(nango.getConnection('tracker', connectionId))).toMatchObject({ status: 424 });
  double.advance(1_000);
  expect(await nango.getToken('tracker', connectionId)).toBe(token);
});

test('credentials are for keys that may read them', async () => {
  const connectionId = await connect();
  const read = await nango.getConnection('tracker', connectionId);
  expect(read.credentials).toMatchObject({
    type: 'OAUTH2',
    access_token: expect.stringMatching(/^acme-access-/),
  });
  expect(read.credentials).not.toHaveProperty('refresh_token');
  expect(read).toMatchObject({ connection_id: connectionId, provider_config_key: 'tracker', errors: [] });

  const reader = new Nango({
    host: double.host,
    apiKey: double.keyFor('environment:connections:list', 'environment:connections:read'),
  });
  expect((await reader.getConnection('tracker', connectionId)).credentials).toEqual({});
  expect(await refusal(reader.getConnection('tracker', connectionId, true))).toMatchObject({ status: 403 });
  expect(await refusal(reader.deleteConnection('tracker', connectionId))).toMatchObject({ status: 403 });
  expect(await refusal(reader.createConnectSession({ tags: { a: 'b' } }))).toMatchObject({
    status: 403,
    error: { code: 'forbidden' },
  });
  expect(double.requests.at(-1)).toMatchObject({
    method: 'POST',
    key: expect.stringContaining('connections:list'),
  });
});

test('a token is renewed on reading when less than a quarter of an hour is left, and on demand', async () => {
  const connectionId = await connect();
  const first = await nango.getToken('tracker', connectionId);
  expect(await nango.getToken('tracker', connectionId)).toBe(first);
  double.advance(46 * 60_000);
  const second = await nango.getToken('tracker', connectionId);
  expect(second).not.toBe(first);
  expect(await nango.getToken('tracker', connectionId)).toBe(second);
  const [third, same] = await Promise.all([
    nango.getToken('tracker', connectionId, true),
    nango.getToken('tracker', connectionId, true),
  ]);
  expect(third).not.toBe(second);
  expect(same).toBe(third);
  expect(double.provider.tokenRequests.filter(({ grantType }) => grantType === 'refresh_token')).toHaveLength(
    2,
  );
});

test('a token that lives for ten minutes is renewed on every read, one that never ends on none', async () => {
  double.tokenLifeMs = 600_000;
  const short = await connect();
  expect(await nango.getToken('tracker', short)).not.toBe(await nango.getToken('tracker', short));
  double.tokenLifeMs = null;
  const endless = await connect();
  const { credentials } = await nango.getConnection('tracker', endless);
  expect(credentials).not.toHaveProperty('expires_at');
  double.provider.revoke('alice');
  expect(await nango.getToken('tracker', endless)).toBe(await nango.getToken('tracker', endless));
});

test('after four days of failures nothing helps but to connect anew', async () => {
  const connectionId = await connect();
  double.exhaust(connectionId);
  double.advance(3_600_000);
  expect(await refusal(nango.getConnection('tracker', connectionId))).toMatchObject({ status: 424 });
  const { data } = await nango.createReconnectSession({
    connection_id: connectionId,
    integration_id: 'tracker',
  });
  await walkThrough(connectPage(double.host, 'tracker', data.token));
  expect(await nango.getToken('tracker', connectionId)).toMatch(/^acme-access-/);
});

test('a limit of requests is told with how long to wait', async () => {
  const limited = await startNangoDouble({ requestsPerMinute: 2 });
  const client = new Nango({ host: limited.host, apiKey: limited.apiKey });
  await client.listConnections({});
  await client.listConnections({});
  const refused = await refusal(client.listConnections({}));
  expect(refused).toMatchObject({ status: 429, error: { code: 'too_many_request' } });
  expect(Number((refused.headers as Record<string, string>)['retry-after'])).toBeGreaterThan(0);
  double.rateLimit(7);
  expect((await refusal(nango.listConnections({}))).headers).toMatchObject({ 'retry-after': '7' });
  double.rateLimit(null);
  await nango.listConnections({});
});

test('while it is down connections are refused; afterwards all is as before', async () => {
  const connectionId = await connect();
  await double.down();
  // A client may first meet the end of a connection that it had kept.
  await nango.listConnections({}).catch(() => undefined);
  await expect(nango.listConnections({})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await double.up();
  expect((await nango.getConnection('tracker', connectionId)).connection_id).toBe(connectionId);
});

test('while it hangs nothing is answered', async () => {
  double.hang = true;
  nango.http.defaults.timeout = 200;
  await expect(nango.listConnections({})).rejects.toMatchObject({ code: 'ECONNABORTED' });
  double.hang = false;
  await nango.listConnections({});
});
