/** A person's answer goes out at once: the tools are listed after the call. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createCallNotifications } from '../../../src/activities/call-tool/call-notifications.ts';
import type { Credential } from '../../../src/credentials/credential-store.ts';
import { createCatalogue } from '../../../src/remote/catalogue.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { answer, startRawMcpServer } from '../../servers/raw-mcp-server.ts';
import { begunTurn, firstAttempt } from '../../storage/contract/fixtures.ts';
import { openRemoteServers } from '../../../src/remote/open-remote-servers.ts';

const remote = openRemoteServers();

const credential: Credential = { kind: 'credential', headers: { authorization: 'Bearer t' }, version: 1 };
const logger = pino({ level: 'silent' });
const done = { resultType: 'complete', content: [{ type: 'text', text: 'paid' }] };
const listed = {
  ...done,
  ttlMs: 0,
  cacheScope: 'private',
  tools: [{ name: 'pay', inputSchema: { type: 'object' } }],
};

test.each([
  ['modern', ['server/discover']],
  ['legacy', ['server/discover', 'initialize', 'notifications/initialized']],
] as const)('a user without a list of a %s server has their call sent first', async (era, handshake) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'list-after-call-'));
  const storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'test.db') });
  const server = await startRawMcpServer({
    era,
    on: {
      'tools/call': (message, response) => answer(message, response, done),
      'tools/list': (message, response) => answer(message, response, listed),
    },
  });
  onTestFinished(async () => {
    await server.stop();
    await storage.close();
    await rm(folder, { recursive: true });
  });
  const turn = await begunTurn(storage);
  const call = {
    toolCallId: 'c1',
    toolName: 'peer__pay',
    input: {},
    state: 'started' as const,
    createdAt: 0,
  };
  const limits = { elicitationTimeoutMs: 600_000 };
  const input = { turn: { ...turn, limits }, toolCallId: 'c1', server: 'peer', tool: 'pay', execution: 0 };
  const catalogue = createCatalogue({ storage, remote, logger });
  const beside = createCallNotifications(
    { storage, catalogue, logger },
    { input, by: firstAttempt, call, server: server.config, listed: null },
    credential,
  );
  const signal = new AbortController().signal;
  const outcome = await remote.callTool(server.config, credential, {
    name: 'pay',
    arguments: {},
    callId: 'c1',
    signal,
    ...beside.listener,
  });
  expect(outcome.kind).toBe('result');
  await beside.settled();
  const seen = server.messages.map(({ method }) => method);
  expect(seen.slice(0, seen.indexOf('tools/call'))).toEqual(handshake);
  expect(seen).toContain('tools/list');
  const own = { tenant: turn.tenant, server: 'peer', user: turn.user };
  expect(await storage.toolCatalogue.get(own)).toMatchObject({ isOwn: true, tools: [{ name: 'pay' }] });
});
