import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ServerConfig } from '../../../src/platform/config/config.ts';
import type { Credential } from '../../../src/credentials/credential-store.ts';
import type { ToolCall } from '../../../src/remote/remote-servers.ts';
import { serverConfig, startMcpServer } from '../../servers/mcp-server.ts';
import type { TestMcpServer } from '../../servers/mcp-server.ts';
import { openRemoteServers } from '../../../src/remote/open-remote-servers.ts';

/** Remembers nothing of the servers of other tests, which may have had the same ports. */
let remote = openRemoteServers();
beforeEach(() => void (remote = openRemoteServers()));

const credential: Credential = {
  kind: 'credential',
  headers: { authorization: 'Bearer of-alice' },
  version: 1,
};
const running: { stop(): Promise<void> }[] = [];
afterEach(async () => void (await Promise.all(running.splice(0).map((one) => one.stop()))));

const picture = { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' } as const;
const sound = { type: 'audio', data: 'aGVsbG8=', mimeType: 'audio/wav' } as const;
const file = {
  type: 'resource',
  resource: { uri: 'file:///a.txt', text: 'hello', mimeType: 'text/plain' },
} as const;
const link = { type: 'resource_link', uri: 'file:///b.txt', name: 'b.txt' } as const;

function build(): McpServer {
  const server = new McpServer({ name: 'peer', version: '1' });
  server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  server.registerTool('everything', {}, () => ({
    content: [
      { type: 'text', text: 'hi', annotations: { audience: ['user' as const] } },
      picture,
      sound,
      file,
      link,
    ],
    structuredContent: { count: 5, nested: { ok: true } },
    _meta: { 'peer/trace': 'abc' },
  }));
  server.registerTool('broken', {}, () => ({
    content: [{ type: 'text', text: 'out of paper' }],
    isError: true,
  }));
  server.registerTool('steps', {}, async (context) => {
    const progressToken = context.mcpReq._meta?.progressToken ?? 'none';
    for (const progress of [1, 2]) {
      await context.mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 2 },
      });
    }
    return { content: [{ type: 'text', text: 'done' }] };
  });
  server.registerTool('meta', {}, (context) => ({
    content: [{ type: 'text', text: JSON.stringify(context.mcpReq._meta) }],
  }));
  server.registerTool('ask', {}, () =>
    inputRequired({
      inputRequests: {
        name: inputRequired.elicit({
          message: 'Name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
        }),
      },
    }),
  );
  return server;
}

async function peer(era: 'modern' | 'legacy' | 'both'): Promise<TestMcpServer> {
  const server = await startMcpServer({ era, build });
  running.push(server);
  return server;
}

function call(server: ServerConfig, name: string, changes: Partial<ToolCall> = {}) {
  const signal = new AbortController().signal;
  return remote.callTool(server, credential, {
    name,
    arguments: {},
    callId: 'turn-1/call-1',
    signal,
    ...changes,
  });
}

describe.each(['modern', 'legacy', 'both'] as const)('a %s server', (era) => {
  test('gives back what the tool answered', async () => {
    const { config } = await peer(era);
    expect(await call(config, 'echo', { arguments: { text: 'hello' } })).toMatchObject({
      kind: 'result',
      result: { content: [{ type: 'text', text: 'hello' }] },
    });
  });

  test('has every kind of content kept, with its annotations and metadata', async () => {
    const { config } = await peer(era);
    const outcome = await call(config, 'everything');
    expect(outcome).toMatchObject({
      kind: 'result',
      result: {
        content: [
          { type: 'text', text: 'hi', annotations: { audience: ['user'] } },
          picture,
          sound,
          file,
          link,
        ],
        structuredContent: { count: 5, nested: { ok: true } },
        _meta: { 'peer/trace': 'abc' },
      },
    });
    expect(outcome).not.toHaveProperty('result.resultType');
  });

  test('reports a failed tool as a result that says so', async () => {
    const { config } = await peer(era);
    const failed = { content: [{ type: 'text', text: 'out of paper' }], isError: true };
    expect(await call(config, 'broken')).toMatchObject({ kind: 'result', result: failed });
  });

  test('gets the credential and the call id with the call', async () => {
    const server = await peer(era);
    const outcome = await call(server.config, 'meta');
    const sent = server.requests.find(({ method }) => method === 'tools/call');
    expect(sent?.headers['authorization']).toBe('Bearer of-alice');
    expect(sent?.body).toMatchObject({
      params: { _meta: { 'interlude/callId': 'turn-1/call-1' } },
    });
    expect(outcome).toHaveProperty('result.content.0.text', expect.stringContaining('turn-1/call-1'));
  });

  test('turns down a tool it does not have, and says why', async () => {
    const { config } = await peer(era);
    const outcome = await call(config, 'nonsense');
    expect(outcome).toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(/^Peer \(127\.0\.0\.1:\d+\) refused the call: .*nonsense/),
    });
  });

  test('is told by nobody that questions can be answered', async () => {
    const server = await peer(era);
    await call(server.config, 'echo', { arguments: { text: 'a' } });
    expect(JSON.stringify(server.requests.map(({ body }) => body))).not.toContain('elicitation');
  });
});

test('a server that answers a call with a question ends that call with a clear error', async () => {
  const { config } = await peer('modern');
  const outcome = await call(config, 'ask');
  expect(outcome).toMatchObject({ kind: 'unaskable', failure: { code: 'unaskable' } });
});

test('a modern server is probed once, after that a call is a single request', async () => {
  const { config, requests } = await peer('modern');
  for (const text of ['a', 'b', 'c']) await call(config, 'echo', { arguments: { text } });
  expect(requests.map(({ method }) => method)).toEqual([
    'server/discover',
    'tools/call',
    'tools/call',
    'tools/call',
  ]);
});

test('an old server is probed once, and every call has a session of its own that is ended', async () => {
  const server = await peer('legacy');
  const { config, requests, sessions } = server;
  await Promise.all(['a', 'b', 'c'].map((text) => call(config, 'echo', { arguments: { text } })));
  await call(config, 'echo', { arguments: { text: 'd' } });
  const used = requests
    .filter(({ method }) => method === 'tools/call')
    .map(({ headers }) => headers['mcp-session-id']);
  expect(new Set(used).size).toBe(4);
  await expect.poll(() => sessions.size).toBe(0);
  expect(requests.filter(({ http }) => http === 'GET')).toEqual([]);
});

test('parallel calls never see each other’s answers', async () => {
  const { config } = await peer('both');
  const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
  const outcomes = await Promise.all(texts.map((text) => call(config, 'echo', { arguments: { text } })));
  expect(outcomes).toMatchObject(texts.map((text) => ({ kind: 'result', result: { content: [{ text }] } })));
});

test('a credential replaces a static header of the same name, however it is spelled', async () => {
  const server = await peer('modern');
  const config = { ...server.config, headers: { Authorization: 'Bearer static', 'X-Team': 'blue' } };
  await call(config, 'echo', { arguments: { text: 'a' } });
  const sent = server.requests.at(-1)?.headers;
  expect(sent).toMatchObject({ authorization: 'Bearer of-alice', 'x-team': 'blue' });
});

test('a server that is not there is certainly not called', async () => {
  const server = await peer('modern');
  await server.stop();
  const outcome = await call(server.config, 'echo');
  expect(outcome).toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('nothing is listening there'),
  });
});

test('a host name that does not exist is named', async () => {
  const outcome = await call(serverConfig('http://no-such-host.invalid/mcp'), 'echo');
  expect(outcome).toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('no-such-host.invalid'),
  });
});
