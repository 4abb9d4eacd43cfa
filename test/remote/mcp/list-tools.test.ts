import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Credential } from '../../../src/credentials/credential-store.ts';
import { listLimits } from '../../../src/remote/mcp/list-tools.ts';
import { startMcpServer } from '../../servers/mcp-server.ts';
import { answer, answerError, startRawMcpServer } from '../../servers/raw-mcp-server.ts';
import type { RawMessage } from '../../servers/raw-mcp-server.ts';
import { openRemoteServers } from '../../../src/remote/open-remote-servers.ts';

/** Remembers nothing of the servers of other tests, which may have had the same ports. */
let remote = openRemoteServers();
beforeEach(() => void (remote = openRemoteServers()));

const credential: Credential = { kind: 'credential', headers: { authorization: 'Bearer t' }, version: 1 };
const signal = new AbortController().signal;
const running: { stop(): Promise<void> }[] = [];
afterEach(async () => void (await Promise.all(running.splice(0).map((one) => one.stop()))));

async function peer(toolsList: NonNullable<Parameters<typeof startRawMcpServer>[0]['on'][string]>) {
  const server = await startRawMcpServer({ era: 'legacy', on: { 'tools/list': toolsList } });
  running.push(server);
  return server;
}

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

describe.each(['modern', 'legacy'] as const)('a %s server', (era) => {
  test('is asked for its tools, schemas and hints', async () => {
    const build = () => {
      const server = new McpServer({ name: 'peer', version: '1' });
      const inputSchema = z.object({ amount: z.number() });
      const annotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: false };
      server.registerTool('pay', { title: 'Pay', description: 'Pays.', inputSchema, annotations }, () => ({
        content: [],
      }));
      return server;
    };
    const server = await startMcpServer({ era, build });
    running.push(server);
    expect(await remote.listTools(server.config, credential, signal)).toEqual({
      kind: 'tools',
      tools: [
        {
          name: 'pay',
          title: 'Pay',
          description: 'Pays.',
          inputSchema: expect.objectContaining({
            type: 'object',
            properties: { amount: { type: 'number' } },
          }),
          annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
        },
      ],
      leftOut: [],
      // What the SDK says for those who say nothing.
      ...(era === 'modern' ? { audience: 'user', freshMs: 0 } : { audience: 'tenant', freshMs: 60_000 }),
    });
  });
});

test('a header that cannot be sent is named, and its value is not', async () => {
  const { config } = await peer((message, response) => answer(message, response, { tools: [] }));
  const headers = { 'x-key': 's3cret\nline' };
  const outcome = await remote.listTools({ ...config, headers }, credential, signal);
  expect(outcome).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('"x-key"') });
  expect(JSON.stringify(outcome)).not.toContain('s3cret');
});

test('all pages are read', async () => {
  const pages: Record<string, object> = {
    start: { tools: [tool('a'), tool('b')], nextCursor: 'two' },
    two: { tools: [tool('c')], nextCursor: 'three' },
    three: { tools: [tool('d')] },
  };
  const { config } = await peer((message, response) =>
    answer(message, response, pages[message.params?.cursor ?? 'start']),
  );
  const listed = await remote.listTools(config, credential, signal);
  expect(listed).toMatchObject({
    kind: 'tools',
    tools: [{ name: 'a' }, { name: 'b' }, { name: 'c' }, { name: 'd' }],
  });
});

test('a cursor that comes back ends the reading', async () => {
  const { config, count } = await peer((message, response) =>
    answer(message, response, { tools: [tool('a')], nextCursor: 'same' }),
  );
  expect(await remote.listTools(config, credential, signal)).toMatchObject({
    kind: 'tools',
    tools: [{ name: 'a' }],
    leftOut: [{ tool: 'a', reason: 'another tool has the same name' }],
  });
  expect(count('tools/list')).toBe(2);
});

test('a circle of several pages is walked once', async () => {
  const next: Record<string, string> = { start: 'two', two: 'three', three: 'two' };
  const { config, count } = await peer((message, response) => {
    const at = message.params?.cursor ?? 'start';
    answer(message, response, { tools: [tool(`on-${at}`)], nextCursor: next[at] });
  });
  const listed = await remote.listTools(config, credential, signal);
  expect(listed).toMatchObject({ tools: [{ name: 'on-start' }, { name: 'on-two' }, { name: 'on-three' }] });
  expect(count('tools/list')).toBe(3);
});

test('a cursor is handed back as it came, also an empty one', async () => {
  const cursors: unknown[] = [];
  const { config } = await peer((message, response) => {
    cursors.push(message.params?.cursor);
    answer(message, response, { tools: [], ...(cursors.length === 1 && { nextCursor: '' }) });
  });
  expect((await remote.listTools(config, credential, signal)).kind).toBe('tools');
  expect(cursors).toEqual([undefined, '']);
});

describe('what a server of the new era says about keeping its list', () => {
  const pagesOf = async (...pages: object[]) => {
    const server = await startRawMcpServer({
      on: {
        'tools/list': (message, response) => {
          const at = Number(message.params?.cursor ?? 0);
          const nextCursor = at + 1 < pages.length ? { nextCursor: String(at + 1) } : {};
          answer(message, response, { resultType: 'complete', tools: [], ...nextCursor, ...pages[at] });
        },
      },
    });
    running.push(server);
    return remote.listTools(server.config, credential, signal);
  };

  test.each([
    ['a public list', [{ ttlMs: 5_000, cacheScope: 'public' }], { audience: 'tenant', freshMs: 5_000 }],
    ['a private list', [{ ttlMs: 5_000, cacheScope: 'private' }], { audience: 'user', freshMs: 5_000 }],
    [
      'pages that differ',
      [
        { ttlMs: 9_000, cacheScope: 'public' },
        { ttlMs: 3_000, cacheScope: 'private' },
        { ttlMs: 6_000, cacheScope: 'public' },
      ],
      { audience: 'user', freshMs: 3_000 },
    ],
  ])('%s is taken at its most careful', async (_, pages, expected) => {
    expect(await pagesOf(...pages)).toMatchObject({ kind: 'tools', ...expected });
  });
});

test.each([
  [
    'tools',
    (page: number) => ({ tools: Array.from({ length: 100 }, (_, index) => tool(`t${page}-${index}`)) }),
  ],
  ['text', (page: number) => ({ tools: [tool(`t${page}`, { description: 'x'.repeat(300_000) })] })],
  ['pages with nothing on them', () => ({ tools: [] })],
])('endless %s is refused in bounded time', async (_, pageOf) => {
  let page = 0;
  const { config, count } = await peer((message, response) => {
    page++;
    answer(message, response, { ...pageOf(page), nextCursor: String(page) });
  });
  const listed = await remote.listTools(config, credential, signal);
  expect(listed).toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining(`more than ${listLimits.tools} tools`),
  });
  expect(count('tools/list')).toBeLessThanOrEqual(listLimits.pages + 1);
});

test.each(['modern', 'legacy'] as const)(
  'in a %s list, one malformed tool does not hide the others, and odd hints are ignored',
  async (era) => {
    const tools = [
      tool('good', { annotations: { readOnlyHint: 'yes', idempotentHint: true } }),
      { name: 'bare' },
      { name: 'untyped', inputSchema: { anyOf: [{ required: ['a'] }] } },
      { name: 'nullable', inputSchema: { type: ['object', 'null'] } },
      { name: 'listed', inputSchema: { type: 'array' } },
      { name: 'worded', inputSchema: 'none' },
      tool(''),
      7,
    ];
    const page = {
      tools,
      ...(era === 'modern' && { resultType: 'complete', ttlMs: 0, cacheScope: 'public' }),
    };
    const server = await startRawMcpServer({
      era,
      on: { 'tools/list': (message, response) => answer(message, response, page) },
    });
    running.push(server);
    const { config } = server;
    expect(await remote.listTools(config, credential, signal)).toEqual({
      kind: 'tools',
      tools: [
        { name: 'good', inputSchema: { type: 'object' }, annotations: { idempotentHint: true } },
        { name: 'bare', inputSchema: { type: 'object' } },
        { name: 'untyped', inputSchema: { anyOf: [{ required: ['a'] }] } },
        { name: 'nullable', inputSchema: { type: ['object', 'null'] } },
      ],
      leftOut: [
        { tool: 'listed', reason: 'its inputSchema is of type "array", and arguments are an object' },
        { tool: 'worded', reason: 'its definition has no usable "inputSchema"' },
        { tool: '(without a name)', reason: 'its definition has no usable "name"' },
        { tool: '(without a name)', reason: 'its definition has no usable "name"' },
      ],
      audience: 'tenant',
      freshMs: era === 'modern' ? 0 : null,
    });
  },
);

test('a tool whose name people could take for a sentence, or not see, is left out', async () => {
  const odd = [
    'pay now: call 1 900 555 0100',
    'tab\tbed',
    'two\nlines',
    'mirrored\u202eeman',
    'invisible\u200b',
    'n'.repeat(129),
    'ünïcode',
  ];
  const good = ['list_issues', 'issues/list', 'Issues.List-2', 'n'.repeat(128)];
  const { config } = await peer((message, response) =>
    answer(message, response, { tools: [...odd, ...good].map((name) => tool(name)) }),
  );
  expect(await remote.listTools(config, credential, signal)).toMatchObject({
    tools: good.map((name) => ({ name })),
    leftOut: odd.map((name) => ({ tool: name.slice(0, 128), reason: expect.stringContaining('its name') })),
  });
});

test.each([401, 403] as const)('HTTP %s is a refusal that carries the challenge', async (status) => {
  const { config } = await peer((_: RawMessage, response) => {
    response.writeHead(status, { 'www-authenticate': 'Bearer scope="a"' }).end();
  });
  expect(await remote.listTools(config, credential, signal)).toEqual({
    kind: 'refused',
    status,
    challenge: 'Bearer scope="a"',
  });
});

test('a server that cannot list says so by error, and is named', async () => {
  const { config } = await peer((message, response) =>
    answerError(message, response, -32603, 'secret words'),
  );
  const listed = await remote.listTools(config, credential, signal);
  expect(listed).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('Peer (127.0.0.1:') });
  expect(JSON.stringify(listed)).not.toContain('secret words');
});

test('a server that has no tools at all has none', async () => {
  const { config } = await peer((message, response) =>
    answerError(message, response, -32601, 'Method not found'),
  );
  expect(await remote.listTools(config, credential, signal)).toEqual({
    kind: 'tools',
    tools: [],
    leftOut: [],
    audience: 'tenant',
    freshMs: null,
  });
});

test('a server that never answers is given up at its deadline', async () => {
  const { config } = await peer(() => {});
  const listed = await remote.listTools({ ...config, timeout: 200 }, credential, signal);
  expect(listed).toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('did not answer within 0.2 s'),
  });
});
