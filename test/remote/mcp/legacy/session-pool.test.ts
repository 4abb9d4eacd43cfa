/** Sessions that outlive their call: which calls share them, which must not, and how they end. */
import { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import type { Credential } from '../../../../src/credentials/credential-store.ts';
import type { RemoteServers, ToolCall } from '../../../../src/remote/remote-servers.ts';
import { startMcpServer } from '../../../servers/mcp-server.ts';
import type { TestMcpServer } from '../../../servers/mcp-server.ts';
import { openRemoteServers } from '../../../../src/remote/open-remote-servers.ts';

const bearer = (token: string, version = 1): Credential => ({
  kind: 'credential',
  headers: { authorization: `Bearer ${token}` },
  version,
});
const ofAlice = bearer('of-alice');

function build(): McpServer {
  const server = new McpServer({ name: 'peer', version: '1' });
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  server.registerTool('broken', {}, () => ({
    content: [{ type: 'text', text: 'out of paper' }],
    isError: true,
  }));
  return server;
}

async function peer(options: Partial<Parameters<typeof startMcpServer>[0]> = {}): Promise<TestMcpServer> {
  const server = await startMcpServer({ era: 'legacy', build, ...options });
  onTestFinished(() => server.stop());
  return server;
}

function keep(options?: Parameters<typeof openRemoteServers>[0]): RemoteServers {
  const sessions = openRemoteServers(options);
  onTestFinished(() => sessions.close());
  return sessions;
}

interface As {
  owner?: string;
  credential?: Credential;
}

function call(
  { config }: TestMcpServer,
  sessions: RemoteServers,
  { owner = 'alice', credential = ofAlice, ...changes }: As & Partial<ToolCall> = {},
) {
  return sessions.callTool(config, credential, {
    name: 'echo',
    arguments: { text: 'hello' },
    callId: 'turn-1/call-1',
    owner,
    signal: new AbortController().signal,
    ...changes,
  });
}

const count = ({ requests }: TestMcpServer, method: string) =>
  requests.filter((request) => request.method === method).length;
const callsOf = ({ requests }: TestMcpServer) => requests.filter(({ method }) => method === 'tools/call');
const sessionsOf = (server: TestMcpServer) => callsOf(server).map(({ headers }) => headers['mcp-session-id']);
const goodbyes = ({ requests }: TestMcpServer) => requests.filter(({ http }) => http === 'DELETE');

test('calls that follow each other are one session with one handshake, and no two have the same id', async () => {
  const server = await peer();
  const sessions = keep();
  for (const text of ['a', 'b', 'c'])
    expect(await call(server, sessions, { arguments: { text } })).toMatchObject({
      kind: 'result',
      result: { content: [{ text }] },
    });
  expect(count(server, 'initialize')).toBe(1);
  expect(count(server, 'notifications/initialized')).toBe(1);
  expect(new Set(sessionsOf(server)).size).toBe(1);
  const ids = callsOf(server).map(({ body }) => (body as { id: number }).id);
  expect(new Set(ids).size).toBe(3);
  expect(goodbyes(server)).toEqual([]);
});

test('a tool that reports its own failure has answered: the session goes on', async () => {
  const server = await peer();
  const sessions = keep();
  expect(await call(server, sessions, { name: 'broken', arguments: {} })).toMatchObject({ kind: 'result' });
  await call(server, sessions);
  expect(count(server, 'initialize')).toBe(1);
});

test('a server of the new era has no session to keep', async () => {
  const server = await peer({ era: 'modern' });
  const sessions = keep();
  for (const _ of [1, 2, 3]) await call(server, sessions);
  await sessions.close();
  const methods = ['server/discover', 'tools/call', 'tools/call', 'tools/call'];
  expect(server.requests.map(({ method }) => method)).toEqual(methods);
});

test('nobody is served in the session of somebody else, whatever credential they share', async () => {
  const server = await peer();
  const sessions = keep();
  for (const owner of ['alice', 'bob', 'alice', 'bob']) await call(server, sessions, { owner });
  const [alices, bobs, ...later] = sessionsOf(server);
  expect(alices).not.toBe(bobs);
  expect(later).toEqual([alices, bobs]);
});

test.each([
  ['renewed', bearer('renewed')],
  ['replaced by another connection', bearer('of-alice', 2)],
  ['the same in name only', { ...ofAlice, tokenId: 'other' }],
] as const)(
  'a credential that is %s gets a session of its own, and the old one is ended',
  async (_, next) => {
    const server = await peer();
    const sessions = keep();
    await call(server, sessions);
    await call(server, sessions, { credential: next });
    const [before, after] = sessionsOf(server);
    expect(after).not.toBe(before);
    const sent = callsOf(server).at(-1);
    expect(sent?.headers['authorization']).toBe(next.headers.authorization);
    await expect.poll(() => server.sessions.has(String(before))).toBe(false);
    await call(server, sessions, { credential: next });
    expect(sessionsOf(server).at(-1)).toBe(after);
  },
);

test('a server that was told something else about who can be asked is greeted anew', async () => {
  const server = await peer();
  const sessions = keep();
  const canAsk = { form: true, url: true };
  await call(server, sessions);
  await call(server, sessions, { capabilities: canAsk });
  await call(server, sessions);
  await call(server, sessions, { capabilities: canAsk });
  const [plain, asking, ...later] = sessionsOf(server);
  expect(asking).not.toBe(plain);
  expect(later).toEqual([plain, asking]);
});

test('a session that nobody needs for some time is ended', async () => {
  const server = await peer();
  const sessions = keep({ idleMs: 50 });
  await call(server, sessions);
  await expect.poll(() => server.sessions.size).toBe(0);
  expect(await call(server, sessions)).toMatchObject({ kind: 'result' });
  expect(count(server, 'initialize')).toBe(2);
});

test('closing has told every server when it is done, and nothing is kept after that', async () => {
  const server = await peer();
  const sessions = keep();
  await Promise.all([call(server, sessions), call(server, sessions, { owner: 'bob' })]);
  expect(server.sessions.size).toBe(2);
  await sessions.close();
  expect(server.sessions.size).toBe(0);
  await call(server, sessions);
  await sessions.close();
  expect(server.sessions.size).toBe(0);
});

test('calls side by side have a session each, and four of them are kept', async () => {
  const server = await peer();
  const sessions = keep();
  const texts = Array.from({ length: 6 }, (_, index) => `text ${index}`);
  const outcomes = await Promise.all(texts.map((text) => call(server, sessions, { arguments: { text } })));
  expect(outcomes).toMatchObject(texts.map((text) => ({ kind: 'result', result: { content: [{ text }] } })));
  expect(new Set(sessionsOf(server)).size).toBe(6);
  await expect.poll(() => server.sessions.size).toBe(4);
  await Promise.all([1, 2, 3, 4].map(() => call(server, sessions)));
  expect(count(server, 'initialize')).toBe(6);
});

describe.each(['legacy', 'modern'] as const)('a %s server', (era) => {
  test('that was started anew is called once', async () => {
    const server = await peer({ era });
    const sessions = keep();
    await call(server, sessions);
    await server.stop();
    const next = await peer({ era, port: Number(new URL(server.config.url).port) });
    expect(await call(next, sessions)).toMatchObject({ kind: 'result' });
    expect(count(next, 'initialize')).toBe(era === 'legacy' ? 1 : 0);
  });

  test('that is gone is certainly not called', async () => {
    const server = await peer({ era });
    const sessions = keep();
    await call(server, sessions);
    await server.stop();
    expect(await call(server, sessions)).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('nothing is listening there'),
    });
  });
});

test('a server that has become one of the new era is understood', async () => {
  const server = await peer();
  const sessions = keep();
  await call(server, sessions);
  await server.stop();
  const next = await peer({ era: 'modern', port: Number(new URL(server.config.url).port) });
  expect(await call(next, sessions)).toMatchObject({ kind: 'result' });
  expect(await call(next, sessions)).toMatchObject({ kind: 'result' });
});
