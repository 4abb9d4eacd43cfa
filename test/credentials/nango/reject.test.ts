/** A server refuses a token: another one where there is one, otherwise one question with the right reason. */
import { expect, test } from 'vitest';
import type { Credential } from '../../../src/credentials/store.ts';
import type { NangoBench } from './nango-store.ts';
import { alice, createNangoBench, credentialIn, failureOf, tokenIn } from './nango-store.ts';

/** An account that has been there for a while, and the credential that a call went out with. */
async function connected(options: Parameters<typeof createNangoBench>[0] = {}) {
  const bench = await createNangoBench(options);
  await bench.connect();
  bench.later(60_000);
  return { ...bench, used: credentialIn(await bench.resolve()) };
}

const refuse = ({ store, server }: NangoBench, { version, tokenId }: Credential, challenge = 'Bearer') =>
  store.reject(server, alice, { version, tokenId, status: 401, challenge });

const forbid = ({ store, server }: NangoBench, { version, tokenId }: Credential, challenge: string) =>
  store.reject(server, alice, { version, tokenId, status: 403, challenge });

test('a refused token is renewed once, and the new one is used from then on', async () => {
  const bench = await connected();
  bench.nango.provider.revokeToken(tokenIn(bench.used));
  const answers = await Promise.all(Array.from({ length: 5 }, () => refuse(bench, bench.used)));
  const tokens = new Set(answers.map(tokenIn));
  expect(tokens.size).toBe(1);
  expect(bench.nango.provider.holder([...tokens][0] ?? '')?.person).toBe('alice');
  expect(
    bench.nango.provider.tokenRequests.filter(({ grantType }) => grantType === 'refresh_token'),
  ).toHaveLength(1);
  expect(tokenIn(await bench.resolve())).toBe([...tokens][0]);
});

test('two processes that were refused the same token renew it once', async () => {
  const bench = await connected();
  const other = await bench.another();
  bench.nango.provider.revokeToken(tokenIn(bench.used));
  const [one, two] = await Promise.all([
    refuse(bench, bench.used),
    refuse({ ...bench, ...other }, bench.used),
  ]);
  expect(tokenIn(one)).toBe(tokenIn(two));
  expect(
    bench.nango.provider.tokenRequests.filter(({ grantType }) => grantType === 'refresh_token'),
  ).toHaveLength(1);
});

test('where Nango has another token already, that one is tried', async () => {
  const bench = await connected();
  const other = await bench.another();
  const renewed = await refuse({ ...bench, ...other }, bench.used);
  const refreshes = bench.nango.provider.tokenRequests.length;
  expect(tokenIn(await refuse(bench, bench.used))).toBe(tokenIn(renewed));
  expect(bench.nango.provider.tokenRequests).toHaveLength(refreshes);
});

test.each<[string, (bench: NangoBench) => void]>([
  ['the person has revoked it at the provider', ({ nango }) => nango.provider.revoke('alice')],
  ['the renewal is refused', ({ nango }) => nango.failRefresh('invalid_grant')],
  [
    'there is nothing to renew it with',
    ({ nango }) => nango.connections().forEach(({ credentials }) => (credentials.refreshToken = undefined)),
  ],
])('where %s, the person is asked', async (_, change) => {
  const bench = await connected();
  change(bench);
  const asked = { kind: 'connection-required', reason: 'rejected', seenVersion: 1 };
  expect(await refuse(bench, bench.used)).toMatchObject(asked);
  expect(await bench.row()).toMatchObject({ status: 'broken', brokenReason: 'rejected' });
  expect(await bench.resolve()).toMatchObject(asked);
  const again = await bench.connect({ elicitationId: 'q2' });
  expect(again).toMatchObject({ version: 2 });
});

test('an account that was connected just now and is refused is not renewed: it would be refused again', async () => {
  const bench = await createNangoBench();
  await bench.connect();
  const used = credentialIn(await bench.resolve());
  expect(await refuse(bench, used)).toMatchObject({ reason: 'rejected', seenVersion: 1 });
  expect(bench.nango.provider.tokenRequests.map(({ grantType }) => grantType)).toEqual([
    'authorization_code',
  ]);
});

test('a Nango that is away asks nobody anything', async () => {
  const bench = await connected();
  await bench.nango.down();
  expect((await failureOf(refuse(bench, bench.used))).retryAfterMs).toBe(1_000);
  await bench.nango.up();
  bench.nango.rateLimit(4);
  expect((await failureOf(refuse(bench, bench.used))).retryAfterMs).toBe(4_000);
  bench.nango.rateLimit(null);
  expect(await bench.row()).toMatchObject({ status: 'active' });
  expect(await refuse(bench, bench.used)).toMatchObject({ kind: 'credential' });
});

test('a connection that Nango does not have any more is missing', async () => {
  const bench = await connected();
  bench.nango.connections().splice(0);
  expect(await refuse(bench, bench.used)).toMatchObject({ reason: 'missing', seenVersion: 1 });
});

test('a refusal of what is connected anew, broken or gone by now is answered with what is there', async () => {
  const bench = await connected();
  await bench.connect({ elicitationId: 'q2' });
  expect(await refuse(bench, bench.used)).toMatchObject({ kind: 'credential', version: 2 });
  const challenge = 'Bearer error="insufficient_scope", scope="issues:admin"';
  expect(await forbid(bench, bench.used, challenge)).toMatchObject({ kind: 'credential', version: 2 });
  await bench.storage.connections.markBroken(alice, 2, 'revoked');
  expect(await refuse(bench, bench.used)).toMatchObject({ reason: 'revoked', seenVersion: 2 });
  await bench.store.disconnect(alice, bench.server);
  expect(await refuse(bench, bench.used)).toMatchObject({ reason: 'missing', seenVersion: 2 });
});

test('who lacks a scope is asked for exactly what is missing, and keeps the account', async () => {
  const bench = await connected();
  const challenge = 'Bearer error="insufficient_scope", scope="issues:read issues:admin"';
  expect(await forbid(bench, bench.used, challenge)).toEqual({
    kind: 'connection-required',
    reason: 'insufficient_scope',
    seenVersion: 1,
    scopes: ['issues:admin'],
  });
  expect(await bench.row()).toMatchObject({ status: 'active' });
  await bench.connect({ elicitationId: 'q2', scopes: ['issues:admin'] });
  expect(await bench.row()).toMatchObject({
    version: 2,
    scopes: ['issues:read', 'issues:write', 'issues:admin'],
  });
});

test('a scope that is held already is not asked for again', async () => {
  const bench = await connected();
  const challenge = 'Bearer error="insufficient_scope", scope="issues:read"';
  expect(await forbid(bench, bench.used, challenge)).toMatchObject({ reason: 'rejected', seenVersion: 1 });
  expect(await forbid(bench, bench.used, 'Bearer')).toMatchObject({ reason: 'rejected', seenVersion: 1 });
  expect(await bench.row()).toMatchObject({ status: 'active' });
});

test('a shared account that one call is refused with stays for the calls of everybody else', async () => {
  const bench = await createNangoBench();
  bench.server.credentialScope = 'project';
  await bench.connect({ key: { ...alice, user: null } });
  const used = credentialIn(await bench.resolve());
  expect(await refuse(bench, used)).toMatchObject({ kind: 'connection-required', reason: 'rejected' });
  expect(await bench.storage.connections.get({ ...alice, user: null })).toMatchObject({ status: 'active' });
  expect(await bench.resolve()).toMatchObject({ kind: 'credential' });
});
