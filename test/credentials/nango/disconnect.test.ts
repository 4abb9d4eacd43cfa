/** The end of a connection: of one that is not wanted any more, and of one that nobody knows. */
import { expect, test } from 'vitest';
import { alice, setUpNangoStore, failureOf } from './nango-store.ts';

test('disconnecting forgets the account here and at Nango, and everything that could still come of it', async () => {
  const { connect, begin, store, storage, server, row, nango, resolve } = await setUpNangoStore();
  await connect();
  await begin({ elicitationId: 'q2' });
  expect(await store.disconnect(alice, server)).toEqual({
    kind: 'removed',
    revocation: { kind: 'not-offered' },
  });
  expect(nango.connections()).toEqual([]);
  expect(await row()).toBeNull();
  expect(await storage.connectAttempts.openOf(alice)).toEqual([]);
  expect(await resolve()).toMatchObject({ reason: 'missing', seenVersion: 1 });
  expect(await store.disconnect(alice, server)).toEqual({ kind: 'nothing-there' });
});

test('it also does so for a server that the configuration does not have any more', async () => {
  const { connect, store, nango } = await setUpNangoStore();
  await connect();
  expect(await store.disconnect(alice, undefined)).toMatchObject({ kind: 'removed' });
  expect(nango.connections()).toEqual([]);
});

test('an account that Nango has forgotten already is disconnected', async () => {
  const { connect, store, server, nango } = await setUpNangoStore();
  await connect();
  nango.connections().splice(0);
  expect(await store.disconnect(alice, server)).toMatchObject({ revocation: { kind: 'not-offered' } });
});

test('while Nango is away the account is disconnected here, and what is left there is said', async () => {
  const { connect, store, server, nango, row } = await setUpNangoStore();
  await connect();
  await nango.down();
  expect(await store.disconnect(alice, server)).toEqual({
    kind: 'removed',
    revocation: {
      kind: 'failed',
      reason: 'Nango, which keeps the accounts of Tracker, cannot be reached right now.',
    },
  });
  expect(await row()).toBeNull();
});

test('a connection of ours whose attempt is dropped is ended', async () => {
  const { begin, visit, storage, store, nango } = await setUpNangoStore();
  const connectionId = await visit(await begin());
  await storage.connectAttempts.dropOf(alice);
  await store.discard('tracker', connectionId);
  expect(nango.connections()).toEqual([]);
});

test.each<[string, Record<string, string>]>([
  ['without tags', {}],
  ['of other tags', { elicitation_id: 'theirs' }],
  ['of another installation', { interlude_installation: 'another', interlude_attempt: 'unknown' }],
])('a connection %s is not ours to end', async (_, tags) => {
  const { store, nango } = await setUpNangoStore();
  const connectionId = await nango.importConnection('bob', tags);
  await store.discard('tracker', connectionId);
  expect(nango.connections()).toHaveLength(1);
  expect(nango.count('DELETE', '/connections/*')).toBe(0);
});

test('a connection whose attempt is known is not ended, recorded or not', async () => {
  const { begin, visit, store, nango } = await setUpNangoStore();
  const connectionId = await visit(await begin());
  await store.discard('tracker', connectionId);
  expect(nango.connections()).toHaveLength(1);
});

test('a connection in use is not ended once its attempt is forgotten, though an old webhook comes again', async () => {
  const { connect, store, nango, later, resolve } = await setUpNangoStore();
  const { connectionId } = await connect();
  later(80 * 3_600_000);
  await store.discard('tracker', connectionId);
  expect(nango.connections()).toHaveLength(1);
  expect(await resolve()).toMatchObject({ kind: 'credential' });
});

test('nothing is ended that does not exist, and an id that would lead elsewhere leads nowhere', async () => {
  const { store, nango } = await setUpNangoStore();
  await store.discard('tracker', '3b1f6f34-0000-4000-8000-000000000000');
  await store.discard('tracker', '../integrations/tracker');
  expect(nango.count('DELETE', '/*')).toBe(0);
});

test('while Nango is away a connection cannot be ended, and that is said', async () => {
  const { store, nango } = await setUpNangoStore();
  await nango.down();
  expect((await failureOf(store.discard('tracker', 'some-connection'))).retryAfterMs).toBe(1_000);
});

test('what a connection is worth is told without Nango', async () => {
  const { connect, store, storage, server, row, nango, keys } = await setUpNangoStore();
  await connect();
  const before = nango.requests.length;
  const standing = async () => {
    const found = await row();
    return found && store.statusOf(found, server);
  };
  expect(await standing()).toEqual({ host: 'tracker.example', status: 'active' });
  await storage.connections.markBroken(alice, 1, 'revoked');
  expect(await standing()).toEqual({ host: 'tracker.example', status: 'broken', reason: 'revoked' });
  const found = await row();
  expect(found && store.statusOf(found, undefined)).toMatchObject({ reason: 'server_changed' });
  expect(found && store.statusOf({ ...found, sealed: keys.seal('{}', 'x') }, server)).toMatchObject({
    reason: 'unreadable',
  });
  expect(nango.requests).toHaveLength(before);
});
