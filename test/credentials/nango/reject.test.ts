/** A server refuses a token: another one where there is one, otherwise one question with the right reason. */
import { expect, test } from 'vitest';
import type { Credential } from '../../../src/credentials/credential-store.ts';
import type { NangoStoreSetup } from './nango-store.ts';
import { alice, setUpNangoStore, credentialIn, failureOf, tokenIn } from './nango-store.ts';

/** An account that has been there for a while, and the credential that a call went out with. */
async function connected(options: Parameters<typeof setUpNangoStore>[0] = {}) {
  const setup = await setUpNangoStore(options);
  await setup.connect();
  setup.later(60_000);
  return { ...setup, used: credentialIn(await setup.resolve()) };
}

const refuse = ({ store, server }: NangoStoreSetup, { version, tokenId }: Credential, challenge = 'Bearer') =>
  store.reject(server, alice, { version, tokenId, status: 401, challenge });

const forbid = ({ store, server }: NangoStoreSetup, { version, tokenId }: Credential, challenge: string) =>
  store.reject(server, alice, { version, tokenId, status: 403, challenge });

test('a refused token is renewed once, and the new one is used from then on', async () => {
  const setup = await connected();
  setup.nango.provider.revokeToken(tokenIn(setup.used));
  const answers = await Promise.all(Array.from({ length: 5 }, () => refuse(setup, setup.used)));
  const tokens = new Set(answers.map(tokenIn));
  expect(tokens.size).toBe(1);
  expect(setup.nango.provider.holder([...tokens][0] ?? '')?.person).toBe('alice');
  expect(
    setup.nango.provider.tokenRequests.filter(({ grantType }) => grantType === 'refresh_token'),
  ).toHaveLength(1);
  expect(tokenIn(await setup.resolve())).toBe([...tokens][0]);
});

test('two processes that were refused the same token renew it once', async () => {
  const setup = await connected();
  const other = await setup.another();
  setup.nango.provider.revokeToken(tokenIn(setup.used));
  const [one, two] = await Promise.all([
    refuse(setup, setup.used),
    refuse({ ...setup, ...other }, setup.used),
  ]);
  expect(tokenIn(one)).toBe(tokenIn(two));
  expect(
    setup.nango.provider.tokenRequests.filter(({ grantType }) => grantType === 'refresh_token'),
  ).toHaveLength(1);
});

test('where Nango has another token already, that one is tried', async () => {
  const setup = await connected();
  const other = await setup.another();
  const renewed = await refuse({ ...setup, ...other }, setup.used);
  const refreshes = setup.nango.provider.tokenRequests.length;
  expect(tokenIn(await refuse(setup, setup.used))).toBe(tokenIn(renewed));
  expect(setup.nango.provider.tokenRequests).toHaveLength(refreshes);
});

test.each<[string, (setup: NangoStoreSetup) => void]>([
  ['the person has revoked it at the provider', ({ nango }) => nango.provider.revoke('alice')],
  ['the renewal is refused', ({ nango }) => nango.failRefresh('invalid_grant')],
  [
    'there is nothing to renew it with',
    ({ nango }) => nango.connections().forEach(({ credentials }) => (credentials.refreshToken = undefined)),
  ],
])('where %s, the person is asked', async (_, change) => {
  const setup = await connected();
  change(setup);
  const asked = { kind: 'connection-required', reason: 'rejected', seenVersion: 1 };
  expect(await refuse(setup, setup.used)).toMatchObject(asked);
  expect(await setup.row()).toMatchObject({ status: 'broken', brokenReason: 'rejected' });
  expect(await setup.resolve()).toMatchObject(asked);
  const again = await setup.connect({ elicitationId: 'q2' });
  expect(again).toMatchObject({ version: 2 });
});

test('an account that was connected just now and is refused is not renewed: it would be refused again', async () => {
  const setup = await setUpNangoStore();
  await setup.connect();
  const used = credentialIn(await setup.resolve());
  expect(await refuse(setup, used)).toMatchObject({ reason: 'rejected', seenVersion: 1 });
  expect(setup.nango.provider.tokenRequests.map(({ grantType }) => grantType)).toEqual([
    'authorization_code',
  ]);
});

test('a Nango that is away asks nobody anything', async () => {
  const setup = await connected();
  await setup.nango.down();
  expect((await failureOf(refuse(setup, setup.used))).retryAfterMs).toBe(1_000);
  await setup.nango.up();
  setup.nango.rateLimit(4);
  expect((await failureOf(refuse(setup, setup.used))).retryAfterMs).toBe(4_000);
  setup.nango.rateLimit(null);
  expect(await setup.row()).toMatchObject({ status: 'active' });
  expect(await refuse(setup, setup.used)).toMatchObject({ kind: 'credential' });
});

test('a connection that Nango does not have any more is missing', async () => {
  const setup = await connected();
  setup.nango.connections().splice(0);
  expect(await refuse(setup, setup.used)).toMatchObject({ reason: 'missing', seenVersion: 1 });
});

test('a refusal of what is connected anew, broken or gone by now is answered with what is there', async () => {
  const setup = await connected();
  await setup.connect({ elicitationId: 'q2' });
  expect(await refuse(setup, setup.used)).toMatchObject({ kind: 'credential', version: 2 });
  const challenge = 'Bearer error="insufficient_scope", scope="issues:admin"';
  expect(await forbid(setup, setup.used, challenge)).toMatchObject({ kind: 'credential', version: 2 });
  await setup.storage.connections.markBroken(alice, 2, 'revoked');
  expect(await refuse(setup, setup.used)).toMatchObject({ reason: 'revoked', seenVersion: 2 });
  await setup.store.disconnect(alice, setup.server);
  expect(await refuse(setup, setup.used)).toMatchObject({ reason: 'missing', seenVersion: 2 });
});

test('who lacks a scope is asked for exactly what is missing, and keeps the account', async () => {
  const setup = await connected();
  const challenge = 'Bearer error="insufficient_scope", scope="issues:read issues:admin"';
  expect(await forbid(setup, setup.used, challenge)).toEqual({
    kind: 'connection-required',
    reason: 'insufficient_scope',
    seenVersion: 1,
    scopes: ['issues:admin'],
  });
  expect(await setup.row()).toMatchObject({ status: 'active' });
  await setup.connect({ elicitationId: 'q2', scopes: ['issues:admin'] });
  expect(await setup.row()).toMatchObject({
    version: 2,
    scopes: ['issues:read', 'issues:write', 'issues:admin'],
  });
});

test('a scope that is held already is not asked for again', async () => {
  const setup = await connected();
  const challenge = 'Bearer error="insufficient_scope", scope="issues:read"';
  expect(await forbid(setup, setup.used, challenge)).toMatchObject({ reason: 'rejected', seenVersion: 1 });
  expect(await forbid(setup, setup.used, 'Bearer')).toMatchObject({ reason: 'rejected', seenVersion: 1 });
  expect(await setup.row()).toMatchObject({ status: 'active' });
});

test('a shared account that one call is refused with stays for the calls of everybody else', async () => {
  const setup = await setUpNangoStore();
  setup.server.credentialScope = 'project';
  await setup.connect({ key: { ...alice, user: null } });
  const used = credentialIn(await setup.resolve());
  expect(await refuse(setup, used)).toMatchObject({ kind: 'connection-required', reason: 'rejected' });
  expect(await setup.storage.connections.get({ ...alice, user: null })).toMatchObject({ status: 'active' });
  expect(await setup.resolve()).toMatchObject({ kind: 'credential' });
});

test('an odd answer to a token has it renewed, is asked about where that is refused, and takes no account away', async () => {
  const setup = await connected();
  const doubt = ({ version, tokenId }: Credential) =>
    setup.store.reject(setup.server, alice, {
      version,
      tokenId,
      status: 302,
      challenge: null,
      isDoubtful: true,
    });
  const renewed = credentialIn(await doubt(setup.used));
  expect(renewed.tokenId).not.toBe(setup.used.tokenId);
  setup.nango.failRefresh('invalid_grant');
  // The account was connected a minute ago.
  expect(await doubt(renewed)).toEqual({ kind: 'unrelated' });
  setup.later(11 * 60_000);
  expect(await doubt(renewed)).toMatchObject({ kind: 'connection-required', reason: 'rejected' });
  expect(await setup.row()).toMatchObject({ status: 'active' });
});
