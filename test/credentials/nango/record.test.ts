/** Recording a connection made at Nango: its tags there decide whose it is, and it is recorded once, whichever source reports it. */
import { describe, expect, test } from 'vitest';
import { comeBack, decide, goToProvider } from '../../servers/nango/walk.ts';
import { alice, bob, connectedIn, setUpNangoStore, failureOf, tokenIn } from './nango-store.ts';

test('a connection is recorded with its account, its scopes and its question, and is new once', async () => {
  const { begin, visit, store, row, resolve, nango } = await setUpNangoStore();
  const attempt = await begin();
  expect(await store.look(attempt.id)).toEqual({ kind: 'nothing-yet' });
  const connectionId = await visit(attempt);
  const expected = {
    kind: 'connected',
    key: alice,
    elicitationId: 'q1',
    version: 1,
    actor: 'alice',
    account: 'alice@acme.test',
  };
  expect(await store.confirm(attempt.id, connectionId)).toEqual({ ...expected, isNew: true });
  expect(await store.confirm(attempt.id, connectionId)).toEqual({ ...expected, isNew: false });
  expect(await store.look(attempt.id)).toEqual({ ...expected, isNew: false });
  expect(await row()).toMatchObject({
    store: 'nango',
    status: 'active',
    account: 'alice@acme.test',
    scopes: ['issues:read', 'issues:write'],
  });
  expect(nango.provider.holder(tokenIn(await resolve()))).toMatchObject({ person: 'alice' });
});

test('a look finds a connection that nothing has reported', async () => {
  const { begin, visit, store } = await setUpNangoStore();
  const attempt = await begin();
  await visit(attempt);
  expect(await store.look(attempt.id)).toMatchObject({ kind: 'connected', version: 1, isNew: true });
  expect(await store.look(attempt.id)).toMatchObject({ kind: 'connected', version: 1, isNew: false });
});

test("somebody else's connection is not recorded, whoever says its id", async () => {
  const { begin, visit, connect, store, row } = await setUpNangoStore();
  const theirs = await connect({ key: bob, elicitationId: 'q2' }, 'bob');
  const attempt = await begin();
  expect(await store.confirm(attempt.id, theirs.connectionId)).toEqual({ kind: 'not-of-this-attempt' });
  const unrecorded = await visit(await begin({ key: bob, elicitationId: 'q3' }), 'bob');
  expect(await store.confirm(attempt.id, unrecorded)).toEqual({ kind: 'not-of-this-attempt' });
  expect(await row()).toBeNull();
});

test('an account connected through an attempt belongs to the attempt’s user, whoever reports it', async () => {
  const { begin, visit, store, row } = await setUpNangoStore();
  const mine = await begin();
  const theirs = await begin({ key: bob, elicitationId: 'q2' });
  const connectionId = await visit(theirs, 'bob');
  expect(await store.confirm(mine.id, connectionId)).toEqual({ kind: 'not-of-this-attempt' });
  expect(await store.confirm(theirs.id, connectionId)).toMatchObject({ kind: 'connected', key: bob });
  expect(await row()).toBeNull();
});

test.each([
  ['no such connection', '3b1f6f34-0000-4000-8000-000000000000'],
  ['an id that would lead elsewhere', '../integrations/tracker'],
  ['an id with a query in it', 'x?provider_config_key=notes'],
  ['nothing', ''],
  ['an endless id', 'a'.repeat(5_000)],
])('%s is not of this attempt', async (_, connectionId) => {
  const { begin, store, nango } = await setUpNangoStore();
  const attempt = await begin();
  expect(await store.confirm(attempt.id, connectionId)).toEqual({ kind: 'not-of-this-attempt' });
  expect(nango.requests.map(({ path }) => path).filter((path) => path.includes('integrations'))).toEqual([]);
});

test.each<[string, (tags: Record<string, string>) => Record<string, string>]>([
  ['wiped', () => ({})],
  ['without the installation', ({ interlude_attempt: attempt = '' }) => ({ interlude_attempt: attempt })],
  ['of another installation', (tags) => ({ ...tags, interlude_installation: 'another' })],
  ['of another attempt', (tags) => ({ ...tags, interlude_attempt: 'another' })],
])(
  'a connection whose tags are %s is not recorded, neither when reported nor when looked for',
  async (_, change) => {
    const { begin, visit, store, nango } = await setUpNangoStore();
    const attempt = await begin();
    const connectionId = await visit(attempt);
    const [connection] = nango.connections();
    if (connection) connection.tags = change(connection.tags);
    expect(await store.confirm(attempt.id, connectionId)).toEqual({ kind: 'not-of-this-attempt' });
    expect(await store.look(attempt.id)).toEqual({ kind: 'nothing-yet' });
    expect(nango.connections()).toHaveLength(1);
  },
);

test('tags that operators add do no harm', async () => {
  const { begin, visit, store, nango } = await setUpNangoStore();
  const attempt = await begin();
  const connectionId = await visit(attempt);
  Object.assign(nango.connections()[0]?.tags ?? {}, { team: 'blue' });
  expect(await store.confirm(attempt.id, connectionId)).toMatchObject({ kind: 'connected' });
});

test('a connection of another integration is not recorded', async () => {
  const { begin, visit, store, nango } = await setUpNangoStore();
  const attempt = await begin();
  const connectionId = await visit(attempt);
  const [connection] = nango.connections();
  if (connection) connection.integration = nango.otherIntegration;
  expect(await store.confirm(attempt.id, connectionId)).toEqual({ kind: 'not-of-this-attempt' });
  expect(await store.look(attempt.id)).toEqual({ kind: 'nothing-yet' });
});

test('what another installation began in the same environment is not ours', async () => {
  const { begin, visit, another } = await setUpNangoStore();
  const attempt = await begin();
  const connectionId = await visit(attempt);
  const { store } = await another({ publicUrl: 'https://elsewhere.example' });
  expect(await store.confirm(attempt.id, connectionId)).toEqual({ kind: 'not-of-this-attempt' });
  expect(await store.look(attempt.id)).toEqual({ kind: 'nothing-yet' });
});

test('attempts that nobody knows are said to be unknown', async () => {
  const { begin, visit, store, later, servers, server } = await setUpNangoStore();
  const attempt = await begin();
  const connectionId = await visit(attempt);
  expect(await store.confirm('invented', connectionId)).toEqual({ kind: 'unknown-attempt' });
  servers.delete(server.name);
  expect(await store.look(attempt.id)).toEqual({ kind: 'unknown-attempt' });
  servers.set(server.name, { ...server, store: 'oauth', nango: undefined });
  expect(await store.look(attempt.id)).toEqual({ kind: 'unknown-attempt' });
  servers.set(server.name, server);
  later(73 * 3_600_000);
  expect(await store.confirm(attempt.id, connectionId)).toEqual({ kind: 'unknown-attempt' });
  expect(await store.look(attempt.id)).toEqual({ kind: 'unknown-attempt' });
});

test('an account that is connected two days late is there for the next turn', async () => {
  const { begin, resolve, later, storage } = await setUpNangoStore();
  const there = await goToProvider((await begin()).pageUrl);
  expect(await resolve()).toMatchObject({ kind: 'connection-required', reason: 'missing', seenVersion: 0 });
  later(47 * 3_600_000);
  await comeBack(await decide(there), there);
  expect(await resolve()).toMatchObject({ kind: 'credential', version: 1 });
  await resolve();
  // No page was open to report it, so the call that found it has audited it, once.
  expect(await storage.audit.ofElicitation('q1')).toMatchObject([
    { tenant: 'acme', actor: 'alice', action: 'connected', detail: 'tracker', address: null },
  ]);
});

describe.each(['sqlite', 'postgres'] as const)('on %s', (database) => {
  test('page, webhook, look and catching up at once, in two processes, make one connection', async () => {
    const { begin, visit, store, catchUp, another, row, nango } = await setUpNangoStore({ database });
    const attempt = await begin();
    const connectionId = await visit(attempt);
    const { store: other } = await another();
    const caughtUp = Promise.all([catchUp(store), catchUp(other)]);
    const found = await Promise.all([
      store.confirm(attempt.id, connectionId),
      other.confirm(attempt.id, connectionId),
      store.look(attempt.id),
      other.look(attempt.id),
      store.confirm(attempt.id, connectionId),
      other.look(attempt.id),
    ]);
    await caughtUp;
    const reported = found.map(connectedIn);
    expect(reported.map(({ version }) => version)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(reported.filter(({ isNew }) => isNew).length).toBeLessThanOrEqual(1);
    expect(await row()).toMatchObject({ version: 1, account: 'alice@acme.test' });
    expect(nango.connections()).toHaveLength(1);
  });

  test('two accounts of two windows, reported at once to two processes: the newer one stays', async () => {
    const { begin, visit, store, another, row, nango, later } = await setUpNangoStore({ database });
    const attempt = await begin();
    const first = await visit(attempt, 'alice');
    later(5);
    const second = await visit(attempt, 'bob');
    const { store: other } = await another();
    await Promise.all([
      store.confirm(attempt.id, first),
      other.confirm(attempt.id, second),
      store.look(attempt.id),
      other.look(attempt.id),
    ]);
    expect(await row()).toMatchObject({ account: 'bob@acme.test' });
    expect(nango.connections().map(({ connectionId }) => connectionId)).toEqual([second]);
  });
});

test('of two accounts connected in two windows the newer one stays, and the other is ended at Nango', async () => {
  const { begin, visit, store, row, nango, later } = await setUpNangoStore();
  const attempt = await begin();
  const again = await begin();
  const first = await visit(attempt, 'alice');
  later(5);
  const second = await visit(again, 'bob');
  expect(await store.confirm(attempt.id, second)).toMatchObject({ version: 1, account: 'bob@acme.test' });
  expect(await store.confirm(attempt.id, first)).toMatchObject({
    kind: 'connected',
    version: 1,
    account: 'bob@acme.test',
    isNew: false,
  });
  expect(nango.connections().map(({ connectionId }) => connectionId)).toEqual([second]);
  expect(await row()).toMatchObject({ version: 1, account: 'bob@acme.test' });
});

test('the newer one wins in whatever order they are reported', async () => {
  const { begin, visit, store, row, nango, later } = await setUpNangoStore();
  const attempt = await begin();
  const first = await visit(attempt, 'alice');
  await store.confirm(attempt.id, first);
  later(5);
  const second = await visit(attempt, 'bob');
  expect(await store.look(attempt.id)).toMatchObject({ version: 2, account: 'bob@acme.test', isNew: true });
  expect(nango.connections().map(({ connectionId }) => connectionId)).toEqual([second]);
  expect(await store.look(attempt.id)).toMatchObject({ version: 2, isNew: false });
  expect(await row()).toMatchObject({ version: 2 });
});

test('of two connections of the same millisecond the one that was reported first stays', async () => {
  const { begin, visit, store, nango } = await setUpNangoStore();
  const attempt = await begin();
  const connectionIds = [await visit(attempt, 'alice'), await visit(attempt, 'bob')];
  const createdAt = Date.now();
  for (const connection of nango.connections()) connection.createdAt = connection.updatedAt = createdAt;
  for (const connectionId of connectionIds)
    expect(await store.confirm(attempt.id, connectionId)).toMatchObject({
      version: 1,
      account: 'alice@acme.test',
    });
});

test('two connections of the same millisecond are not new again and again', async () => {
  const { begin, visit, store, row, nango } = await setUpNangoStore();
  const attempt = await begin();
  await visit(attempt, 'alice');
  await visit(attempt, 'bob');
  const createdAt = Date.now();
  for (const connection of nango.connections()) connection.createdAt = createdAt;
  await store.look(attempt.id);
  expect(nango.connections()).toHaveLength(1);
  await store.look(attempt.id);
  expect(await row()).toMatchObject({ version: 1 });
});

test('duplicates stay where our key may not delete them, and that is tried once', async () => {
  const { begin, visit, nango, later, another, lines } = await setUpNangoStore();
  const apiKey = nango.keyFor(
    'environment:connect_sessions:write',
    'environment:connections:list',
    'environment:connections:read_credentials',
  );
  const config = {
    host: nango.host,
    publicUrl: nango.host,
    websocketsPath: '/',
    webhookSigningKey: undefined,
  };
  const { store } = await another({ nango: { ...config, apiKey } });
  const attempt = await begin();
  await visit(attempt);
  later(5);
  await visit(attempt);
  expect(await store.look(attempt.id)).toMatchObject({ kind: 'connected' });
  await store.look(attempt.id);
  await store.look(attempt.id);
  expect(nango.connections()).toHaveLength(2);
  expect(nango.count('DELETE', '/connections/*')).toBe(1);
  expect(lines.join('')).toContain('could not be ended');
});

test('connecting again counts as new, though the connection is the same', async () => {
  const { connect, begin, visit, store, storage, row } = await setUpNangoStore();
  const first = await connect();
  await storage.connections.markBroken(alice, 1, 'revoked');
  expect(await store.look(first.attempt.id)).toEqual({ kind: 'nothing-yet' });
  expect(await store.confirm(first.attempt.id, first.connectionId)).toEqual({ kind: 'nothing-yet' });
  const again = await begin({ elicitationId: 'q2' });
  expect(await store.look(again.id)).toEqual({ kind: 'nothing-yet' });
  const connectionId = await visit(again);
  expect(connectionId).toBe(first.connectionId);
  expect(await store.confirm(first.attempt.id, connectionId)).toEqual({ kind: 'not-of-this-attempt' });
  expect(await store.confirm(again.id, connectionId)).toMatchObject({ version: 2, isNew: true });
  expect(await row()).toMatchObject({ version: 2, status: 'active' });
});

test('connecting again in two windows, as two people: the account is whose it is now', async () => {
  const { connect, begin, visit, store, row, resolve, nango } = await setUpNangoStore();
  await connect();
  const again = await begin({ elicitationId: 'q2' });
  const inOtherWindow = await begin({ elicitationId: 'q2' });
  const connectionId = await visit(again, 'alice');
  expect(await store.confirm(again.id, connectionId)).toMatchObject({ version: 2 });
  await resolve();
  await visit(inOtherWindow, 'bob');
  expect(await store.confirm(again.id, connectionId)).toMatchObject({
    version: 3,
    account: 'bob@acme.test',
    isNew: true,
  });
  expect(await row()).toMatchObject({ version: 3, account: 'bob@acme.test' });
  expect(nango.provider.holder(tokenIn(await resolve()))).toMatchObject({ person: 'bob' });
});

test('an account that is disconnected while it is being connected stays away, and what came of it can be ended', async () => {
  const { begin, visit, store, server, row, nango } = await setUpNangoStore();
  const attempt = await begin();
  const connectionId = await visit(attempt);
  await store.disconnect(alice, server);
  expect(await store.confirm(attempt.id, connectionId)).toEqual({ kind: 'unknown-attempt' });
  expect(await row()).toBeNull();
  await store.discard('tracker', connectionId);
  expect(nango.connections()).toEqual([]);
});

test('a disconnect that comes first wins over what is about to be recorded', async () => {
  const { begin, visit, store, storage, row } = await setUpNangoStore();
  const attempt = await begin();
  const connectionId = await visit(attempt);
  const found = await storage.connections.withLock(alice, 1_000, async () => {
    const waiting = store.confirm(attempt.id, connectionId);
    // It knows the attempt by now, and waits for the lock.
    await storage.connectAttempts.get(attempt.id);
    await storage.connectAttempts.dropOf(alice);
    return [waiting];
  });
  expect(await found[0]).toEqual({ kind: 'unknown-attempt' });
  expect(await row()).toBeNull();
});

test('what is recorded stays recorded while Nango is away; what is not has to wait', async () => {
  const { connect, begin, visit, store, nango } = await setUpNangoStore();
  const { attempt, connectionId } = await connect();
  const next = await begin({ elicitationId: 'q2' });
  const again = await visit(next);
  await nango.down();
  expect(await store.confirm(attempt.id, connectionId)).toMatchObject({ kind: 'connected', version: 1 });
  expect((await failureOf(store.confirm(next.id, again))).retryAfterMs).toBe(1_000);
  expect((await failureOf(store.look(next.id))).retryAfterMs).toBe(1_000);
  await nango.up();
  expect(await store.look(next.id)).toMatchObject({ kind: 'connected', version: 2, isNew: true });
});

test('an account without a name is recorded all the same, and so is one whose credentials we may not read', async () => {
  const { begin, visit, nango, another } = await setUpNangoStore();
  nango.provider.idTokens = false;
  const config = {
    host: nango.host,
    publicUrl: nango.host,
    websocketsPath: '/',
    webhookSigningKey: undefined,
  };
  const apiKey = nango.keyFor(
    'environment:connect_sessions:write',
    'environment:connections:list',
    'environment:connections:read',
  );
  const { store } = await another({ nango: { ...config, apiKey } });
  const attempt = await begin();
  const connectionId = await visit(attempt);
  expect(await store.confirm(attempt.id, connectionId)).toMatchObject({ kind: 'connected', account: null });
});

test('catching up asks Nango nothing where no attempt is open', async () => {
  const { store, catchUp, nango } = await setUpNangoStore();
  await catchUp(store);
  expect(nango.requests).toEqual([]);
});
