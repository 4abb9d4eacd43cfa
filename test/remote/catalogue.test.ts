import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ServerConfig } from '../../src/platform/config/config.ts';
import type { Credential } from '../../src/credentials/credential-store.ts';
import { createCatalogue } from '../../src/remote/catalogue.ts';
import { openRemoteServers } from '../../src/remote/open-remote-servers.ts';
import { modelNameOf } from '../../src/remote/model-tools.ts';
import type { RemoteServers } from '../../src/remote/remote-servers.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { serverConfig } from '../servers/mcp-server.ts';
import { answer, startRawMcpServer } from '../servers/raw-mcp-server.ts';
import type { RawMcpServer } from '../servers/raw-mcp-server.ts';

const credential: Credential = { kind: 'credential', headers: { authorization: 'Bearer t' }, version: 1 };
const signal = new AbortController().signal;
const alice = { tenant: 'demo', user: 'alice' };
const bob = { tenant: 'demo', user: 'bob' };
const logger = pino({ level: 'silent' });

let dataDir: string;
let remote: RemoteServers;
let storage: Storage;
let server: RawMcpServer;
let names: string[];
/** What the server says about keeping its list. */
let hints: { ttlMs: number; cacheScope: 'public' | 'private' };
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'catalogue-'));
  remote = openRemoteServers();
  storage = await openStorage({ kind: 'sqlite', path: path.join(dataDir, 'test.db') });
  names = ['list_things'];
  hints = { ttlMs: 600_000, cacheScope: 'public' };
  server = await startRawMcpServer({
    on: {
      'tools/list': (message, response) => {
        const tools = names.map((name) => ({
          name,
          inputSchema: { type: 'object' },
          annotations: { readOnlyHint: true },
        }));
        answer(message, response, { resultType: 'complete', ...hints, tools });
      },
    },
  });
});
afterEach(async () => {
  await server.stop();
  await storage.close();
  await rm(dataDir, { recursive: true });
});

const named = (name: string, changes: Partial<ServerConfig> = {}): ServerConfig => ({
  ...server.config,
  name,
  title: 'Things',
  ...changes,
});

test('a server nobody has listed yet is one tool that connects the account, and is not contacted', async () => {
  const catalogue = createCatalogue({ storage, remote, logger });
  const [connect, ...others] = await catalogue.toolsFor(alice, [named('things')]);
  expect(others).toEqual([]);
  expect(connect).toMatchObject({
    modelName: 'connect_things',
    server: 'things',
    tool: null,
    inputSchema: { type: 'object', properties: {} },
  });
  expect(connect?.description).toContain('Things account');
  expect(server.messages).toEqual([]);
});

test('what was learnt with one account is offered in the whole tenant, and in no other', async () => {
  const catalogue = createCatalogue({ storage, remote, logger });
  await catalogue.learn(alice, named('things'), credential, signal);
  const again = createCatalogue({ storage, remote, logger });
  expect(await again.toolsFor(alice, [named('things')])).toMatchObject([
    {
      modelName: 'things__list_things',
      server: 'things',
      tool: 'list_things',
      description: 'list_things',
      readOnly: true,
      idempotent: true,
    },
  ]);
  expect(await again.toolsFor({ ...alice, tenant: 'other' }, [named('things')])).toMatchObject([
    { modelName: 'connect_things' },
  ]);
});

test('every user is offered their own list, and until they have one the newest of anybody', async () => {
  const catalogue = createCatalogue({ storage, remote, logger });
  const offered = async (owner: typeof alice) =>
    (await catalogue.toolsFor(owner, [named('things')])).map(({ tool }) => tool);
  names = ['of_alice'];
  await catalogue.learn(alice, named('things'), credential, signal);
  expect(await offered(bob)).toEqual(['of_alice']);
  names = ['of_bob'];
  await catalogue.learn(bob, named('things'), credential, signal);
  expect(await offered(alice)).toEqual(['of_alice']);
  expect(await offered(bob)).toEqual(['of_bob']);
});

test('a list that its server wants one user to see is shown to nobody else', async () => {
  hints = { ttlMs: 600_000, cacheScope: 'private' };
  const catalogue = createCatalogue({ storage, remote, logger });
  await catalogue.learn(alice, named('things'), credential, signal);
  expect(await catalogue.toolsFor(alice, [named('things')])).toMatchObject([{ tool: 'list_things' }]);
  expect(await catalogue.toolsFor(bob, [named('things')])).toMatchObject([{ modelName: 'connect_things' }]);
});

test('where all use one account, a private list is everybody’s', async () => {
  hints = { ttlMs: 600_000, cacheScope: 'private' };
  const catalogue = createCatalogue({ storage, remote, logger });
  const shared = named('things', { credentialScope: 'project' });
  await catalogue.learn(alice, shared, credential, signal);
  expect(await catalogue.toolsFor(bob, [shared])).toMatchObject([{ tool: 'list_things' }]);
});

test('a user’s first list is learnt although somebody else’s is fresh, and only the first', async () => {
  const catalogue = createCatalogue({ storage, remote, logger });
  await catalogue.learn(alice, named('things'), credential, signal);
  await catalogue.refresh(bob, named('things'), credential, 'missing');
  expect(server.count('tools/list')).toBe(2);
  await catalogue.refresh(bob, named('things'), credential, 'missing');
  expect(server.count('tools/list')).toBe(2);
});

test('a list that its server calls out of date is renewed sooner than others, but not after every call', async () => {
  hints = { ttlMs: 0, cacheScope: 'public' };
  const patient = createCatalogue({ storage, remote, logger });
  await patient.learn(alice, named('things'), credential, signal);
  await patient.refresh(alice, named('things'), credential);
  expect(server.count('tools/list')).toBe(1);
  await createCatalogue({ storage, remote, logger, soonestMs: 0 }).refresh(
    alice,
    named('things'),
    credential,
  );
  expect(server.count('tools/list')).toBe(2);
});

test('a change is read at once, also one that comes while the list is being read', async () => {
  const catalogue = createCatalogue({ storage, remote, logger });
  await catalogue.learn(alice, named('things'), credential, signal);
  await catalogue.refresh(alice, named('things'), credential, 'now');
  expect(server.count('tools/list')).toBe(2);
  names = ['list_things', 'more'];
  await Promise.all([1, 2, 3].map(() => catalogue.refresh(alice, named('things'), credential, 'now')));
  // The one under way, and one for all that came after it had begun.
  expect(server.count('tools/list')).toBe(4);
  expect(await catalogue.toolsFor(alice, [named('things')])).toHaveLength(2);
});

test('a server that needs no account is listed on the spot, once', async () => {
  const catalogue = createCatalogue({ storage, remote, logger });
  const open = named('open', { credentialScope: 'none' });
  expect(await catalogue.toolsFor(alice, [open])).toMatchObject([{ modelName: 'open__list_things' }]);
  expect(await catalogue.toolsFor(alice, [open])).toMatchObject([{ modelName: 'open__list_things' }]);
  expect(server.count('tools/list')).toBe(1);
});

test('a server that is away costs its own tools and nobody else’s', async () => {
  const catalogue = createCatalogue({ storage, remote, logger });
  const away = serverConfig('http://127.0.0.1:9/mcp', { name: 'away', credentialScope: 'none' });
  const tools = await catalogue.toolsFor(alice, [away, named('open', { credentialScope: 'none' })]);
  expect(tools).toMatchObject([{ modelName: 'open__list_things' }]);
});

test('a silent server holds a turn up only for so long', async () => {
  const silent = await startRawMcpServer({ on: { 'server/discover': () => {} } });
  const catalogue = createCatalogue({ storage, remote, logger, listTimeoutMs: 200 });
  expect(await catalogue.toolsFor(alice, [{ ...silent.config, credentialScope: 'none' }])).toEqual([]);
  await silent.stop();
});

test('a fresh list is not read again, an old one is, by one of many at a time', async () => {
  const fresh = createCatalogue({ storage, remote, logger });
  await fresh.learn(alice, named('things'), credential, signal);
  await fresh.refresh(alice, named('things'), credential);
  expect(server.count('tools/list')).toBe(1);

  names = ['list_things', 'more'];
  const old = createCatalogue({ storage, remote, logger, freshMs: 0 });
  await Promise.all([1, 2, 3].map(() => old.refresh(alice, named('things'), credential)));
  expect(server.count('tools/list')).toBe(2);
  expect(await old.toolsFor(alice, [named('things')])).toHaveLength(2);
});

test('a list that cannot be renewed stays as it was', async () => {
  const catalogue = createCatalogue({ storage, remote, logger, freshMs: 0 });
  await catalogue.learn(alice, named('things'), credential, signal);
  await server.stop();
  await catalogue.refresh(alice, named('things'), credential);
  expect(await catalogue.toolsFor(alice, [named('things')])).toHaveLength(1);
});

test('a known server without tools is not offered to be connected for ever', async () => {
  names = [];
  const catalogue = createCatalogue({ storage, remote, logger });
  await catalogue.learn(alice, named('things'), credential, signal);
  expect(await catalogue.toolsFor(alice, [named('things')])).toEqual([]);
});

test('what cannot be offered is named in the log, with the reason, and the rest is offered', async () => {
  const lines: Record<string, unknown>[] = [];
  const noting = pino(
    { level: 'warn' },
    { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[0]) },
  );
  const inputSchema = { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'no name' } } };
  const peer = await startRawMcpServer({
    on: {
      'tools/list': (message, response) => {
        const tools = [
          { name: 'odd', inputSchema },
          { name: 'fine', inputSchema: { type: 'object' } },
        ];
        answer(message, response, { resultType: 'complete', ...hints, tools });
      },
    },
  });
  const catalogue = createCatalogue({ storage, remote, logger: noting });
  const open = { ...peer.config, name: 'open', credentialScope: 'none' as const };
  expect(await catalogue.toolsFor(alice, [open])).toMatchObject([{ tool: 'fine' }]);
  expect(lines).toMatchObject([
    { server: 'open', toolName: 'odd', reason: expect.stringContaining('is not a header name') },
  ]);
  await peer.stop();
});

test('names are what providers accept, at most 64 characters, and never shared by two tools', async () => {
  const long = 'x'.repeat(80);
  names = ['plain', 'with.dot', 'with_dot', 'with/slash', `${long}1`, `${long}2`];
  const catalogue = createCatalogue({ storage, remote, logger });
  await catalogue.learn(alice, named('things'), credential, signal);
  const tools = await catalogue.toolsFor(alice, [named('things')]);
  for (const { modelName } of tools) expect(modelName).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(new Set(tools.map(({ modelName }) => modelName)).size).toBe(names.length);
  expect(tools.map(({ modelName }) => tools.find((tool) => tool.modelName === modelName)?.tool)).toEqual(
    names,
  );
  expect(modelNameOf('things', 'plain')).toBe('things__plain');
});
