/** An entered key: what is kept, what is not, and who sees it on the way. */
import { expect, test } from 'vitest';
import { startKeyedServer } from '../../servers/keyed-server.ts';
import { startRawMcpServer } from '../../servers/raw-mcp-server.ts';
import { alice, bob, createVault, goodKey, headersOf, startTracker, vaultServer } from './vault-store.ts';
import { openRemoteServers } from '../../../src/remote/open-remote-servers.ts';

const remote = openRemoteServers();

test.each(['modern', 'legacy'] as const)(
  'a key that a %s server accepts is kept, and opens it',
  async (era) => {
    const { store, storage } = await createVault();
    const tracker = await startTracker({ era, accepted: [`Bearer ${goodKey}`] });
    expect(await store.keep(tracker.of(), alice, `  ${goodKey}\n`)).toEqual({
      kind: 'kept',
      version: 1,
      account: 'key ending in …ab12',
    });
    expect(await storage.connections.get(alice)).toMatchObject({
      store: 'vault',
      status: 'active',
      scopes: [],
    });
    const found = await store.resolve(tracker.of(), alice);
    expect(headersOf(found)).toEqual({ authorization: `Bearer ${goodKey}` });
    if (found.kind !== 'credential') throw new Error('unreachable');
    const listed = await remote.listTools(tracker.of(), found, AbortSignal.timeout(5_000));
    expect(listed).toMatchObject({ kind: 'tools', tools: [{ name: 'note' }] });
    expect(tracker.runs).toEqual([]);
  },
);

test.each([401, 403])(
  'a key that is refused with %s is not kept, and nothing of the server is repeated',
  async (status) => {
    const { store, storage } = await createVault();
    const tracker = await startTracker();
    if (status === 403)
      tracker.mood = {
        kind: 'answers',
        status,
        body: `no: ${goodKey}`,
        headers: { 'www-authenticate': `Bearer error_description="${goodKey}"` },
      };
    const kept = await store.keep(tracker.of(), alice, 'trk_wrong_but_long_enough_to_quote');
    const reason = `it answered HTTP ${status} to a key in its header authorization`;
    expect(kept).toEqual({ kind: 'not-kept', problem: { code: 'refused', reason } });
    expect(await storage.connections.get(alice)).toBeNull();
  },
);

test('a refused key leaves the one before where it is', async () => {
  const { store, storage } = await createVault();
  const tracker = await startTracker();
  await store.keep(tracker.of(), alice, goodKey);
  const before = await storage.connections.get(alice);
  expect(await store.keep(tracker.of(), alice, 'wrong')).toMatchObject({
    problem: { code: 'refused' },
  });
  expect(await storage.connections.get(alice)).toEqual(before);
});

test.each([
  ['is in trouble', { kind: 'answers', status: 500, body: 'secret stack trace' }, 'HTTP 500'],
  ['has had enough', { kind: 'answers', status: 429 }, 'HTTP 429'],
  [
    'is no MCP server',
    { kind: 'answers', status: 200, body: '<h1>secret</h1>' },
    'did not answer like an MCP server',
  ],
  ['says nothing', { kind: 'hangs' }, 'did not answer within 0.3 s'],
] as const)(
  'a server that %s cannot say anything about the key, and nothing is kept',
  async (_, mood, why) => {
    const { store, storage } = await createVault();
    const tracker = await startTracker();
    tracker.mood = mood;
    const kept = await store.keep(tracker.of(mood.kind === 'hangs' ? { timeout: 300 } : {}), alice, goodKey);
    const reason: unknown = expect.stringContaining(why);
    expect(kept).toEqual({ kind: 'not-kept', problem: { code: 'not-tried', reason } });
    expect(JSON.stringify(kept)).not.toMatch(/secret|trk_/);
    expect(await storage.connections.get(alice)).toBeNull();
  },
);

test('a server that is away is said to be so', async () => {
  const { store } = await createVault();
  expect(await store.keep(vaultServer('http://127.0.0.1:9/mcp'), alice, goodKey)).toMatchObject({
    problem: { code: 'not-tried' },
  });
});

test('a server that answers with an error instead of tools has not accepted the key', async () => {
  const { store } = await createVault();
  const raw = await startRawMcpServer({
    on: {
      'tools/list': ({ id }, response) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            jsonrpc: '2.0',
            id,
            error: { code: -32001, message: `unknown key ${goodKey}` },
          }),
        ),
    },
  });
  const kept = await store.keep(vaultServer(raw.config.url), alice, goodKey);
  await raw.stop();
  expect(kept).toMatchObject({
    problem: { code: 'not-tried', reason: expect.stringContaining('error -32001') },
  });
  expect(JSON.stringify(kept)).not.toContain(goodKey);
});

test('nobody waits longer than ten seconds for the check, whatever calls may take', async () => {
  const { store } = await createVault();
  const tracker = await startTracker();
  tracker.mood = { kind: 'hangs' };
  const kept = await store.keep(tracker.of({ timeout: 600_000 }), alice, goodKey);
  expect(kept).toMatchObject({ problem: { code: 'not-tried', reason: expect.stringContaining('10 s') } });
});

test.each([301, 302, 307, 308])('a redirect (%s) does not get the key to another address', async (status) => {
  const { store, storage } = await createVault();
  const elsewhere = await startTracker();
  const tracker = await startTracker();
  tracker.mood = { kind: 'answers', status, headers: { location: elsewhere.config.url } };
  const kept = await store.keep(tracker.of(), alice, goodKey);
  expect(kept).toMatchObject({
    problem: {
      code: 'unclear',
      reason: expect.stringContaining(`it answered HTTP ${status} to a key in its header authorization`),
    },
  });
  expect(tracker.requests.length).toBeGreaterThan(0);
  expect(elsewhere.requests).toEqual([]);
  expect(await storage.connections.get(alice)).toBeNull();
});

test.each([
  ['400', { status: 400, body: 'Bad Request' }],
  ['a page', { status: 200, body: '<title>Sign in</title>', headers: { 'content-type': 'text/html' } }],
])('a key that is answered with %s is said to be refused, perhaps, and is not kept', async (_, answer) => {
  const { store, storage } = await createVault();
  const tracker = await startTracker();
  tracker.mood = { kind: 'answers', ...answer };
  expect(await store.keep(tracker.of(), alice, goodKey)).toMatchObject({
    problem: { code: 'unclear' },
  });
  expect(await storage.connections.get(alice)).toBeNull();
});

test('a server that lets everybody in gets its key all the same', async () => {
  const { store } = await createVault();
  const tracker = await startTracker();
  tracker.mood = { kind: 'open-to-all' };
  expect(await store.keep(tracker.of(), alice, 'short')).toEqual({ kind: 'kept', version: 1, account: null });
});

test('without a check the key is kept unseen, and no request is made', async () => {
  const { store } = await createVault();
  const tracker = await startTracker();
  const unchecked = tracker.of({ vault: { header: 'authorization', check: false } });
  expect(await store.keep(unchecked, alice, 'whatever')).toMatchObject({ kind: 'kept' });
  expect(tracker.requests).toEqual([]);
});

test.each([
  ['', 'empty'],
  ['   \n', 'empty'],
  ['x'.repeat(4_097), 'too-long'],
  ['Bearer abc', 'space'],
  ['abc\ndef', 'space'],
  ['abc\u00a0def', 'space'],
  ['schlüssel', 'character'],
  ['abc\u0000', 'character'],
  ['abc\u200b', 'character'],
  ['“quoted”', 'character'],
])('what is no key (%j) is refused before anything is sent', async (entered, code) => {
  const { store, storage } = await createVault();
  const tracker = await startTracker();
  expect(await store.keep(tracker.of(), alice, entered)).toEqual({
    kind: 'not-kept',
    problem: { code, ...(code === 'too-long' && { length: 4_097, most: 4_096 }) },
  });
  expect(tracker.requests).toEqual([]);
  expect(await storage.connections.get(alice)).toBeNull();
});

test('the longest key there may be, of every character there may be, arrives as it is', async () => {
  const all = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('');
  const key = all.repeat(44).slice(0, 4_096);
  const { store } = await createVault();
  const tracker = await startTracker({ accepted: [`Bearer ${key}`] });
  expect(await store.keep(tracker.of(), alice, key)).toMatchObject({ kind: 'kept' });
});

test.each([
  ['authorization', undefined, 'Bearer k'],
  ['Authorization', undefined, 'Bearer k'],
  ['authorization', '', 'k'],
  ['authorization', 'Token', 'Token k'],
  ['x-api-key', undefined, 'k'],
  ['X-Api-Key', 'Key', 'Key k'],
])(
  'in the header %s with the word %s it is sent as “%s”, beside the headers of the file',
  async (header, scheme, sent) => {
    const { store } = await createVault();
    const tracker = await startTracker({ header, accepted: [sent] });
    const server = tracker.of({
      vault: { header, check: true, ...(scheme !== undefined && { scheme }) },
      headers: { 'x-team': 'blue' },
    });
    expect(await store.keep(server, alice, 'k')).toMatchObject({ kind: 'kept' });
    expect(headersOf(await store.resolve(server, alice))).toEqual({ [header]: sent });
    for (const { headers } of tracker.requests) expect(headers).toMatchObject({ 'x-team': 'blue' });
  },
);

test('everybody has their own key, and one that a project shares is everybody’s', async () => {
  const { store } = await createVault();
  const tracker = await startTracker({ accepted: ['Bearer of-alice', 'Bearer of-bob', 'Bearer of-all'] });
  await store.keep(tracker.of(), alice, 'of-alice');
  await store.keep(tracker.of(), bob, 'of-bob');
  expect(headersOf(await store.resolve(tracker.of(), alice))).toEqual({ authorization: 'Bearer of-alice' });
  expect(headersOf(await store.resolve(tracker.of(), bob))).toEqual({ authorization: 'Bearer of-bob' });

  const shared = tracker.of({ name: 'shared', credentialScope: 'project' });
  const wanted = { ...alice, server: 'shared' };
  await expect(store.keep(shared, wanted, 'of-all')).rejects.toThrow('which operators connect');
  await store.keep(shared, { ...wanted, user: null }, 'of-all');
  for (const user of ['alice', 'bob', null])
    expect(headersOf(await store.resolve(shared, { ...wanted, user }))).toEqual({
      authorization: 'Bearer of-all',
    });
});

test('a key that belongs to nobody is neither kept nor found', async () => {
  const { store } = await createVault();
  const server = vaultServer('http://127.0.0.1:9/mcp', { vault: { header: 'authorization', check: false } });
  const nobody = { ...alice, user: null };
  await expect(store.keep(server, nobody, goodKey)).rejects.toMatchObject({ name: 'CredentialStoreError' });
  await expect(store.resolve(server, nobody)).rejects.toMatchObject({ name: 'CredentialStoreError' });
});

test('a new key takes the place of the old one, of which nothing is left', async () => {
  const { store, storage, bytes } = await createVault();
  const other = 'trk_another_key_of_hers_zz99';
  const tracker = await startTracker({ accepted: [`Bearer ${goodKey}`, `Bearer ${other}`] });
  await store.keep(tracker.of(), alice, goodKey);
  const before = await storage.connections.get(alice);
  expect(await store.keep(tracker.of(), alice, other)).toEqual({
    kind: 'kept',
    version: 2,
    account: 'key ending in …zz99',
  });
  const after = await storage.connections.get(alice);
  expect(after?.sealed).not.toBe(before?.sealed);
  expect(headersOf(await store.resolve(tracker.of(), alice))).toEqual({ authorization: `Bearer ${other}` });
  const database = await bytes();
  expect(database).toContain('alice');
  for (const secret of [goodKey, other, goodKey.slice(0, -4), other.slice(0, -4)])
    expect(database).not.toContain(secret);
});

test.each([
  ['x'.repeat(23), null],
  [`${'x'.repeat(20)}ab12`, 'key ending in …ab12'],
])('of %s people are shown “%s”', async (key, account) => {
  const { store } = await createVault();
  const server = await startKeyedServer({ accepted: [`Bearer ${key}`] });
  const kept = await store.keep(vaultServer(server.config.url), alice, key);
  await server.stop();
  expect(kept).toMatchObject({ account });
});
