/** Servers that speak both protocol eras, and in which of them their tools can ask. */
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Credential } from '../../../src/credentials/credential-store.ts';
import { openRemoteServers } from '../../../src/remote/open-remote-servers.ts';
import { couldNotAsk } from '@interlude-ai/core/mcp/could-not-ask.ts';
import type { AskUser, RemoteServers } from '../../../src/remote/remote-servers.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { startMcpServer } from '../../servers/mcp-server.ts';
import type { TestMcpServer } from '../../servers/mcp-server.ts';

const credential: Credential = { kind: 'credential', headers: {}, version: 1 };
const form = {
  message: 'How many nights?',
  requestedSchema: { type: 'object' as const, properties: { nights: { type: 'integer' as const } } },
};

let folder: string;
let storage: Storage;
let remote: RemoteServers;
/** Which tools have begun, and in which era. */
let begun: string[];
let version: string;
const running: TestMcpServer[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'eras-'));
  storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'test.db') });
  remote = openRemoteServers({ learnedEras: storage.learnedEras });
  begun = [];
  version = '1';
});
afterEach(async () => {
  await remote.close();
  await Promise.all(running.splice(0).map((one) => one.stop()));
  await storage.close();
  await rm(folder, { recursive: true });
});

/** `pushes` asks as in the old era; `returns` as in the new one, and like Python's SDK and rmcp not in the old one. */
function build(era: 'modern' | 'legacy'): McpServer {
  const server = new McpServer({ name: 'both', version });
  for (const [suffix, readOnlyHint] of [
    ['', false],
    ['_safely', true],
  ] as const) {
    const annotations = { readOnlyHint };
    server.registerTool(`pushes${suffix}`, { annotations }, async (ctx) => {
      begun.push(`pushes ${era}`);
      const { action } = await ctx.mcpReq.elicitInput({ mode: 'form', ...form });
      return { content: [{ type: 'text', text: action }] };
    });
    server.registerTool(`returns${suffix}`, { annotations }, () => {
      begun.push(`returns ${era}`);
      if (era === 'modern') return inputRequired({ inputRequests: { nights: inputRequired.elicit(form) } });
      throw new Error('InputRequiredResult requires negotiated protocol version 2026-07-28 or newer');
    });
  }
  return server;
}

async function peer(options: Partial<Parameters<typeof startMcpServer>[0]> = {}): Promise<TestMcpServer> {
  const server = await startMcpServer({ era: 'both', build, ...options });
  running.push(server);
  return server;
}

const decline: AskUser = {
  ask: ({ key }) =>
    Promise.resolve({ kind: 'answer', answer: { key, action: 'decline' }, outcome: 'decline' }),
  pageDone: () => undefined,
};

function call({ config }: Pick<TestMcpServer, 'config'>, name: string, by = remote, as = credential) {
  return by.callTool(config, as, {
    name,
    arguments: {},
    callId: 'c1',
    capabilities: { form: true, url: true },
    askUser: decline,
    isRepeatable: name.endsWith('_safely'),
    signal: new AbortController().signal,
  });
}

const declined = { kind: 'result', result: { content: [{ type: 'text', text: 'decline' }] } };

test('a server of both eras that keeps sessions can push its questions', async () => {
  expect(await call(await peer(), 'pushes')).toMatchObject(declined);
  expect(begun).toEqual(['pushes legacy']);
});

test('a server of both eras without sessions is called in the new era, where it can ask', async () => {
  const server = await peer({ hasSessions: false });
  expect(await call(server, 'returns')).toMatchObject({ kind: 'asks' });
  expect(begun).toEqual(['returns modern']);
  // Found out once.
  server.requests.length = 0;
  await call(server, 'returns');
  expect(server.requests.map(({ method }) => method)).toEqual(['tools/call']);
});

test('an expired token that is answered with 400 does not pass for a server without the old era', async () => {
  let isExpired = false;
  const server = await peer({
    guard(_, response) {
      if (isExpired) response.writeHead(400).end();
      return isExpired;
    },
  });
  const account = { ...credential, tokenId: 't1' };
  await remote.listTools(server.config, account, new AbortController().signal);
  isExpired = true;
  expect(await call(server, 'pushes', remote, account)).toMatchObject({ kind: 'refused' });
  isExpired = false;
  expect(await call(server, 'pushes', remote, account)).toMatchObject(declined);
  expect(begun).toEqual(['pushes legacy']);
});

test('a read-only tool that cannot ask in one era is called again in the other one', async () => {
  expect(await call(await peer(), 'returns_safely')).toMatchObject({ kind: 'asks' });
  expect(begun).toEqual(['returns legacy', 'returns modern']);
});

test('any other tool is not called again: its outcome is unknown, and the next call can ask', async () => {
  const server = await peer();
  const first = await call(server, 'returns');
  expect(first).toMatchObject({ kind: 'unknown', message: expect.stringContaining('another call will ask') });
  expect(begun).toEqual(['returns legacy']);
  expect(await call(server, 'returns')).toMatchObject({ kind: 'asks' });
  expect(begun).toEqual(['returns legacy', 'returns modern']);
});

test('what was learned counts in other processes and after a restart', async () => {
  const server = await peer();
  await call(server, 'returns');
  const other = openRemoteServers({ learnedEras: storage.learnedEras });
  expect(await call(server, 'returns', other)).toMatchObject({ kind: 'asks' });
  await other.close();
});

test('a server whose tools ask in both ways is called in the era of each tool', async () => {
  const server = await peer();
  await call(server, 'returns');
  await call(server, 'pushes');
  begun = [];
  expect(await call(server, 'pushes')).toMatchObject(declined);
  expect(await call(server, 'returns')).toMatchObject({ kind: 'asks' });
  expect(begun).toEqual(['pushes legacy', 'returns modern']);
});

test('another version of the server forgets what was learned', async () => {
  const server = await peer();
  await call(server, 'returns');
  expect(await storage.learnedEras.list()).toHaveLength(1);
  version = '2';
  const restarted = openRemoteServers({ learnedEras: storage.learnedEras });
  expect(await call(server, 'pushes', restarted)).toMatchObject(declined);
  expect(begun.at(-1)).toBe('pushes legacy');
  expect(await storage.learnedEras.list()).toEqual([]);
  await restarted.close();
});

test.each([
  ['2025-11-25', 'legacy'],
  ['2026-07-28', 'modern'],
] as const)('era: %s decides, and nothing is learned', async (era, spoken) => {
  const { config } = await peer();
  const fixed = { config: { ...config, era } };
  for (const tool of ['pushes_safely', 'returns_safely']) await call(fixed, tool);
  expect(begun).toEqual([`pushes ${spoken}`, `returns ${spoken}`]);
  expect(await storage.learnedEras.list()).toEqual([]);
});

test('a server that only speaks one era says so to an agents file that wants the other one', async () => {
  const { config } = await peer({ era: 'legacy' });
  expect(await call({ config: { ...config, era: '2026-07-28' } }, 'pushes')).toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('2026-07-28'),
  });
});

const failed = (text: string) => ({ result: { isError: true, content: [{ type: 'text', text }] } });
const refused = (message: string) => ({ error: { code: -32600, message } });

test.each([
  [
    'FastMCP 4',
    failed('elicitation via server-initiated requests is unavailable on 2026-07-28 connections.'),
  ],
  [
    'the SDK for Python',
    refused(
      "Cannot send 'elicitation/create': this transport context has no back-channel for server-initiated requests.",
    ),
  ],
  [
    'the SDK for Python, in rounds',
    refused("Tool 'book' returned an InputRequiredResult to request client input, but the multi-round-trip"),
  ],
  [
    'the SDK for TypeScript',
    failed(
      "Server-to-client requests are not available on protocol revision 2026-07-28: 'elicitation/create'",
    ),
  ],
  [
    'the SDK for TypeScript, a page',
    refused(
      'URL elicitation cannot be signalled by throwing UrlElicitationRequiredError on protocol revision',
    ),
  ],
  [
    'the SDK for Go',
    failed('"elicitation/create" cannot be sent while serving a request on protocol version 2026-07-28'),
  ],
  ['mcp-go', refused('server-initiated requests are not supported in protocol version 2026-07-28 or later')],
  ['rmcp', refused('server-to-client requests are not allowed on protocol 2026-07-28 or later')],
  [
    'rmcp, in rounds',
    refused('InputRequiredResult requires negotiated protocol version 2026-07-28 or newer'),
  ],
])('what %s answers when a tool asks in the way of the other era is understood', (_, answer) => {
  expect(couldNotAsk(answer)).toBe(true);
});

test.each([
  ['a result that speaks of it', { result: { content: [{ type: 'text', text: 'elicitation/create' }] } }],
  ['another failure', failed('Input required: the name of a city')],
  ['a failure that quotes a page about it', failed(`elicitation/create ${'x'.repeat(2_000)}`)],
  ['a failure without a text', failed('')],
  ['a result that is none', { result: null }],
  ['another refusal', refused('Invalid params')],
])('%s is not taken for that', (_, answer) => {
  expect(couldNotAsk(answer)).toBe(false);
});
