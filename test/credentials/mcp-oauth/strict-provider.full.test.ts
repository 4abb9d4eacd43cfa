/**
 * The life of an account at a strict provider: a refresh token that is used twice ends the grant, and the MCP server asks the
 * provider about every token (introspection), so that it notices at once.
 */
import { openAccount } from '../../../src/credentials/mcp-oauth/account.ts';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Config, ServerConfig } from '../../../src/platform/config/config.ts';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import type { OAuthStore } from '../../../src/credentials/mcp-oauth/oauth-store.ts';
import type { Credential } from '../../../src/credentials/credential-store.ts';
import { startStrictFiles } from '../../servers/strict-files.ts';
import { serverConfig } from '../../servers/mcp-server.ts';
import { alice, setUpOAuthStore, publicUrl } from '../oauth-store.ts';
import { findPgBouncer, startPgBouncer } from '../../pgbouncer.ts';
import { postgresUrl } from '../../postgres.ts';
import { openBrowser } from '../../browsers/plain-browser.ts';
import { followRedirects } from '../redirects.ts';
import type { Task } from '../resolving-process.ts';
import { openRemoteServers } from '../../../src/remote/open-remote-servers.ts';

const remote = openRemoteServers();

const minute = 60_000;
const k1 = generateKey('k1');
const k2 = generateKey('k2');
const resolving = path.resolve(import.meta.dirname, '../resolving-process.ts');

type PeerOptions = Parameters<typeof startStrictFiles>[0];

async function setup({ database, ...options }: PeerOptions & { database?: Config['database'] } = {}) {
  const files = await startStrictFiles(options);
  onTestFinished(() => files.stop());
  let isLost = false;
  const setup = await setUpOAuthStore({
    ...(database && { database }),
    keys: parseKeys(k1),
    async fetch(url, init) {
      const answer = await fetch(url, init);
      if (!isLost || !String(url).endsWith('/token')) return answer;
      isLost = false;
      throw new TypeError('terminated');
    },
  });
  const config: ServerConfig = serverConfig(files.url, { name: 'tracker', title: 'Files' });
  const { authorization } = files;
  return {
    files,
    ...setup,
    config,
    authorization,
    resolve: (store = setup.store) => store.resolve(config, alice),
    async token(store = setup.store): Promise<Credential> {
      return credential(await store.resolve(config, alice));
    },
    refuse: (refused: Credential, { status, challenge }: Refused, store = setup.store) =>
      store.reject(config, alice, { ...refused, status, challenge }),
    /** The error of each refresh request, oldest first; null for one that succeeded. */
    refreshes: () =>
      authorization.tokenRequests
        .filter(({ grantType }) => grantType === 'refresh_token')
        .map(({ error }) => error),
    /** The provider handles the next token request, and its response is lost. */
    loseAnswer: () => void (isLost = true),
    row: async () => (await setup.storage.connections.get(alice))!,
    /** Calls a tool of the server, as a turn does. */
    use: (held: Credential, tool = 'look') =>
      remote.callTool(config, held, {
        name: tool,
        arguments: {},
        callId: 'c1',
        capabilities: { form: false, url: false },
        askUser: { ask: () => new Promise(() => {}), pageDone: () => undefined },
        signal: AbortSignal.timeout(10_000),
      }),
  };
}

type Refused = { status: number; challenge: string | null };
type StoreSetup = Awaited<ReturnType<typeof setup>>;

async function connected(options?: Parameters<typeof setup>[0]): Promise<StoreSetup> {
  const made = await setup(options);
  expect(await made.connect(made.config)).toMatchObject({ kind: 'connected', account: 'alice@example.com' });
  return made;
}

function credential(answer: Awaited<ReturnType<OAuthStore['reject']>>): Credential {
  if (answer.kind !== 'credential') throw new Error(`no credential: ${JSON.stringify(answer)}`);
  return answer;
}

function secretOf({ headers }: Credential): string {
  return headers['authorization']?.slice('Bearer '.length) ?? '';
}

/** The server refuses the call, and says how. */
async function refusalOf({ use }: StoreSetup, held: Credential, tool?: string): Promise<Refused> {
  const outcome = await use(held, tool);
  if (outcome.kind !== 'refused') throw new Error(`not refused: ${JSON.stringify(outcome)}`);
  return outcome;
}

test.each(['opaque', 'jwt'] as const)(
  'an account is connected, and its %s token opens the server',
  async (accessTokens) => {
    const { use, token, files, authorization, row } = await connected({ accessTokens });
    expect(await use(await token())).toMatchObject({ kind: 'result' });
    expect(files.calls).toMatchObject([{ tool: 'look', account: 'alice' }]);
    const [asked] = authorization.authorizations;
    expect(asked?.get('code_challenge_method')).toBe('S256');
    expect(asked?.get('resource')).toBe(files.url);
    expect(asked?.get('prompt')).toBe('consent');
    expect(authorization.tokenRequests).toEqual([
      { grantType: 'authorization_code', resource: files.url, error: null },
    ]);
    expect((await row()).scopes).toEqual(['files:read']);
  },
);

test('who does not agree to lasting access is asked again when the token has run out, not before', async () => {
  const { authorization, connect, config, later, resolve, refreshes } = await setup();
  authorization.person.agrees = 'not to last';
  await connect(config);
  later(4 * minute);
  expect(await resolve()).toMatchObject({ kind: 'credential' });
  later(minute + 1_000);
  expect(await resolve()).toMatchObject({ reason: 'rejected', seenVersion: 1 });
  expect(refreshes()).toEqual([]);
});

async function expectOneRenewal(made: StoreSetup): Promise<void> {
  const { database, config, authorization, refreshes, use, token } = made;
  const task: Task = {
    database,
    keys: k1,
    publicUrl,
    server: config,
    key: alice,
    aheadMs: 5 * minute,
    times: 10,
  };
  const processes = [1, 2].map(() => fork(resolving, { stdio: 'inherit' }));
  const ready = processes.map((one) => once(one, 'message'));
  for (const one of processes) one.send(task);
  await Promise.all(ready);
  const done = processes.map((one) => once(one, 'message'));
  for (const one of processes) one.send('go');
  const names = (await Promise.all(done)).flatMap(([told]) => told as string[]);
  expect(names).toHaveLength(20);
  expect(new Set(names).size).toBe(1);
  expect(names[0]).toBe((await token()).tokenId);
  expect(refreshes()).toEqual([null]);
  expect(authorization.endedGrants).toEqual([]);
  expect(await use(await token())).toMatchObject({ kind: 'result' });
}

test('twenty calls in two processes renew once, and the provider sees no refresh token twice', async () =>
  expectOneRenewal(await connected()));

test('so do processes whose database is behind a connection pooler', async ({ skip }) => {
  const found = await findPgBouncer();
  if (found.kind === 'missing') return skip(found.why);
  const url = await postgresUrl();
  await using pooler = await startPgBouncer(found, url);
  await expectOneRenewal(await connected({ database: { kind: 'postgres', url: pooler.through(url) } }));
});

test('a token that was ended at the provider before its time heals, and nobody is asked', async () => {
  const made = await connected();
  const { token, later, authorization, refuse, use, refreshes } = made;
  const first = await token();
  await authorization.drop(secretOf(first));
  const refused = await refusalOf(made, first);
  expect(refused.status).toBe(401);
  later(minute);
  const healed = credential(await refuse(first, refused));
  expect(await use(healed)).toMatchObject({ kind: 'result' });
  expect(refreshes()).toEqual([null]);
});

test('an account whose access was withdrawn at the provider is asked for once, and connecting again is enough', async () => {
  const made = await connected();
  const { token, later, authorization, refuse, resolve, connect, config, use, refreshes } = made;
  const first = await token();
  await authorization.withdraw('alice');
  const refused = await refusalOf(made, first);
  later(minute);
  const ask = { kind: 'connection-required', reason: 'revoked', seenVersion: 1, scopes: ['files:read'] };
  expect(await Promise.all([refuse(first, refused), refuse(first, refused)])).toEqual([ask, ask]);
  expect(await resolve()).toEqual(ask);
  expect(refreshes()).toEqual(['invalid_grant']);
  expect(await connect(config)).toMatchObject({ kind: 'connected', version: 2 });
  expect(await use(await token())).toMatchObject({ kind: 'result' });
});

test('the same is noticed when the token has run out, with one request to the provider', async () => {
  const { later, authorization, resolve, refreshes } = await connected();
  await authorization.withdraw('alice');
  later(5 * minute);
  const asks = await Promise.all([resolve(), resolve(), resolve()]);
  expect(asks).toMatchObject([{ reason: 'revoked' }, { reason: 'revoked' }, { reason: 'revoked' }]);
  expect(refreshes()).toEqual(['invalid_grant']);
});

test('while the provider is away a living token serves, then the call is to wait, and nobody is asked', async () => {
  const { token, later, authorization, resolve, use, row, refreshes } = await connected();
  const first = await token();
  await authorization.leave();
  later(4.5 * minute);
  expect(await token()).toEqual(first);
  later(minute);
  await expect(resolve()).rejects.toMatchObject({
    name: 'CredentialStoreError',
    message: expect.stringMatching(/^Files .*cannot be reached/),
    retryAfterMs: 1_000,
  });
  expect(await row()).toMatchObject({ status: 'active', version: 1 });
  await authorization.comeBack();
  expect(await use(await token())).toMatchObject({ kind: 'result' });
  expect(refreshes()).toEqual([null]);
});

test('a renewal whose answer is lost looks like a theft to the provider, and costs one question', async () => {
  const { later, loseAnswer, resolve, authorization, refreshes, connect, config, use, token } =
    await connected();
  later(5 * minute);
  loseAnswer();
  await expect(resolve()).rejects.toMatchObject({ name: 'CredentialStoreError', retryAfterMs: 1_000 });
  expect(await Promise.all([resolve(), resolve()])).toMatchObject([
    { reason: 'revoked', seenVersion: 1 },
    { reason: 'revoked', seenVersion: 1 },
  ]);
  expect(refreshes()).toEqual([null, 'invalid_grant']);
  expect(authorization.endedGrants).toHaveLength(1);
  await connect(config);
  expect(await use(await token())).toMatchObject({ kind: 'result' });
});

test('a provider that is away when the person comes back connects nothing, and starting again does', async () => {
  const { store, config, authorization, connect, storage } = await setup();
  const { url } = await store.begin({
    server: config,
    key: alice,
    elicitationId: 'q1',
    sessionHash: 'laptop',
  });
  const callback = await followRedirects(url, `${publicUrl}/auth/callback`);
  await authorization.leave();
  const complete = () => store.complete({ callback, sessionHash: 'laptop', serverByName: () => config });
  expect(await complete()).toMatchObject({
    kind: 'failed',
    retry: true,
    reason: expect.stringContaining('cannot be reached'),
  });
  expect(await storage.connections.get(alice)).toBeNull();
  await authorization.comeBack();
  expect(await complete()).toEqual({ kind: 'unknown-state' });
  expect(await connect(config)).toMatchObject({ kind: 'connected', version: 1 });
});

test('a call that needs more asks for exactly that, and afterwards the token has both', async () => {
  const made = await connected();
  const { token, refuse, connect, config, authorization, use, row, refreshes } = made;
  const first = await token();
  const refused = await refusalOf(made, first, 'save');
  expect(refused.status).toBe(403);
  const ask = await refuse(first, refused);
  expect(ask).toEqual({
    kind: 'connection-required',
    reason: 'insufficient_scope',
    seenVersion: 1,
    scopes: ['files:write'],
  });
  if (ask.kind !== 'connection-required' || !ask.scopes) throw new Error('unreachable');
  // What it can do it still does.
  expect(await use(await token())).toMatchObject({ kind: 'result' });
  await connect(config, { scopes: ask.scopes });
  const [, again] = authorization.authorizations;
  expect(again?.get('scope')?.split(' ')).toEqual(expect.arrayContaining(['files:read', 'files:write']));
  expect((await row()).scopes).toEqual(['files:read', 'files:write']);
  const both = await token();
  expect(await use(both, 'save')).toMatchObject({ kind: 'result' });
  expect(await use(both, 'look')).toMatchObject({ kind: 'result' });
  expect(refreshes()).toEqual([]);
});

test('who connects the wrong account sees which, connects another, and the wrong one is ended at the provider', async () => {
  const { authorization, connect, config, token, use, files, later } = await connected();
  // Whose it is is known after a renewal, too.
  later(5 * minute);
  const wrong = await token();
  authorization.person.account = 'bob';
  expect(await connect(config)).toMatchObject({ version: 2, account: 'bob@example.com' });
  await expect.poll(() => authorization.introspect(secretOf(wrong))).toBeNull();
  expect(authorization.revocations.map(({ hint }) => hint)).toContain('refresh_token');
  const right = await token();
  expect(await use(right)).toMatchObject({ kind: 'result' });
  expect(files.calls.at(-1)).toMatchObject({ account: 'bob' });
});

test('who connects the same account again keeps it: what is replaced is not ended, for both are one grant', async () => {
  const { authorization, store, config, storage, keys, later, token, use, refreshes } = await setup();
  const browser = openBrowser();
  const again = async () => {
    const { url } = await store.begin({ server: config, key: alice, elicitationId: null, sessionHash: 's' });
    const callback = await followRedirects(url, `${publicUrl}/auth/callback`, browser);
    return store.complete({ callback, sessionHash: 's', serverByName: () => config });
  };
  expect(await again()).toMatchObject({ version: 1 });
  const before = (await storage.connections.get(alice))!;
  expect(await again()).toMatchObject({ version: 2 });
  later(5 * minute);
  expect(await use(await token())).toMatchObject({ kind: 'result' });
  expect(refreshes()).toEqual([null]);
  expect(authorization.revocations).toEqual([]);

  // Had the old refresh token been ended, the new account would have been lost with it.
  const opened = JSON.parse(
    keys.open(before.sealed, JSON.stringify(['connection', 'acme', 'tracker', 'alice'])),
  ) as {
    refreshToken: string;
    client: { registration: { client_id: string; client_secret?: string } };
  };
  const { client_id, client_secret } = opened.client.registration;
  await fetch(`${authorization.issuer}/token/revocation`, {
    method: 'POST',
    body: new URLSearchParams({
      token: opened.refreshToken,
      client_id,
      ...(client_secret !== undefined && { client_secret }),
    }),
  });
  later(10 * minute);
  expect(await store.resolve(config, alice)).toMatchObject({ reason: 'revoked' });
});

test.each([2 * minute, -2 * minute])(
  'a process whose clock is %d ms off goes on with the same account, and nobody is asked',
  async (offMs) => {
    const made = await connected();
    const { another, authorization, later, token, refuse, resolve, refreshes } = made;
    let turnedMs = 0;
    const off = another({ now: () => Date.now() + turnedMs + offMs });
    const turn = (ms: number) => {
      turnedMs += ms;
      later(ms);
    };
    expect(await made.use(await token(off))).toMatchObject({ kind: 'result' });
    // Over at the provider, which one of the two has not noticed yet.
    turn(3.5 * minute);
    const late = await token(off);
    await authorization.drop(secretOf(late));
    const refused = await refusalOf(made, late);
    turn(minute);
    const healed = credential(await refuse(late, refused, off));
    expect(await made.use(healed)).toMatchObject({ kind: 'result' });
    expect(await resolve()).toMatchObject({ kind: 'credential', version: 1 });
    expect(new Set(refreshes())).toEqual(new Set([null]));
    expect(authorization.endedGrants).toEqual([]);
  },
);

test.each([
  ['opaque', 401],
  // Nobody can take a signed token back; it lives for minutes.
  ['jwt', 200],
] as const)('disconnecting ends the grant at the provider (%s tokens)', async (accessTokens, status) => {
  const made = await connected({ accessTokens });
  const { store, config, token, authorization, storage } = made;
  const held = await token();
  expect(await store.disconnect(alice, config)).toEqual({
    kind: 'removed',
    revocation: { kind: 'revoked' },
  });
  expect(authorization.endedGrants).toHaveLength(1);
  expect(authorization.revocations.map(({ hint }) => hint)).toEqual(['refresh_token', 'access_token']);
  const outcome = await made.use(held);
  expect(outcome).toMatchObject(status === 401 ? { kind: 'refused', status } : { kind: 'result' });
  expect(await storage.connections.get(alice)).toBeNull();
});

test('a new key is put in front between two refreshes, the old one taken away, and nothing is lost', async () => {
  const { another, later, token, use, resolve, refreshes, row } = await connected();
  const both = another({ keys: parseKeys(`${k2},${k1}`) });
  expect(await use(await token(both))).toMatchObject({ kind: 'result' });
  later(5 * minute);
  expect(await use(await token(both))).toMatchObject({ kind: 'result' });
  expect((await row()).sealed).toMatch(/^v1\.k2\./);
  const onlyNew = another({ keys: parseKeys(k2) });
  later(5 * minute);
  expect(await use(await token(onlyNew))).toMatchObject({ kind: 'result' });
  expect(refreshes()).toEqual([null, null]);
  // Who still has only the old key asks nobody: it says what is missing.
  await expect(resolve()).rejects.toThrow(/"k2".*put it back/);
});

test('a provider that wants pushed requests is told about before anybody is sent there', async () => {
  const { resolve, authorization } = await setup({ requiresPushedRequests: true });
  await expect(resolve()).rejects.toThrow(/wants pushed authorization requests, which are not made here/);
  expect(authorization.authorizations).toEqual([]);
});

test('a shared account that an operator replaces is not ended at the provider: calls of everybody may be under way', async () => {
  const { authorization, store, config, storage, connect, keys } = await setup();
  const shared = { ...config, credentialScope: 'project' as const };
  const key = { ...alice, user: null };
  await connect(shared);
  const before = openAccount(keys, (await storage.connections.get(key))!, shared);
  authorization.person.account = 'bob';
  for (const version of [2, 3]) expect(await connect(shared)).toMatchObject({ version });
  expect(await authorization.introspect(before.accessToken)).not.toBeNull();
  expect(authorization.revocations).toEqual([]);
  expect(await store.disconnect(key, shared)).toMatchObject({ revocation: { kind: 'revoked' } });
});
