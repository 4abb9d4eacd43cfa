import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ServerConfig } from '../../src/config.ts';
import type { Credential } from '../../src/credentials/store.ts';
import { createCatalogue } from '../../src/mcp/catalogue.ts';
import { modelNameOf } from '../../src/mcp/model-tools.ts';
import { openStorage } from '../../src/storage/database.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { serverConfig } from '../peers/mcp-server.ts';
import { answer, startRawMcpServer } from '../peers/raw-mcp-server.ts';
import type { RawMcpServer } from '../peers/raw-mcp-server.ts';

const credential: Credential = { kind: 'credential', headers: { authorization: 'Bearer t' }, version: 1 };
const signal = new AbortController().signal;
const logger = pino({ level: 'silent' });

let dataDir: string;
let storage: Storage;
let server: RawMcpServer;
let names: string[];
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'catalogue-'));
  storage = await openStorage({ kind: 'sqlite', path: path.join(dataDir, 'test.db') });
  names = ['list_things'];
  server = await startRawMcpServer({
    on: {
      'tools/list': (message, response) => {
        const tools = names.map((name) => ({
          name,
          inputSchema: { type: 'object' },
          annotations: { readOnlyHint: true },
        }));
        answer(message, response, { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools });
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
  const catalogue = createCatalogue({ storage, logger });
  const [connect, ...others] = await catalogue.toolsFor('demo', [named('things')]);
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
  const catalogue = createCatalogue({ storage, logger });
  await catalogue.learn('demo', named('things'), credential, signal);
  const again = createCatalogue({ storage, logger });
  expect(await again.toolsFor('demo', [named('things')])).toMatchObject([
    {
      modelName: 'things__list_things',
      server: 'things',
      tool: 'list_things',
      description: 'list_things',
      readOnly: true,
      idempotent: true,
    },
  ]);
  expect(await again.toolsFor('other', [named('things')])).toMatchObject([{ modelName: 'connect_things' }]);
});

test('a server that needs no account is listed on the spot, once', async () => {
  const catalogue = createCatalogue({ storage, logger });
  const open = named('open', { credentialScope: 'none' });
  expect(await catalogue.toolsFor('demo', [open])).toMatchObject([{ modelName: 'open__list_things' }]);
  expect(await catalogue.toolsFor('demo', [open])).toMatchObject([{ modelName: 'open__list_things' }]);
  expect(server.count('tools/list')).toBe(1);
});

test('a server that is away costs its own tools and nobody else’s', async () => {
  const catalogue = createCatalogue({ storage, logger });
  const away = serverConfig('http://127.0.0.1:9/mcp', { name: 'away', credentialScope: 'none' });
  const tools = await catalogue.toolsFor('demo', [away, named('open', { credentialScope: 'none' })]);
  expect(tools).toMatchObject([{ modelName: 'open__list_things' }]);
});

test('a silent server holds a turn up only for so long', async () => {
  const silent = await startRawMcpServer({ on: { 'server/discover': () => {} } });
  const catalogue = createCatalogue({ storage, logger, patienceMs: 200 });
  expect(await catalogue.toolsFor('demo', [{ ...silent.config, credentialScope: 'none' }])).toEqual([]);
  await silent.stop();
});

test('a fresh list is not read again, an old one is, by one of many at a time', async () => {
  const fresh = createCatalogue({ storage, logger });
  await fresh.learn('demo', named('things'), credential, signal);
  await fresh.refresh('demo', named('things'), credential);
  expect(server.count('tools/list')).toBe(1);

  names = ['list_things', 'more'];
  const old = createCatalogue({ storage, logger, freshMs: 0 });
  await Promise.all([1, 2, 3].map(() => old.refresh('demo', named('things'), credential)));
  expect(server.count('tools/list')).toBe(2);
  expect(await old.toolsFor('demo', [named('things')])).toHaveLength(2);
});

test('a list that cannot be renewed stays as it was', async () => {
  const catalogue = createCatalogue({ storage, logger, freshMs: 0 });
  await catalogue.learn('demo', named('things'), credential, signal);
  await server.stop();
  await catalogue.refresh('demo', named('things'), credential);
  expect(await catalogue.toolsFor('demo', [named('things')])).toHaveLength(1);
});

test('a known server without tools is not offered to be connected for ever', async () => {
  names = [];
  const catalogue = createCatalogue({ storage, logger });
  await catalogue.learn('demo', named('things'), credential, signal);
  expect(await catalogue.toolsFor('demo', [named('things')])).toEqual([]);
});

test('names are what providers accept, at most 64 characters, and never shared by two tools', async () => {
  const long = 'x'.repeat(80);
  names = ['plain', 'with.dot', 'with_dot', 'with dot', `${long}1`, `${long}2`, 'größe'];
  const catalogue = createCatalogue({ storage, logger });
  await catalogue.learn('demo', named('things'), credential, signal);
  const tools = await catalogue.toolsFor('demo', [named('things')]);
  for (const { modelName } of tools) expect(modelName).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(new Set(tools.map(({ modelName }) => modelName)).size).toBe(names.length);
  expect(tools.map(({ modelName }) => tools.find((tool) => tool.modelName === modelName)?.tool)).toEqual(
    names,
  );
  expect(modelNameOf('things', 'plain')).toBe('things__plain');
});
