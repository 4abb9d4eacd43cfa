/**
 * What every surface answers while the database is away, and to a request that was in the middle of it when the connection
 * was lost, although the database answers again by then.
 */
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgresUrl } from '../postgres.ts';
import { startTcpProxy } from '../servers/tcp-proxy.ts';
import type { TcpProxy } from '../servers/tcp-proxy.ts';
import { ask, beginTurn, startApi } from './api-under-test.ts';
import type { ApiUnderTest } from './api-under-test.ts';
import { someKeys } from '../e2e/deployment.ts';

let api: ApiUnderTest;
let line: TcpProxy;
let operator: pg.Client;
/** Looks from outside of the operator's transaction, in which the list of sessions would not change. */
let observer: pg.Client;

beforeAll(async () => {
  const url = new URL(await postgresUrl());
  operator = new pg.Client(url.href);
  observer = new pg.Client(url.href);
  await Promise.all([operator.connect(), observer.connect()]);
  line = await startTcpProxy({ to: Number(url.port) });
  url.port = String(line.port);
  api = await startApi({ env: { DATABASE_URL: url.href, INTERLUDE_KEYS: someKeys } });
  const turn = await beginTurn(api.storage, 'c1');
  await ask(api.storage, turn, { id: 'q1' });
});
afterAll(async () => {
  line.accept();
  await api.stop();
  await Promise.all([operator.end(), observer.end()]);
  await line.stop();
});

const a2a = '/run/agents/assistant/a2a';
const mcp = '/run/v1/mcp';
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 7, method, params });
const message = (role: string) => ({ messageId: 'm1', role, parts: [{ kind: 'text', text: 'hello' }] });
const modern = {
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
};
const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** In JSON-RPC, how a client sees that it may try again. */
const again = {
  code: -32050,
  data: [
    { reason: 'UNAVAILABLE' },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '5s' },
  ],
};
const post = (url: string, payload: object, headers = {}): InjectOptions => ({
  method: 'POST',
  url,
  payload,
  headers,
});
const newer = { 'a2a-version': '1.0' };

const surfaces: [string, InjectOptions, object][] = [
  ['a stream of the chat', { url: '/run/api/chat/c1/stream' }, { code: 'unavailable' }],
  [
    'an answer to a question',
    post('/run/api/elicitation-responses', { elicitationId: 'q1', conversationId: 'c1', action: 'decline' }),
    { code: 'unavailable' },
  ],
  ['a list of conversations', { url: '/run/v1/conversations' }, { code: 'unavailable' }],
  [
    'a chat completion',
    post('/run/v1/chat/completions', { model: 'assistant', messages: [{ role: 'user', content: 'hi' }] }),
    { code: 'unavailable', error: { type: 'server_error', code: 'unavailable' } },
  ],
  ['an A2A task', post(a2a, rpc('GetTask', { id: 't1' }), newer), { id: 7, error: again }],
  [
    'an A2A message',
    post(a2a, rpc('SendMessage', { message: { ...message('ROLE_USER'), parts: [{ text: 'hi' }] } }), newer),
    { id: 7, error: again },
  ],
  [
    'a stream of A2A',
    post(
      a2a,
      rpc('SendStreamingMessage', { message: { ...message('ROLE_USER'), parts: [{ text: 'hi' }] } }),
      newer,
    ),
    { id: 7, error: again },
  ],
  ['a task of A2A 0.3', post(a2a, rpc('tasks/get', { id: 't1' })), { id: 7, error: again }],
  [
    'a stream of A2A 0.3',
    post(a2a, rpc('message/stream', { message: { ...message('user'), kind: 'message' } })),
    { id: 7, error: again },
  ],
  [
    'an A2A task over HTTP',
    { url: `${a2a}/tasks/t1`, headers: newer },
    { error: { code: 503, status: 'UNAVAILABLE', details: again.data } },
  ],
  [
    'an MCP session',
    post(mcp, rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {} }), {
      accept: modern.accept,
    }),
    { id: 7, error: { code: -32000, data: { code: 'unavailable' } } },
  ],
];

/** Of MCP 2026-07-28, whose errors are answered with 200. */
const resources = post(mcp, rpc('resources/list', { _meta: modernMeta }), {
  ...modern,
  'mcp-method': 'resources/list',
});
const away = { error: { code: -32000, data: { code: 'unavailable', retryAfterMs: 5_000 } } };

function expectToWait(response: LightMyRequestResponse, body: object): void {
  expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '5']);
  expect(response.json()).toMatchObject(body);
  expect(response.body).toContain('The database cannot be reached. Try again in a few seconds.');
}

describe('while the database cannot be reached', () => {
  beforeAll(() => {
    line.refuse();
    line.cut();
  });
  afterAll(() => line.accept());

  test.each(surfaces)('%s is answered with 503 and a time to try again', async (_, request, body) => {
    expectToWait(await api.send('alice', request), body);
  });
  test('MCP resources are answered with an error that names it', async () => {
    expect((await api.send('alice', resources)).json()).toMatchObject(away);
  });
});

describe('when the connection was lost during the request, and the database is back', () => {
  test.each(surfaces)('%s is answered with 503 and a time to try again', async (_, request, body) => {
    expectToWait(await interrupted(request), body);
  });
  test('MCP resources are answered with an error that names it', async () => {
    expect((await interrupted(resources)).json()).toMatchObject(away);
  });
});

/** Its statements wait for a lock until their connection is ended. Loops of the process wait for it, too. */
async function interrupted(request: InjectOptions): Promise<LightMyRequestResponse> {
  const { rows } = await operator.query<{ name: string }>(
    "select quote_ident(tablename) as name from pg_tables where schemaname = 'public'",
  );
  await operator.query('begin');
  await operator.query(`lock table ${rows.map(({ name }) => name).join(', ')} in access exclusive mode`);
  let isAnswered = false;
  const responding = api.send('alice', request).finally(() => (isAnswered = true));
  await expect
    .poll(
      async () => {
        await observer.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return isAnswered;
      },
      { interval: 10 },
    )
    .toBe(true);
  await operator.query('commit');
  return responding;
}
