/** The HTTP status and JSON-RPC error for an MCP request that is refused before its tool is looked up. */
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi } from './api-under-test.ts';
import type { ApiUnderTest, Who } from './api-under-test.ts';

const url = '/run/v1/mcp';
const types = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const modern = { 'mcp-protocol-version': '2026-07-28' };
const ping = { jsonrpc: '2.0', id: 'my-1', method: 'ping' };
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {} },
};

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startApi({ env: { CORS_ORIGINS: 'https://pages.example' } });
});
afterAll(() => api.stop());

interface Sent extends InjectOptions {
  who?: Who | 'nobody';
}

async function send({ who = 'alice', payload = ping, headers, ...rest }: Sent) {
  const request = { method: 'POST', url, ...rest, headers: { ...types, ...headers } } as const;
  const body = rest.method === 'GET' || rest.method === 'DELETE' ? {} : { payload };
  return who === 'nobody' ? api.app.inject({ ...request, ...body }) : api.send(who, { ...request, ...body });
}

async function openSession(who: Who = 'alice') {
  const { headers } = await send({ payload: initialize, who });
  return { 'mcp-session-id': String(headers['mcp-session-id']) };
}

const broken = '{"jsonrpc":"2.0","id":7,';
const poisoned = '{"jsonrpc":"2.0","id":7,"method":"ping","params":{"__proto__":{"a":1}}}';
const constructed = '{"jsonrpc":"2.0","id":"c","method":"ping","params":{"constructor":{"prototype":{}}}}';
const large = { ...ping, params: { text: 'x'.repeat(1_100_000) } };

const cases: [what: string, sent: Sent, told: { status: number; code: number; id: unknown }][] = [
  ['no token', { who: 'nobody' }, { status: 401, code: -32000, id: null }],
  [
    'a token that is none',
    { who: 'nobody', headers: { authorization: 'Bearer a.b.c' } },
    { status: 401, code: -32000, id: null },
  ],
  [
    'a key without the right that names a user',
    { who: 'service', headers: { 'x-interlude-user': 'alice' } },
    { status: 403, code: -32000, id: null },
  ],
  [
    'a page of another origin',
    { headers: { origin: 'https://other.example' } },
    { status: 403, code: -32000, id: null },
  ],
  [
    'a page of another machine, named by its address',
    { headers: { origin: 'http://203.0.113.7:3000' } },
    { status: 403, code: -32000, id: null },
  ],
  [
    'the same, by IPv6',
    { headers: { origin: 'http://[2001:db8::7]' } },
    { status: 403, code: -32000, id: null },
  ],
  ['a page without an origin', { headers: { origin: 'null' } }, { status: 403, code: -32000, id: null }],
  ['another name in Host', { headers: { host: 'other.example' } }, { status: 421, code: -32000, id: null }],
  [
    'another content type',
    { headers: { 'content-type': 'text/xml' } },
    { status: 415, code: -32000, id: null },
  ],
  ['a large body', { payload: large }, { status: 413, code: -32000, id: null }],
  ['broken JSON', { payload: broken }, { status: 400, code: -32700, id: null }],
  ['an empty body', { payload: '' }, { status: 400, code: -32700, id: null }],
  ['__proto__ as a key', { payload: poisoned }, { status: 400, code: -32600, id: 7 }],
  ['constructor.prototype', { payload: constructed }, { status: 400, code: -32600, id: 'c' }],
  ['a batch', { payload: [ping, ping] }, { status: 400, code: -32600, id: null }],
  ['no message', { payload: { id: 3, hello: 1 } }, { status: 400, code: -32600, id: null }],
  ['an unknown agent', { url: `${url}?agent=nobody` }, { status: 404, code: -32000, id: 'my-1' }],
  [
    'an agent named twice',
    { url: `${url}?agent=assistant&agent=b` },
    { status: 404, code: -32000, id: 'my-1' },
  ],
  ['no session', {}, { status: 400, code: -32600, id: 'my-1' }],
  [
    'a session that is none',
    { headers: { 'mcp-session-id': 'x' } },
    { status: 404, code: -32001, id: 'my-1' },
  ],
  [
    'a revision that is none',
    { headers: { 'mcp-session-id': 'x', 'mcp-protocol-version': '1999-01-01' } },
    { status: 400, code: -32600, id: 'my-1' },
  ],
  ['GET outside of a call', { method: 'GET' }, { status: 405, code: -32000, id: null }],
  ['GET of the newer revision', { method: 'GET', headers: modern }, { status: 405, code: -32000, id: null }],
  [
    'DELETE of the newer revision',
    { method: 'DELETE', headers: modern },
    { status: 405, code: -32000, id: null },
  ],
  ['PUT', { method: 'PUT' }, { status: 405, code: -32000, id: 'my-1' }],
];

const headersOf: Record<number, object> = {
  401: { 'www-authenticate': expect.stringContaining(`oauth-protected-resource${url}`) },
  405: { allow: expect.stringContaining('POST') },
};

test.each(cases)('%s', async (_, sent, { status, code, id }) => {
  const response = await send(sent);
  expect([response.statusCode, response.headers['content-type']]).toEqual([
    status,
    expect.stringMatching(/^application\/json/),
  ]);
  expect(response.json()).toEqual({
    jsonrpc: '2.0',
    id,
    error: expect.objectContaining({ code, message: expect.any(String) }),
  });
  expect(response.headers).toMatchObject(headersOf[status] ?? {});
});

test('pages of the operator and of this machine may call', async () => {
  const headers = await openSession();
  for (const origin of [
    'https://pages.example',
    'http://localhost:6274',
    'http://127.0.0.1:3000',
    'http://[::1]:6274',
  ])
    expect((await send({ headers: { ...headers, origin } })).statusCode).toBe(200);
});

test('a streamed result is kept by no cache', async () => {
  const params = { name: 'list_my_questions', arguments: {}, _meta: modernMeta };
  const response = await send({
    headers: { ...modern, 'mcp-method': 'tools/call', 'mcp-name': 'list_my_questions' },
    payload: { ...ping, method: 'tools/call', params },
  });
  expect(response.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
});

test('a session of somebody else is refused like one that there is not, under the id of the request', async () => {
  const headers = await openSession('bob');
  const [foreign, none] = await Promise.all([
    send({ headers }),
    send({ headers: { 'mcp-session-id': 'x' } }),
  ]);
  expect([foreign.statusCode, foreign.json()]).toEqual([404, none.json()]);
});

test('a workflow engine that is away is the result of the call, and says once what to do', async () => {
  const params = { name: 'ask_assistant', arguments: { message: 'hello' } };
  const response = await send({
    headers: await openSession(),
    payload: { ...ping, method: 'tools/call', params },
  });
  const { result } = response.json<{ result: { isError: boolean; content: { text: string }[] } }>();
  expect(result.isError).toBe(true);
  expect(result.content[0]?.text.match(/Try again/g)).toHaveLength(1);
});

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

test('parameters that do not fit are the client’s fault, in the newer revision, too', async () => {
  const response = await send({
    headers: { ...modern, 'mcp-method': 'resources/read' },
    payload: { ...ping, method: 'resources/read', params: { uri: 7, _meta: modernMeta } },
  });
  expect(response.json()).toMatchObject({
    id: 'my-1',
    error: { code: -32602, message: expect.stringContaining('params.uri: ') },
  });
});

test('a database that is away is not reported in its own words, and not as a mistake of ours', async () => {
  const own = await startApi();
  await own.storage.close();
  const params = { _meta: modernMeta };
  const response = await own.send('alice', {
    method: 'POST',
    url,
    headers: { ...types, ...modern, 'mcp-method': 'resources/list' },
    payload: { ...ping, method: 'resources/list', params },
  });
  expect(response.json()).toMatchObject({
    error: { code: -32000, data: { code: 'unavailable', retryAfterMs: 5_000 } },
  });
  expect(response.body).not.toMatch(/driver|sqlite|closed/i);
  await own.stop();
});

test('too many requests, and a database that is away, are told under the id of the request', async () => {
  const low = await startApi({ env: { RATE_LIMIT_PER_MINUTE: '2' } });
  const request = { method: 'POST', url, headers: types, payload: initialize } as const;
  const first = await low.send('alice', request);
  const headers = { ...types, 'mcp-session-id': String(first.headers['mcp-session-id']) };
  await low.storage.close();
  const away = await low.send('alice', { ...request, headers, payload: ping });
  expect([away.statusCode, away.headers['retry-after'], away.json()]).toEqual([
    503,
    '5',
    {
      jsonrpc: '2.0',
      id: 'my-1',
      error: { code: -32000, message: expect.any(String), data: { code: 'unavailable' } },
    },
  ]);
  const third = await low.send('alice', { ...request, payload: ping });
  expect([third.statusCode, Number(third.headers['retry-after']) > 0, third.json()]).toEqual([
    429,
    true,
    {
      jsonrpc: '2.0',
      id: 'my-1',
      error: { code: -32000, message: expect.any(String), data: { code: 'rate_limited' } },
    },
  ]);
  await low.stop();
});
