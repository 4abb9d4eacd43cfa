/** Messages as servers really send them, with members that are null, empty, unknown or of another type. */
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { openRemoteServers } from '../../../src/remote/open-remote-servers.ts';
import { discovered, startStream } from '../../servers/raw-mcp-server.ts';
import type { RawMessage } from '../../servers/raw-mcp-server.ts';
import { call, peer, useOneCall } from './one-call.ts';
import type { Reply } from './one-call.ts';

useOneCall();

const text = { type: 'text', text: 'paid' };
type Send = (response: ServerResponse, message: unknown) => void;

const asDocument: Send = (response, message) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message));

/** With an empty event first, as servers begin a stream that can be resumed. */
const asStream: Send = (response, message) => {
  startStream(response);
  response.end(`id: 1\nretry: 500\ndata:\n\n: still here\n\nid: 2\ndata: ${JSON.stringify(message)}\n\n`);
};

type Envelope = (id: RawMessage['id']) => object;
const envelope =
  (result: unknown, more: object = {}): Envelope =>
  (id) => ({ jsonrpc: '2.0', id, result, ...more });

const results: [name: string, message: Envelope, content: object[]][] = [
  ['nothing in it', envelope({}), []],
  ['null for a result', envelope(null), []],
  ['an empty list for a result', envelope([]), []],
  ['null for content', envelope({ content: null }), []],
  [
    'a separator of lines in a text',
    envelope({ content: [{ ...text, text: 'a\u2028b\u2029c' }] }),
    [{ ...text, text: 'a\u2028b\u2029c' }],
  ],
  ['null among the parts', envelope({ content: [null, text, null] }), [text]],
  ['isError and _meta null', envelope({ content: [text], isError: null, _meta: null }), [text]],
  ['an empty list for _meta', envelope({ content: [text], _meta: [] }), [text]],
  [
    'everything null that may be absent',
    envelope({
      content: [text],
      structuredContent: null,
      resultType: null,
      requestState: null,
      inputRequests: null,
    }),
    [text],
  ],
  [
    'a part with members that are null',
    envelope({ content: [{ ...text, annotations: null, _meta: null }] }),
    [text],
  ],
  ['a text for content', envelope({ content: 'paid' }), [text]],
  ['one part for content', envelope({ content: text }), [text]],
  ['a text among the parts', envelope({ content: ['paid'] }), [text]],
  ['a part without a type', envelope({ content: [{ text: 'paid' }] }), [text]],
  ['members that nobody knows', envelope({ content: [text] }, { traceId: 'x', time: null }), [text]],
  ['an error that is null', envelope({ content: [text] }, { error: null }), [text]],
  ['its id as a text', (id) => ({ jsonrpc: '2.0', id: String(id), result: { content: [text] } }), [text]],
  ['no version of JSON-RPC', (id) => ({ id, result: { content: [text] } }), [text]],
];

describe.each([
  ['modern', 'a document', asDocument],
  ['modern', 'a stream', asStream],
  ['legacy', 'a document', asDocument],
  ['legacy', 'a stream', asStream],
] as const)('a %s server that answers with %s, and', (era, _, send) => {
  test.each(results)('%s, has answered', async (__, message, content) => {
    const { config, count } = await peer(era, {
      'tools/call': ({ id }, response) => send(response, message(id)),
    });
    expect(await call(config)).toMatchObject({ kind: 'result', result: { content } });
    expect(count('tools/call')).toBe(1);
  });

  test.each([
    ['a code that is a text', { code: '-32602', message: 'no such account' }, 'no such account'],
    ['data that is null', { code: -32602, message: 'no such account', data: null }, 'no such account'],
    ['no message', { code: -32602 }, 'refused the call'],
    ['a message that is null', { code: -32602, message: null }, 'refused the call'],
  ])('an error with %s, has refused', async (__, error, words) => {
    const { config } = await peer(era, {
      'tools/call': ({ id }, response) => send(response, { jsonrpc: '2.0', id, error, result: null }),
    });
    expect(await call(config)).toMatchObject({ kind: 'rejected', message: expect.stringContaining(words) });
  });
});

const greeting = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'raw', version: '1' },
};

const handshakes: [era: 'modern' | 'legacy', name: string, greeting: object][] = [
  ['legacy', 'no version', { ...greeting, serverInfo: { name: 'raw' } }],
  [
    'legacy',
    'a version and a title that are null',
    { ...greeting, serverInfo: { name: 'raw', version: null, title: null } },
  ],
  ['legacy', 'no name', { ...greeting, serverInfo: { version: '1' } }],
  ['legacy', 'nothing about itself', { ...greeting, serverInfo: undefined }],
  ['legacy', 'instructions and _meta that are null', { ...greeting, instructions: null, _meta: null }],
  [
    'legacy',
    'abilities that are null',
    { ...greeting, capabilities: { tools: null, logging: null, experimental: null } },
  ],
  ['legacy', 'empty lists for abilities', { ...greeting, capabilities: { tools: [], logging: [] } }],
  ['legacy', 'listChanged null', { ...greeting, capabilities: { tools: { listChanged: null } } }],
  ['legacy', 'no abilities', { ...greeting, capabilities: null }],
  [
    'modern',
    'members that are null',
    { ...discovered, instructions: null, ttlMs: null, cacheScope: null, _meta: null },
  ],
  ['modern', 'abilities that are null', { ...discovered, capabilities: { tools: null, prompts: null } }],
  ['modern', 'no type of its result', { ...discovered, resultType: undefined }],
];

test.each(handshakes)('a %s server that greets with %s is called', async (era, _, result) => {
  const greet: Reply = ({ id }, response) => asDocument(response, { jsonrpc: '2.0', id: String(id), result });
  const { config } = await peer(era, {
    [era === 'modern' ? 'server/discover' : 'initialize']: greet,
    'tools/call': ({ id }, response) =>
      asDocument(response, { jsonrpc: '2.0', id, result: { content: [text] } }),
  });
  expect(await call(config)).toMatchObject({ kind: 'result' });
});

type Answer = (response: ServerResponse, message: string) => void;
const typed =
  (type: string): Answer =>
  (response, message) =>
    void response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(message);
const streamed =
  (events: (message: string) => string): Answer =>
  (response, message) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events(message));

test.each<[name: string, send: Answer]>([
  ['no type', typed('')],
  ['the type of a text', typed('text/plain; charset=utf-8')],
  ['the type of bytes', typed('application/octet-stream')],
  ['an old type of JSON', typed('text/json')],
  ['a type of its own', typed('application/vnd.peer+json')],
  ['an event of another name', streamed((message) => `event: result\ndata: ${message}\n\n`)],
  ['a list in an event', streamed((message) => `data: [${message}]\n\n`)],
  [
    'an event that is no message before it',
    streamed((message) => `event: ping\ndata: {}\n\ndata: ${message}\n\n`),
  ],
])('an answer with %s is read', async (_, send) => {
  for (const era of ['modern', 'legacy'] as const) {
    const { config } = await peer(era, {
      'tools/call': ({ id }, response) =>
        send(response, JSON.stringify({ jsonrpc: '2.0', id, result: { content: [text] } })),
    });
    expect(await call(config), era).toMatchObject({ kind: 'result', result: { content: [text] } });
  }
});

test('a text that is no JSON is no answer', async () => {
  const { config } = await peer('modern', {
    'tools/call': (__, response) => typed('text/plain')(response, 'Welcome'),
  });
  expect(await call(config)).toMatchObject({
    kind: 'unknown',
    message: expect.stringContaining('did not answer like an MCP server'),
  });
});

const tool = { name: 'pay', inputSchema: { type: 'object' } };

const lists: [name: string, result: object, names: string[]][] = [
  ['nextCursor null', { tools: [tool], nextCursor: null }, ['pay']],
  ['a next cursor that is no text', { tools: [tool], nextCursor: 7 }, ['pay']],
  ['members that are null', { tools: [tool], _meta: null, ttlMs: null, cacheScope: null }, ['pay']],
  ['null for no tools', { tools: null }, []],
  [
    'a tool whose members are null',
    {
      tools: [
        { ...tool, title: null, description: null, annotations: null, outputSchema: null, _meta: null },
      ],
    },
    ['pay'],
  ],
  [
    'hints that are null',
    { tools: [{ ...tool, annotations: { readOnlyHint: null, title: null } }] },
    ['pay'],
  ],
  ['a tool without a schema', { tools: [{ name: 'pay' }] }, ['pay']],
  ['a tool whose schema is null', { tools: [{ name: 'pay', inputSchema: null }] }, ['pay']],
  ['a schema without a type', { tools: [{ name: 'pay', inputSchema: { properties: {} } }] }, ['pay']],
];

test.each(['modern', 'legacy'] as const)('a %s server lists its tools', async (era) => {
  for (const [name, result, names] of lists) {
    const { config } = await peer(era, {
      'tools/list': ({ id }, response) => asDocument(response, { jsonrpc: '2.0', id, result }),
    });
    const credential = { kind: 'credential' as const, headers: {}, version: 0 };
    const listed = await openRemoteServers().listTools(config, credential, new AbortController().signal);
    expect([name, listed]).toMatchObject([name, { tools: names.map((one) => ({ name: one })) }]);
  }
});

test('keywords of a schema that are null are left out, and data is kept', async () => {
  const inputSchema = {
    type: 'object',
    required: null,
    properties: {
      note: { type: 'string', minLength: null, description: null, default: null, enum: ['a', null] },
    },
  };
  const { config } = await peer('legacy', {
    'tools/list': ({ id }, response) =>
      asDocument(response, { jsonrpc: '2.0', id, result: { tools: [{ ...tool, inputSchema }] } }),
  });
  const credential = { kind: 'credential' as const, headers: {}, version: 0 };
  const listed = await openRemoteServers().listTools(config, credential, new AbortController().signal);
  const properties = { note: { type: 'string', default: null, enum: ['a', null] } };
  expect(listed).toMatchObject({ tools: [{ inputSchema: { type: 'object', properties } }] });
  expect(JSON.stringify(listed)).not.toMatch(/required|minLength|description/);
});

test.each<[method: string, result: object]>([
  ['initialize', { capabilities: {}, serverInfo: { name: 'raw', version: '1' } }],
  ['tools/list', { tools: 'none' }],
])('what is wrong with %s is said of it, not of the url', async (method, result) => {
  const { config } = await peer('legacy', {
    [method]: ({ id }, response) => asDocument(response, { jsonrpc: '2.0', id, result }),
  });
  const credential = { kind: 'credential' as const, headers: {}, version: 0 };
  const listed = await openRemoteServers().listTools(config, credential, new AbortController().signal);
  expect(listed).toMatchObject({
    kind: 'unreachable',
    message: expect.stringMatching(
      new RegExp(`^Peer .* answered ${method} with a message that cannot be read`),
    ),
  });
});
