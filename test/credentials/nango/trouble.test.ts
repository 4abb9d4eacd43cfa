/** A refused renewal may be an outage of the provider or its last word: it is waited for once, then asked about. */
import { expect, test } from 'vitest';
import { alice, setUpNangoStore, failureOf } from './nango-store.ts';

const hour = 3_600_000;

async function expired() {
  const setup = await setUpNangoStore({ tokenLifeMs: hour });
  await setup.connect();
  setup.later(hour);
  return setup;
}

test.each(['invalid_grant', 'outage'] as const)(
  'after %s the call waits until Nango tries again; refused once more, the person is asked, once',
  async (how) => {
    const { resolve, row, nango, later, connect } = await expired();
    nango.failRefresh(how);
    const startedAt = performance.now();
    const first = await failureOf(resolve());
    expect(first).toMatchObject({
      retryAfterMs: 31_000,
      message: 'The access to Tracker could not be renewed just now.',
    });
    expect(await row()).toMatchObject({ status: 'active', troubledAt: expect.any(Number) });
    later(20_000);
    const second = await failureOf(resolve());
    expect(second.retryAfterMs).toBeGreaterThan(11_000 - Math.max(1_000, performance.now() - startedAt));
    expect(second.retryAfterMs).toBeLessThanOrEqual(11_000);
    later(11_000);
    const asked = { kind: 'connection-required', reason: 'revoked', seenVersion: 1 };
    expect(await resolve()).toMatchObject(asked);
    expect(await row()).toMatchObject({ status: 'broken', brokenReason: 'revoked' });
    const before = nango.requests.length;
    expect(await resolve()).toMatchObject(asked);
    // The attempt that brought it is still looked after.
    expect(nango.requests.length - before).toBeLessThanOrEqual(1);
    nango.failRefresh(null);
    await connect({ elicitationId: 'q2' });
    expect(await resolve()).toMatchObject({ kind: 'credential', version: 2 });
    expect(await row()).toMatchObject({ status: 'active', troubledAt: null });
  },
);

test('an outage that is over in time costs a wait and asks nobody', async () => {
  const { resolve, row, nango, later } = await expired();
  nango.failRefresh('outage');
  await failureOf(resolve());
  nango.failRefresh(null);
  later(31_000);
  expect(await resolve()).toMatchObject({ kind: 'credential', version: 1 });
  expect(await row()).toMatchObject({ status: 'active', troubledAt: null });
});

test('trouble of another day is no reason to ask at the next refusal', async () => {
  const { resolve, row, nango, later } = await expired();
  nango.failRefresh('outage');
  await failureOf(resolve());
  later(24 * hour);
  expect((await failureOf(resolve())).retryAfterMs).toBe(31_000);
  expect(await row()).toMatchObject({ status: 'active' });
  later(31_000);
  expect(await resolve()).toMatchObject({ reason: 'revoked' });
});

test('two processes come to the same end', async () => {
  const { resolve, another, server, nango, later } = await expired();
  const { store: other } = await another();
  nango.failRefresh('invalid_grant');
  await failureOf(resolve());
  expect((await failureOf(other.resolve(server, alice))).retryAfterMs).toBeLessThanOrEqual(31_000);
  later(31_000);
  expect(await other.resolve(server, alice)).toMatchObject({ reason: 'revoked', seenVersion: 1 });
  expect(await resolve()).toMatchObject({ reason: 'revoked', seenVersion: 1 });
});

test('a connection that Nango has given up on is asked about after one wait', async () => {
  const { resolve, nango, later, connect } = await setUpNangoStore({ tokenLifeMs: hour });
  const { connectionId } = await connect();
  nango.exhaust(connectionId);
  await failureOf(resolve());
  later(31_000);
  expect(await resolve()).toMatchObject({ reason: 'revoked' });
});

test('while the token that is held lasts, a refused renewal is no trouble yet', async () => {
  const { resolve, connect, nango, later, row } = await setUpNangoStore({ tokenLifeMs: hour });
  await connect();
  await resolve();
  nango.failRefresh('outage');
  later(hour - 30_000);
  expect(await resolve()).toMatchObject({ kind: 'credential', version: 1 });
  expect(await row()).toMatchObject({ status: 'active', troubledAt: null });
});
