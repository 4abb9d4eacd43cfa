import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createCallNotifications } from '../../../src/activities/call-tool/call-notifications.ts';
import type { Credential } from '../../../src/credentials/credential-store.ts';
import { createCatalogue } from '../../../src/remote/catalogue.ts';
import { openRemoteServers } from '../../../src/remote/open-remote-servers.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { NewTurn } from '../../../src/storage/tables/turn-lifecycle.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { answer, startRawMcpServer } from '../../servers/raw-mcp-server.ts';
import type { RawMcpServer } from '../../servers/raw-mcp-server.ts';
import { begunTurn, firstAttempt, keptStep } from '../../storage/contract/fixtures.ts';

const credential: Credential = { kind: 'credential', headers: { authorization: 'Bearer t' }, version: 1 };
const logger = pino({ level: 'silent' });
const call = { toolCallId: 'c1', toolName: 'peer__pay', input: {}, state: 'started' as const, createdAt: 0 };

let folder: string;
let storage: Storage;
let turn: NewTurn;
let server: RawMcpServer;
/** Lets the server answer what it was asked for. */
let release: () => void;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'beside-'));
  storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'test.db') });
  turn = await begunTurn(storage);
  await keptStep(storage, turn, { calls: [call] });
  const released = new Promise<void>((resolve) => (release = resolve));
  server = await startRawMcpServer({
    on: {
      'tools/list': async (message, response) => {
        await released;
        const tools = [{ name: 'own', inputSchema: { type: 'object' } }];
        answer(message, response, { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools });
      },
    },
  });
});
afterEach(async () => {
  release();
  await server.stop();
  await storage.close();
  await rm(folder, { recursive: true });
});

function beside(kept: Storage = storage) {
  const limits = { elicitationTimeoutMs: 600_000 };
  const input = { turn: { ...turn, limits }, toolCallId: 'c1', server: 'peer', tool: 'pay', execution: 0 };
  const catalogue = createCatalogue({ storage: kept, remote: openRemoteServers(), logger });
  return createCallNotifications(
    { storage: kept, catalogue, logger },
    { input, by: firstAttempt, call, server: server.config, listed: null },
    credential,
  );
}

const own = () => storage.toolCatalogue.get({ tenant: turn.tenant, server: 'peer', user: turn.user });

test('a user without a list of their own has one when the call is over, for the next step', async () => {
  const { listener, settled } = beside();
  listener.onSent?.();
  await server.arrived('tools/list');
  const over = settled();
  release();
  await over;
  expect(await own()).toMatchObject({ isOwn: true, tools: [{ name: 'own' }] });
});

test('a call that never left has nothing listed', async () => {
  await beside().settled();
  expect(server.messages).toEqual([]);
});

test('a list that takes its time holds nobody up for long', async () => {
  const { listener, settled } = beside();
  listener.onSent?.();
  await settled();
  expect(await own()).toBeNull();
});

test('a user who has a list is not listed again for it', async () => {
  release();
  for (const { listener, settled } of [beside(), beside()]) {
    listener.onSent?.();
    await settled();
  }
  expect(server.count('tools/list')).toBe(1);
});

test('the last progress is in the log when the call is over, and a database in trouble fails no call', async () => {
  release();
  const { listener, settled } = beside();
  for (const progress of [1, 2, 3]) listener.onProgress?.({ progress, total: 3 });
  await settled();
  const log = await storage.turnLog.read(turn, 0);
  expect(log.map(({ event }) => event).filter(({ type }) => type === 'tool-progress')).toEqual([
    { type: 'tool-progress', toolCallId: 'c1', toolName: 'peer__pay', progress: 1, total: 3 },
    { type: 'tool-progress', toolCallId: 'c1', toolName: 'peer__pay', progress: 3, total: 3 },
  ]);

  const broken = { ...storage.toolCalls, noteProgress: () => Promise.reject(new Error('disk full')) };
  const troubled = beside({ ...storage, toolCalls: broken });
  troubled.listener.onProgress?.({ progress: 4 });
  await expect(troubled.settled()).resolves.toBeUndefined();
});
