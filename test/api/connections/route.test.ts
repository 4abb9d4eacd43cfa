/** Who sees which connections, and who may end them, over HTTP. */
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConnectionListSchema, DisconnectedSchema } from '@interlude-ai/core/contract/connections.ts';
import { loadOrCreateKeys } from '../../../src/credentials/sealing/key-file.ts';
import type { ConnectionKey } from '../../../src/storage/schema/account-tables.ts';
import { startApi } from '../api-under-test.ts';
import type { ApiUnderTest, Who } from '../api-under-test.ts';
import { putAccount } from './accounts.ts';

const agentsFile = fileURLToPath(new URL('../../fixtures/connections-agents.yaml', import.meta.url));

let api: ApiUnderTest;
beforeEach(async () => {
  const operatorIsBob = { AUTH_OPERATOR_CLAIM: 'sub', AUTH_OPERATOR_ROLE: 'bob' };
  api = await startApi({ env: { INTERLUDE_CONFIG: agentsFile, ...operatorIsBob } });
});
afterEach(() => api.stop());

const alices = (server: string) => ({ tenant: 'demo', server, user: 'alice' });
const shared = { tenant: 'demo', server: 'billing', user: null };

async function put(key: ConnectionKey, serverUrl = `http://127.0.0.1:9/${key.server}`): Promise<void> {
  await putAccount(
    { storage: api.storage, keys: await loadOrCreateKeys(api.config.dataDir) },
    { key, serverUrl },
  );
}

async function list(who: Who) {
  const response = await api.send(who, { url: '/run/v1/connections' });
  expect(response.statusCode).toBe(200);
  return ConnectionListSchema.parse(response.json());
}

const summary = ({ items }: Awaited<ReturnType<typeof list>>) =>
  items.map(({ server, scope, status, reason }) => [server, scope, status, ...(reason ? [reason] : [])]);

const disconnect = (who: Who, server: string, scope = '') =>
  api.send(who, { method: 'DELETE', url: `/run/v1/connections/${encodeURIComponent(server)}${scope}` });

test('what is connected is listed with what is missing, in the order of the agents file', async () => {
  await put(alices('wiki'));
  const before = new Date(Date.now() - 60_000).toISOString();
  const { items, next } = await list('alice');
  expect(next).toBeNull();
  expect(items).toEqual([
    {
      server: 'tracker',
      serverTitle: 'Tracker',
      host: '127.0.0.1:9',
      scope: 'user',
      status: 'missing',
      account: null,
      scopes: [],
      connectedAt: null,
    },
    {
      server: 'wiki',
      serverTitle: 'Wiki',
      host: '127.0.0.1:9',
      scope: 'user',
      status: 'active',
      account: 'alice@example.com',
      scopes: ['issues:read', 'offline_access'],
      connectedAt: expect.any(String),
    },
    expect.objectContaining({ server: 'billing', scope: 'project', status: 'missing' }),
  ]);
  expect(items[1]?.connectedAt && items[1].connectedAt > before).toBe(true);
});

test('no token is ever in the list', async () => {
  await put(alices('wiki'));
  const { body } = await api.send('alice', { url: '/run/v1/connections' });
  expect(body).not.toMatch(/token|sealed|v1\./);
});

test('what does not work says why, and so does what is connected for a server that is gone', async () => {
  await put(alices('wiki'));
  await api.storage.connections.markBroken(alices('wiki'), 1, 'revoked');
  await put(alices('tracker'), 'http://elsewhere.example:8080/mcp');
  await put(alices('left'), 'http://left.example/mcp');
  await put(alices('billing'), 'http://127.0.0.1:9/billing');
  expect(summary(await list('alice'))).toEqual([
    ['tracker', 'user', 'broken', 'server_changed'],
    ['wiki', 'user', 'broken', 'revoked'],
    ['billing', 'project', 'missing'],
    // Connected when each user still had an own account here.
    ['billing', 'user', 'broken', 'server_changed'],
    ['left', 'user', 'broken', 'server_changed'],
  ]);
  const { items } = await list('alice');
  expect(items.at(-1)).toMatchObject({ serverTitle: 'left', host: 'left.example' });
});

test('everybody sees their own, users the shared ones as well, and services those alone', async () => {
  await put(alices('wiki'));
  await put(shared);
  const nobodys = [
    ['tracker', 'user', 'missing'],
    ['wiki', 'user', 'missing'],
  ];
  expect(summary(await list('bob'))).toEqual([...nobodys, ['billing', 'project', 'active']]);
  expect(summary(await list('service'))).toEqual([['billing', 'project', 'active']]);
  expect(summary(await list('stranger'))).toEqual([['billing', 'project', 'missing']]);
});

test('a user ends their own connection, and only that; again is the same answer', async () => {
  await put(alices('wiki'));
  await put({ ...alices('wiki'), user: 'bob' });
  await put({ ...alices('wiki'), tenant: 'another-tenant' });
  const first = await disconnect('alice', 'wiki');
  expect([first.statusCode, DisconnectedSchema.parse(first.json())]).toEqual([
    200,
    { server: 'wiki', revokedAtProvider: false },
  ]);
  const again = await disconnect('alice', 'wiki');
  expect([again.statusCode, again.json()]).toEqual([200, { server: 'wiki', revokedAtProvider: null }]);
  expect(await api.storage.connections.get(alices('wiki'))).toBeNull();
  for (const key of [
    { ...alices('wiki'), user: 'bob' },
    { ...alices('wiki'), tenant: 'another-tenant' },
  ])
    expect(await api.storage.connections.get(key)).toMatchObject({ status: 'active' });
  expect(await api.storage.audit.ofElicitation('')).toMatchObject([
    {
      tenant: 'demo',
      actor: 'alice',
      action: 'disconnected',
      detail: 'wiki: not revoked at its provider',
      address: '127.0.0.1',
    },
  ]);
});

test('a shared account is for operators to end: users and services are refused, and it is audited', async () => {
  await put(shared);
  for (const who of ['alice', 'service'] as const)
    for (const scope of ['', '?scope=user', '?scope=project']) {
      const response = await disconnect(who, 'billing', scope);
      expect([who, scope, response.statusCode, response.json().code]).toEqual([who, scope, 403, 'forbidden']);
    }
  expect(await api.storage.connections.get(shared)).toMatchObject({ status: 'active' });
  const audit = await api.storage.audit.ofElicitation('');
  expect(audit).toHaveLength(6);
  expect(new Set(audit.map(({ action }) => action))).toEqual(new Set(['refused']));
  expect(audit.at(-1)?.detail).toMatch(/^billing: disconnecting a shared account \(key /);

  // Bob is an operator, and says which of two accounts he means.
  const vague = await disconnect('bob', 'billing');
  expect([vague.statusCode, vague.json().detail]).toEqual([400, expect.stringContaining('scope=project')]);
  const ended = await disconnect('bob', 'billing', '?scope=project');
  expect([ended.statusCode, ended.json()]).toEqual([200, { server: 'billing', revokedAtProvider: false }]);
  expect(await api.storage.connections.get(shared)).toBeNull();
});

test('as whom a shared account is connected, operators see and nobody else', async () => {
  await put(shared);
  for (const who of ['alice', 'service'] as const) {
    const { items } = await list(who);
    expect(items.find(({ server }) => server === 'billing')).toMatchObject({
      status: 'active',
      account: null,
      scopes: [],
    });
  }
  const { items } = await list('bob');
  expect(items.find(({ server }) => server === 'billing')).toMatchObject({ account: 'alice@example.com' });
});

test('a service ends nobody’s own account, and no other tenant’s', async () => {
  await put(alices('wiki'));
  await put(shared);
  const response = await disconnect('service', 'wiki');
  expect([response.statusCode, response.json().code]).toEqual([404, 'unknown_server']);
  expect((await disconnect('stranger', 'billing', '?scope=project')).statusCode).toBe(403);
  expect(await api.storage.connections.get(alices('wiki'))).toMatchObject({ status: 'active' });
  expect(await api.storage.connections.get(shared)).toMatchObject({ status: 'active' });
});

test('what was connected for a server that is gone, or is shared by now, can still be ended', async () => {
  await put(alices('left'), 'http://127.0.0.1:9/left');
  await put(alices('billing'));
  await put(shared);
  expect((await disconnect('alice', 'left')).statusCode).toBe(200);
  expect((await disconnect('alice', 'billing')).statusCode).toBe(200);
  expect(await api.storage.connections.list(alices(''))).toEqual([]);
  expect(await api.storage.connections.get(shared)).toMatchObject({ status: 'active' });
});

test.each(['unknown', 'open'])('there is no connection to %j', async (name) => {
  const response = await disconnect('alice', name);
  expect([response.statusCode, response.json().code]).toEqual([404, 'unknown_server']);
  expect(await api.storage.audit.ofElicitation('')).toEqual([]);
});

test('the page has the same limit for each address as the other pages', async () => {
  await api.stop();
  api = await startApi({ env: { INTERLUDE_CONFIG: agentsFile, RATE_LIMIT_PER_MINUTE: '2' } });
  const open = () => api.app.inject('/connections');
  expect([(await open()).statusCode, (await open()).statusCode]).toEqual([303, 303]);
  const third = await open();
  expect([third.statusCode, Number(third.headers['retry-after']) > 0]).toEqual([429, true]);
  expect(third.body).toContain('Too many tries');
});

test('nobody is anonymous, and a name that cannot be one is not looked for', async () => {
  for (const method of ['GET', 'DELETE'] as const) {
    const url = method === 'GET' ? '/run/v1/connections' : '/run/v1/connections/tracker';
    expect((await api.app.inject({ method, url })).statusCode).toBe(401);
  }
  for (const name of ['\u0000', '../tracker', 'tracker ', 'Tracker', 'x'.repeat(33)])
    expect((await disconnect('alice', name)).json()).toMatchObject({ code: 'invalid_request' });
});
