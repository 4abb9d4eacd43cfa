/** Arguments that travel as headers too (`x-mcp-header`), against real servers that insist on them. */
import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import type { Credential } from '../../../../src/credentials/credential-store.ts';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import { faultOfHeaders } from '@interlude-ai/core/mcp/parameter-headers.ts';
import { startMcpServer } from '../../../servers/mcp-server.ts';
import { answer, answerError, startRawMcpServer } from '../../../servers/raw-mcp-server.ts';
import { openRemoteServers } from '../../../../src/remote/open-remote-servers.ts';

/** Remembers nothing of the servers of other tests, which may have had the same ports. */
let remote = openRemoteServers();
beforeEach(() => void (remote = openRemoteServers()));

const nobody: Credential = { kind: 'credential', headers: {}, version: 0 };
const signal = new AbortController().signal;
const running: { stop(): Promise<void> }[] = [];
afterEach(async () => void (await Promise.all(running.splice(0).map((one) => one.stop()))));

const marked = (header: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': header });
const withProperties = (properties: object) => ({ type: 'object', properties });

test.each([
  ['no marks at all', withProperties({ a: { type: 'string' } })],
  [
    'every kind that can be sent',
    withProperties({ a: marked('A'), b: marked('B', 'integer'), c: marked('C', 'boolean') }),
  ],
  ['a mark deep down', withProperties({ a: withProperties({ b: withProperties({ c: marked('Region') }) }) })],
  ['an argument that is called like the keyword', withProperties({ 'x-mcp-header': { type: 'object' } })],
  [
    'the keyword as data',
    withProperties({ a: { type: 'object', default: marked(''), examples: [marked('')] } }),
  ],
])('a tool may be called with %s', (_, schema) => {
  expect(faultOfHeaders(schema)).toBeUndefined();
});

test.each([
  ['an empty name', withProperties({ a: marked('') }), '"a" is not a header name'],
  ['a name that is no text', withProperties({ a: marked(7) }), '"a" is not a header name'],
  ['a space', withProperties({ a: marked('My Region') }), '"a" is not a header name'],
  ['a line break', withProperties({ a: marked('Region\r\nX: y') }), '"a" is not a header name'],
  ['a letter that is not ASCII', withProperties({ a: marked('Région') }), '"a" is not a header name'],
  [
    'a number with fractions',
    withProperties({ a: marked('A', 'number') }),
    '"a" needs a string, an integer or a boolean',
  ],
  ['an object', withProperties({ a: marked('A', 'object') }), '"a" needs a string, an integer or a boolean'],
  ['several types', withProperties({ a: marked('A', ['string', 'null']) }), '"a" needs a string'],
  [
    'the same name twice',
    withProperties({ a: marked('One'), b: withProperties({ c: marked('oNE') }) }),
    '"oNE" is given to two arguments',
  ],
  ['a mark on everything', { type: 'object', 'x-mcp-header': 'All' }, 'belongs to no argument'],
  [
    'a mark in a list',
    withProperties({ a: { type: 'array', items: marked('A') } }),
    'belongs to no argument',
  ],
  ['a mark in one of several', { anyOf: [withProperties({ a: marked('A') })] }, 'belongs to no argument'],
  ['a mark in a definition', { $defs: { a: marked('A') } }, 'belongs to no argument'],
])('a tool with %s must not be called', (_, schema, reason) => {
  expect(faultOfHeaders(schema)).toContain(reason);
});

test('a schema without end is read to a limit', () => {
  let schema: object = marked('A');
  for (let depth = 0; depth < 100_000; depth += 1) schema = withProperties({ a: schema });
  expect(faultOfHeaders({ ...schema })).toBeUndefined();
});

test.each([
  ['modern', ['good']],
  ['legacy', ['good', 'bad']],
] as const)('what a %s server marks wrongly', async (era, names) => {
  const tools = [
    { name: 'good', inputSchema: withProperties({ a: marked('A') }) },
    { name: 'bad', inputSchema: withProperties({ a: marked('A B') }) },
  ];
  const result = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools };
  const server = await startRawMcpServer({
    era,
    on: { 'tools/list': (message, response) => answer(message, response, result) },
  });
  running.push(server);
  const listed = await remote.listTools(server.config, nobody, signal);
  expect(listed).toMatchObject({ kind: 'tools', tools: names.map((name) => ({ name })) });
  const reason = 'x-mcp-header of "a" is not a header name';
  expect(listed).toHaveProperty('leftOut', era === 'modern' ? [{ tool: 'bad', reason }] : []);
});

/** A server whose tool wants its region, which may be changed as it runs, in a header. */
async function routed(header: () => string) {
  const server = await startMcpServer({
    era: 'both',
    build: () => {
      const built = new McpServer({ name: 'peer', version: '1' });
      const region = z.string().meta({ 'x-mcp-header': header() });
      built.registerTool('query', { inputSchema: z.object({ region }) }, ({ region: asked }) => ({
        content: [{ type: 'text', text: asked }],
      }));
      return built;
    },
  });
  running.push(server);
  const sent = () =>
    server.requests.filter(({ method }) => method === 'tools/call').map(({ headers }) => headers);
  return { config: server.config, requests: server.requests, sent };
}

const query = (region: string) => ({
  name: 'query',
  arguments: { region },
  callId: 'c1',
  capabilities: cannotAsk,
  signal,
});

test('arguments go out as headers where the listed schema says so', async () => {
  const { config, sent } = await routed(() => 'Region');
  const listed = await remote.listTools(config, nobody, signal);
  const inputSchema = listed.kind === 'tools' ? listed.tools[0]?.inputSchema : undefined;
  const outcome = await remote.callTool(config, nobody, {
    ...query('Zürich'),
    inputSchema: inputSchema ?? {},
  });
  expect(outcome).toMatchObject({ kind: 'result', result: { content: [{ text: 'Zürich' }] } });
  const encoded = `=?base64?${Buffer.from('Zürich').toString('base64')}?=`;
  expect(sent()).toEqual([expect.objectContaining({ 'mcp-param-region': encoded })]);
});

test('a tool that wants other headers by now is looked up again, and runs once', async () => {
  let header = 'Region';
  const { config, requests, sent } = await routed(() => header);
  const listed = await remote.listTools(config, nobody, signal);
  const inputSchema = listed.kind === 'tools' ? listed.tools[0]?.inputSchema : undefined;
  header = 'Area';
  const before = requests.length;
  const outcome = await remote.callTool(config, nobody, {
    ...query('north'),
    inputSchema: inputSchema ?? {},
  });
  expect(outcome).toMatchObject({ kind: 'result', result: { content: [{ text: 'north' }] } });
  expect(requests.slice(before).map(({ method }) => method)).toEqual([
    'tools/call',
    'tools/list',
    'tools/call',
  ]);
  expect(sent()[1]).toMatchObject({ 'mcp-param-area': 'north' });
});

test('a tool that nobody has listed yet is looked up when the server misses a header', async () => {
  const { config, sent } = await routed(() => 'Region');
  const outcome = await remote.callTool(config, nobody, query('north'));
  expect(outcome).toMatchObject({ kind: 'result', result: { content: [{ text: 'north' }] } });
  expect(sent().map((headers) => headers['mcp-param-region'])).toEqual([undefined, 'north']);
});

test.each([
  ['modern', 2],
  // There the code may mean anything, also that the tool has run.
  ['legacy', 1],
] as const)(
  'a %s server that always misses a header is called a bounded number of times',
  async (era, times) => {
    const tools = [{ name: 'query', inputSchema: withProperties({ region: marked('Region') }) }];
    const listed = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools };
    const server = await startRawMcpServer({
      era,
      on: {
        'tools/list': (message, response) => answer(message, response, listed),
        'tools/call': (message, response) =>
          answerError(message, response, -32020, 'header mismatch', era === 'modern' ? 400 : 200),
      },
    });
    running.push(server);
    const outcome = await remote.callTool(server.config, nobody, query('north'));
    expect(outcome).toMatchObject({ kind: 'rejected', message: expect.stringContaining('header mismatch') });
    expect(server.count('tools/call')).toBe(times);
  },
);
