/** Requests that the SDK's clients do not send: versions, cards, malformed bodies, missing sign-in. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { asks, form } from '../../servers/scripted-mcp-server.ts';

const setup = useAskingService();

interface Reply {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  const response = await fetch(new URL(path, setup.service.baseUrl), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await setup.service.token('alice')}`,
      'content-type': 'application/json',
      'a2a-version': '1.0',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const { status } = response;
  return { status, headers: response.headers, body: text.startsWith('{') ? JSON.parse(text) : { text } };
}

const taskIn = ({ body }: Reply) => body['result'] as { id: string };

const rpc = (method: string, params: unknown, headers = {}) =>
  post('/run/agents/assistant/a2a', { jsonrpc: '2.0', id: 7, method, params }, headers);

const message = (parts: unknown, more = {}) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', parts, ...more },
});
const hello = [{ text: 'hello' }];

describe('cards', () => {
  const get = (path: string, headers = {}) => fetch(new URL(path, setup.service.baseUrl), { headers });

  test('anybody reads them, at each address where clients look', async () => {
    const headers = { 'a2a-version': '1.0' };
    const paths = ['/run/agents/lead/a2a', '/run/agents/lead'].map(
      (path) => `${path}/.well-known/agent-card.json`,
    );
    for (const path of paths) {
      const response = await get(path, headers);
      expect(response.headers.get('cache-control')).toContain('max-age');
      expect(await response.json()).toMatchObject({
        supportedInterfaces: [
          {
            protocolBinding: 'JSONRPC',
            protocolVersion: '1.0',
            url: expect.stringMatching(/\/run\/agents\/lead\/a2a$/),
          },
          { protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
          { protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
        ],
        capabilities: { streaming: true, extensions: [{ uri: 'urn:interlude:a2a:elicitation:v1' }] },
      });
    }
    expect(await (await get('/.well-known/agent-card.json', headers)).json()).toMatchObject({
      skills: [{ id: 'assistant' }],
    });
    expect((await get('/run/agents/nobody/a2a/.well-known/agent-card.json')).status).toBe(404);
  });

  test('one that has not changed is not sent again', async () => {
    const first = await get('/.well-known/agent-card.json');
    const etag = first.headers.get('etag') ?? '';
    const again = await get('/.well-known/agent-card.json', { 'if-none-match': etag });
    expect(again.status).toBe(304);
    const other = await get('/.well-known/agent-card.json', { 'if-none-match': etag, 'a2a-version': '1.0' });
    expect(other.status).toBe(200);
  });

  test('without a version a client of either finds its own members', async () => {
    const address = expect.stringMatching(/\/run\/agents\/assistant\/a2a$/);
    const legacy = {
      protocolVersion: expect.stringMatching(/^0\.3/),
      url: address,
      preferredTransport: 'JSONRPC',
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    };
    const current = {
      supportedInterfaces: [{ protocolVersion: '1.0', url: address }, {}, {}],
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
    };
    const of = async (headers?: Record<string, string>) =>
      (await get('/.well-known/agent-card.json', headers)).json();
    const both = await of();
    expect(both).toMatchObject(legacy);
    expect(both).toMatchObject(current);
    expect(await of({ 'a2a-version': '0.3' })).toMatchObject(legacy);
    expect(await of({ 'a2a-version': '0.3' })).not.toHaveProperty('supportedInterfaces');
    expect(await of({ 'a2a-version': '1.0' })).not.toHaveProperty('protocolVersion');
  });
});

test('a request without a version is one of 0.3, and its question, too', async () => {
  setup.server.play(asks({ city: form('Which city?', { city: { type: 'string' } }) }));
  const legacy = { 'a2a-version': '' };
  const say = (text: string, more = {}) =>
    rpc(
      'message/send',
      {
        message: {
          kind: 'message',
          messageId: randomUUID(),
          role: 'user',
          parts: [{ kind: 'text', text }],
          ...more,
        },
      },
      legacy,
    );
  const asked = taskIn(await say('call asking__ask {}'));
  expect(asked).toMatchObject({ kind: 'task', status: { state: 'input-required' } });
  const task = taskIn(await say('Lisbon', { taskId: asked.id }));
  expect(task).toMatchObject({
    id: asked.id,
    status: { state: 'completed' },
    artifacts: [{ parts: [{ kind: 'text', text: 'done' }] }],
  });
});

test('patch numbers are no part of a version', async () => {
  for (const version of ['1.0.0', '1.0.1', ' 1.0.7 ']) {
    const { body } = await rpc('SendMessage', message([]), { 'a2a-version': version });
    expect(body).toMatchObject({ error: { code: -32602 } });
  }
  const { body } = await rpc('message/send', {}, { 'a2a-version': '0.3.0' });
  expect(body).toMatchObject({ error: { code: -32602 } });
});

test.each([
  ['a version that nobody speaks', 'SendMessage', message(hello), { 'a2a-version': '9.9' }, -32009],
  ['an unknown method', 'Nonsense', {}, {}, -32601],
  ['no params', 'SendMessage', null, {}, -32602],
  ['no message', 'SendMessage', {}, {}, -32602],
  ['no parts', 'SendMessage', message([]), {}, -32602],
  ['empty text', 'SendMessage', message([{ text: '  ' }]), {}, -32602],
  ['a file', 'SendMessage', message([{ url: 'https://example.com/a.pdf' }]), {}, -32005],
  ['the role of an agent', 'SendMessage', message(hello, { role: 'ROLE_AGENT' }), {}, -32602],
  ['no messageId', 'SendMessage', message(hello, { messageId: '' }), {}, -32602],
  ['a messageId that is none', 'SendMessage', message(hello, { messageId: 'a b' }), {}, -32602],
  ['a contextId that is none', 'SendMessage', message(hello, { contextId: 'a\u0000b' }), {}, -32602],
  ['an unknown task', 'SendMessage', message(hello, { taskId: randomUUID() }), {}, -32001],
  ['a task id that is none', 'GetTask', { id: 'a\u0000b' }, {}, -32001],
  ['no task id', 'GetTask', {}, {}, -32602],
  ['a page that is too large', 'ListTasks', { pageSize: 101 }, {}, -32602],
  ['a page token that is none', 'ListTasks', { pageToken: 'x' }, {}, -32602],
  ['a time that is none', 'ListTasks', { statusTimestampAfter: 'soon' }, {}, -32602],
  ['a negative history', 'GetTask', { id: randomUUID(), historyLength: -1 }, {}, -32001],
  [
    'a webhook on this machine',
    'SendMessage',
    { ...message(hello), configuration: { taskPushNotificationConfig: { url: 'https://127.0.0.1/' } } },
    {},
    -32602,
  ],
  ['an extended card', 'GetExtendedAgentCard', {}, {}, -32007],
])('%s is told as what it is', async (_, method, params, headers, code) => {
  const { status, body } = await rpc(method, params, headers);
  expect(status).toBe(200);
  expect(body).toMatchObject({ jsonrpc: '2.0', id: 7, error: { code, message: expect.any(String) } });
});

test('a file that is none is no error that is ours in 0.3 either', async () => {
  const parts = [{ kind: 'file', file: { bytes: 7 } }, 7, null];
  for (const part of parts) {
    const sent = { kind: 'message', messageId: randomUUID(), role: 'user', parts: [part] };
    const { status, body } = await rpc('message/send', { message: sent }, { 'a2a-version': '' });
    expect(status).toBeLessThan(500);
    expect(body['error']).not.toMatchObject({ code: -32603 });
  }
});

test.each([
  ['parts that are none', message('hello')],
  ['a part that is none', message([7])],
  ['a message that is none', { message: 'hello' }],
  ['a prototype', message(hello, { metadata: JSON.parse('{"__proto__": {"x": 1}}') })],
  ['a file that is none', message([{ raw: 7 }])],
  ['a configuration that is none', { ...message(hello), configuration: 7 }],
])('%s: no error that is ours', async (_, params) => {
  const { status, body } = await rpc('SendMessage', params);
  expect(status).toBeLessThan(500);
  expect(body['error']).not.toMatchObject({ code: -32603 });
});

test('HTTP+JSON is of 1.0: a request that names no version is refused', async () => {
  const path = '/run/agents/assistant/a2a';
  expect(await post(`${path}/message:send`, message(hello), { 'a2a-version': '' })).toMatchObject({
    status: 400,
    body: { error: { details: [{ reason: 'VERSION_NOT_SUPPORTED' }] } },
  });
  expect(await post(`${path}/v1/message:send`, message(hello), { 'a2a-version': '' })).toMatchObject({
    status: 404,
  });
});

test('what comes before the method is told in the form of the transport', async () => {
  const path = '/run/agents/assistant/a2a';
  const nobody = { authorization: '' };
  const refused = await post(path, {}, nobody);
  expect(refused).toMatchObject({
    status: 401,
    body: { jsonrpc: '2.0', error: { message: expect.any(String) } },
  });
  expect(refused.headers.get('www-authenticate')).toContain('Bearer');
  expect(await post(path, '{')).toMatchObject({ status: 400, body: { error: { code: -32700 } } });
  expect(await post(path, 'hello', { 'content-type': 'text/plain' })).toMatchObject({ status: 415 });
  expect(await post('/run/agents/nobody/a2a', {})).toMatchObject({ status: 404, body: { jsonrpc: '2.0' } });
  const rest = await post(`${path}/message:send`, {}, nobody);
  expect(rest).toMatchObject({ status: 401, body: { error: { code: 401, message: expect.any(String) } } });
  expect(
    await post(`${path}/message:send`, message(hello), { 'content-type': 'application/a2a+json' }),
  ).toMatchObject({
    status: 200,
    body: { task: { status: { state: 'TASK_STATE_COMPLETED' } } },
  });
  expect(await post(`${path}/tasks/${randomUUID()}:cancel`, '')).toMatchObject({
    status: 404,
    body: { error: { details: [{ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' }] } },
  });
  expect(await post(`${path}/tasks/${randomUUID()}:explode`, '')).toMatchObject({ status: 400 });
});

test.each([
  ['a task that there is not', 'tasks/resubscribe', { id: 'nothing' }],
  [
    'a message without parts',
    'message/stream',
    { message: { kind: 'message', messageId: 'm', role: 'user', parts: [] } },
  ],
  ['no params', 'message/stream', undefined],
])('clients of 0.3 read the refusal of a stream as an event: %s', async (_, method, params) => {
  const { status, headers, body } = await rpc(method, params, { 'a2a-version': '0.3' });
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('text/event-stream')]);
  const [, data = ''] = /^data: (.*)$/m.exec(String(body['text'])) ?? [];
  expect(JSON.parse(data)).toMatchObject({ jsonrpc: '2.0', id: 7, error: { code: expect.any(Number) } });
});
