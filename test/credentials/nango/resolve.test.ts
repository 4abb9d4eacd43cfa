/** A token for a call: when Nango is asked for it, when it is not, and what its answers mean. */
import { expect, test } from 'vitest';
import type { ServerConfig } from '../../../src/platform/config/config.ts';
import { alice, bob, setUpNangoStore, credentialIn, failureOf, tokenIn } from './nango-store.ts';

const hour = 3_600_000;

test('whom nothing is known of is asked to connect, and Nango is not', async () => {
  const { resolve, nango, server } = await setUpNangoStore();
  server.nango = { integration: 'tracker', scopes: ['issues:read', 'offline_access'] };
  expect(await resolve()).toEqual({
    kind: 'connection-required',
    reason: 'missing',
    seenVersion: 0,
    scopes: ['issues:read'],
  });
  expect(nango.requests).toEqual([]);
});

test('a turn without a user gets nobody’s account', async () => {
  const { resolve, connect } = await setUpNangoStore();
  await connect();
  expect((await failureOf(resolve({ ...alice, user: null }))).message).toContain('needs a user');
});

test('a server for everybody needs no account, and one of the whole tenant has one', async () => {
  const { resolve, connect, server } = await setUpNangoStore();
  server.credentialScope = 'project';
  await connect({ key: { ...alice, user: null } });
  expect(await resolve()).toMatchObject({ kind: 'credential', version: 1 });
  expect(await resolve(bob)).toMatchObject({ kind: 'credential', version: 1 });
  server.credentialScope = 'none';
  expect(await resolve()).toEqual({ kind: 'credential', headers: {}, version: 0 });
});

test('a token is read once, however many calls need it at the same time, and kept until it is nearly over', async () => {
  const { resolve, connect, reads, later } = await setUpNangoStore({ tokenLifeMs: hour });
  await connect();
  const before = reads();
  const found = await Promise.all(Array.from({ length: 20 }, () => resolve()));
  expect(new Set(found.map(tokenIn)).size).toBe(1);
  expect(reads() - before).toBe(1);
  later(hour - 61_000);
  expect(tokenIn(await resolve())).toBe(tokenIn(await resolve()));
  expect(reads() - before).toBe(1);
  later(2_000);
  const renewed = tokenIn(await resolve());
  expect(renewed).not.toBe(found.map(tokenIn)[0]);
  expect(reads() - before).toBe(2);
});

test('a token of a very short life is kept for most of it', async () => {
  const { resolve, connect, reads, later } = await setUpNangoStore({
    tokenLifeMs: 30_000,
    refreshWithinMs: 5_000,
  });
  await connect();
  await resolve();
  const before = reads();
  later(15_000);
  await resolve();
  expect(reads()).toBe(before);
  later(6_000);
  await resolve();
  expect(reads()).toBe(before + 1);
});

test('a token that never ends is read again every five minutes', async () => {
  const { resolve, connect, reads, later } = await setUpNangoStore({ tokenLifeMs: null });
  await connect();
  await resolve();
  const before = reads();
  later(299_000);
  await resolve();
  expect(reads()).toBe(before);
  later(2_000);
  await resolve();
  expect(reads()).toBe(before + 1);
});

test('tokens are of one person and of one time they connected', async () => {
  const { resolve, connect, nango } = await setUpNangoStore();
  await connect();
  await connect({ key: bob, elicitationId: 'q2' }, 'bob');
  const [first, theirs] = [tokenIn(await resolve()), tokenIn(await resolve(bob))];
  expect(nango.provider.holder(first)?.person).toBe('alice');
  expect(nango.provider.holder(theirs)?.person).toBe('bob');
  await connect({ elicitationId: 'q3' }, 'bob');
  expect(nango.provider.holder(tokenIn(await resolve()))?.person).toBe('bob');
});

test('a disconnect in another process counts at once, though the token is still held', async () => {
  const { resolve, connect, another, server } = await setUpNangoStore();
  await connect();
  await resolve();
  const { store: other } = await another();
  await other.disconnect(alice, server);
  expect(await resolve()).toMatchObject({ reason: 'missing', seenVersion: 1 });
});

test.each<[string, (server: ServerConfig) => void]>([
  ['address', (server) => void (server.url = 'https://elsewhere.example/mcp')],
  ['integration', (server) => void (server.nango = { integration: 'notes' })],
])('a token does not go where another %s is configured by now', async (_, change) => {
  const { resolve, connect, server, storage, store } = await setUpNangoStore();
  await connect();
  await resolve();
  change(server);
  expect(await resolve()).toMatchObject({ kind: 'connection-required', reason: 'missing', seenVersion: 1 });
  const row = await storage.connections.get(alice);
  expect(row && store.statusOf(row, server)).toMatchObject({ status: 'broken', reason: 'server_changed' });
});

test('what another store keeps is not used, and a link that does not open asks nobody to connect', async () => {
  const { resolve, connect, storage } = await setUpNangoStore();
  await connect();
  const row = await storage.connections.get(alice);
  const kept = { account: null, scopes: [], freshUntil: null };
  await storage.connections.establish(bob, { ...kept, store: 'nango', sealed: row?.sealed ?? '' });
  expect((await failureOf(resolve(bob))).message).toContain('cannot be opened');
  await storage.connections.establish(bob, { ...kept, store: 'vault', sealed: row?.sealed ?? '' });
  expect(await resolve(bob)).toMatchObject({ reason: 'missing', seenVersion: 2 });
});

test('who has connected though nobody said so is not asked again', async () => {
  const { resolve, begin, visit } = await setUpNangoStore();
  const attempt = await begin();
  expect(await resolve()).toMatchObject({ reason: 'missing' });
  await visit(attempt);
  expect(await resolve()).toMatchObject({ kind: 'credential', version: 1 });
});

test('nobody is asked to connect because Nango is away while they may have connected', async () => {
  const { resolve, begin, visit, nango } = await setUpNangoStore();
  await visit(await begin());
  await nango.down();
  expect((await failureOf(resolve())).retryAfterMs).toBe(1_000);
  await nango.up();
  expect(await resolve()).toMatchObject({ kind: 'credential' });
});

test('a connection that Nango does not have any more is asked for again, and connecting brings it back', async () => {
  const { resolve, connect, nango } = await setUpNangoStore();
  await connect();
  nango.connections().splice(0);
  expect(await resolve()).toMatchObject({ reason: 'missing', seenVersion: 1 });
  await connect({ elicitationId: 'q2' });
  expect(await resolve()).toMatchObject({ kind: 'credential', version: 2 });
});

test('a token that is held is not used beyond its time if Nango has no such connection any more', async () => {
  const { resolve, connect, nango, later } = await setUpNangoStore({ tokenLifeMs: null });
  await connect();
  await resolve();
  nango.connections().splice(0);
  expect(await resolve()).toMatchObject({ kind: 'credential' });
  later(301_000);
  expect(await resolve()).toMatchObject({ reason: 'missing', seenVersion: 1 });
});

test('a Nango that is down, hangs or answers with too much is waited for, and a token that is held is used meanwhile', async () => {
  const { resolve, connect, nango, later, another, server } = await setUpNangoStore({ tokenLifeMs: hour });
  await connect();
  await resolve();
  const { store: fresh } = await another();
  await nango.down();
  expect(await failureOf(fresh.resolve(server, alice))).toMatchObject({ retryAfterMs: 1_000 });
  expect(await resolve()).toMatchObject({ kind: 'credential' });
  later(hour - 30_000);
  expect(await resolve()).toMatchObject({ kind: 'credential' });
  later(31_000);
  expect(await failureOf(resolve())).toMatchObject({ retryAfterMs: 1_000 });
  await nango.up();
  nango.hang = true;
  const { store: impatient } = await another({ timeoutMs: 500 });
  expect(await failureOf(impatient.resolve(server, alice))).toMatchObject({ retryAfterMs: 1_000 });
  nango.hang = false;
  expect(await resolve()).toMatchObject({ kind: 'credential', version: 1 });
});

test.each([
  [3, 3_000],
  [0, 1_000],
  [3_600, 60_000],
])('a Nango that has too much to do and says %i seconds is left alone for %i ms', async (seconds, ms) => {
  const { resolve, connect, nango } = await setUpNangoStore();
  await connect();
  nango.rateLimit(seconds);
  const failure = await failureOf(resolve());
  expect(failure.retryAfterMs).toBe(ms);
  expect(failure.message).toBe('Nango, which keeps the accounts of Tracker, has too much to do right now.');
});

test('a wrong key and a key that may too little are for operators, and nobody is asked', async () => {
  const { connect, another, nango, server, lines } = await setUpNangoStore();
  await connect();
  const config = {
    host: nango.host,
    publicUrl: nango.host,
    websocketsPath: '/',
    webhookSigningKey: undefined,
  };
  const keys = [
    'too short',
    '00000000-0000-4000-8000-000000000000',
    nango.keyFor('environment:connections:list'),
    nango.keyFor('environment:connections:read'),
  ];
  for (const apiKey of keys) {
    const { store } = await another({ nango: { ...config, apiKey } });
    const failure = await failureOf(store.resolve(server, alice));
    expect(failure.retryAfterMs).toBeUndefined();
    expect(failure.message).toContain('operator');
  }
  const errors = lines.map((line) => JSON.parse(line) as { level: number; status?: number; code?: string });
  expect(errors.filter(({ level }) => level === 50).map(({ status, code }) => [status, code])).toEqual([
    [401, 'invalid_secret_key_format'],
    [401, 'unknown_account'],
    [403, 'forbidden'],
    [undefined, undefined],
  ]);
});

test('an address that is not Nango’s is for operators, whatever answers there', async () => {
  const { connect, another, nango, server } = await setUpNangoStore();
  await connect();
  const config = { publicUrl: nango.host, websocketsPath: '/', webhookSigningKey: undefined, apiKey: 'x' };
  const { store } = await another({ nango: { ...config, host: `${nango.provider.origin}/nowhere` } });
  const failure = await failureOf(store.resolve(server, alice));
  expect(failure.retryAfterMs).toBeUndefined();
  expect(failure.message).toContain('operator');
});

test('a token that is no token of a header is not used', async () => {
  const { connect, resolve, nango } = await setUpNangoStore();
  await connect();
  const [connection] = nango.connections();
  if (connection) connection.credentials.accessToken = 'two\r\nlines';
  const failure = await failureOf(resolve());
  expect(failure.message).toContain('operator');
  expect(failure.message).not.toContain('lines');
});

test('a refusal that names a token can be told from others by it', async () => {
  const { connect, resolve } = await setUpNangoStore();
  await connect();
  const credential = credentialIn(await resolve());
  expect(credential.tokenId).toMatch(/^[\w-]{16}$/);
  expect(tokenIn(credential)).not.toContain(credential.tokenId ?? '');
});
