/** Before a call is sent nothing can have run, however the handshake fails; each era has its own failures. */
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { serverConfig } from '../../servers/mcp-server.ts';
import { answer, discovered, sendEvent, startStream } from '../../servers/raw-mcp-server.ts';
import type { RawMessage } from '../../servers/raw-mcp-server.ts';
import { call, done, forget, peer, running, status, useOneCall } from './one-call.ts';
import type { Era, Reply } from './one-call.ts';

useOneCall();

const greet: Reply = (message, response) =>
  answer(message, response, {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'raw', version: '1' },
  });

describe.each(['server/discover', 'initialize', 'notifications/initialized'])('when %s', (method) => {
  const era: Era = method === 'server/discover' ? 'modern' : 'legacy';
  test.each([
    ['401', 401, 'refused'],
    ['403', 403, 'refused'],
    ['404', 404, 'unreachable'],
    ['429', 429, 'unreachable'],
    ['500', 500, 'unreachable'],
    ['503', 503, 'unreachable'],
  ] as const)('is answered with %s the tool certainly did not run', async (_, code, kind) => {
    const { config, count } = await peer(era, { [method]: status(code) });
    const outcome = await call(config);
    expect(outcome.kind).toBe(kind);
    expect(count('tools/call')).toBe(0);
    expect(JSON.stringify(outcome)).not.toContain('s3cret');
  });

  test('is never answered, the deadline ends it and the tool certainly did not run', async () => {
    const { config, count } = await peer(era, { [method]: () => {} });
    const outcome = await call({ ...config, timeout: 300 });
    expect(outcome).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('did not answer within'),
    });
    expect(count('tools/call')).toBe(0);
  });

  test('meets a closed connection the tool certainly did not run', async () => {
    const { config, count } = await peer(era, { [method]: (_, response) => void response.socket?.destroy() });
    expect((await call(config)).kind).toBe('unreachable');
    expect(count('tools/call')).toBe(0);
  });
});

test('a connection that is accepted and never spoken on ends at the deadline, certainly not executed', async () => {
  const silent = createTcpServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  running.push({ stop: async () => void silent.close() });
  const { port } = silent.address() as AddressInfo;
  const outcome = await call(serverConfig(`http://127.0.0.1:${port}/mcp`, { timeout: 300 }));
  expect(outcome.kind).toBe('unreachable');
});

test('a server that went away since the last call is certainly not called', async () => {
  const closing =
    (result: unknown): Reply =>
    (message, response) =>
      answer(message, response.setHeader('connection', 'close'), result);
  const server = await peer('modern', {
    'server/discover': closing(discovered),
    'tools/call': closing(done),
  });
  expect((await call(server.config)).kind).toBe('result');
  await server.stop();
  const outcome = await call(server.config);
  expect(outcome).toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('nothing is listening there'),
  });
});

test.each([
  ['server/discover', 'modern'],
  ['initialize', 'legacy'],
] as const)(
  'a connection that has died since the last call costs no call: %s is sent again',
  async (method, era) => {
    const used = new Set<unknown>();
    const onOneConnection =
      (reply: Reply): Reply =>
      (message, response) => {
        if (used.has(response.socket)) return void response.socket?.destroy();
        used.add(response.socket);
        return reply(message, response);
      };
    const { config, count } = await peer(era, {
      'server/discover':
        era === 'modern'
          ? onOneConnection((message, response) => answer(message, response, discovered))
          : status(400),
      ...(era === 'legacy' && { initialize: onOneConnection(greet) }),
      'tools/call': (message, response) => answer(message, response, done),
    });
    // Each with a memory of its own, so that each asks for the era; connections are the process's.
    expect((await call(config)).kind).toBe('result');
    forget();
    expect((await call(config)).kind).toBe('result');
    expect(count(method)).toBe(3);
    expect(count('tools/call')).toBe(2);
  },
);

test('a server that fails on the probe of the new era is spoken to in the old one', async () => {
  const { config, count } = await peer('legacy', {
    'server/discover': status(500),
    'tools/call': (message, response) => answer(message, response, done),
  });
  expect((await call(config)).kind).toBe('result');
  expect(count('initialize')).toBe(1);
});

test('a server that went back to the old era is understood again, and the tool runs once', async () => {
  let era: Era = 'modern';
  let executions = 0;
  const { config } = await peer('modern', {
    'server/discover': (message, response) => {
      if (era === 'legacy') return status(400)(message, response);
      answer(message, response, discovered);
    },
    initialize: greet,
    'tools/call': (message, response) => {
      if (era === 'legacy' && message.params?._meta?.['io.modelcontextprotocol/protocolVersion'])
        return status(400)(message, response);
      executions++;
      answer(message, response, done);
    },
  });
  expect((await call(config)).kind).toBe('result');
  era = 'legacy';
  expect((await call(config)).kind).toBe('result');
  expect(executions).toBe(2);
});

test('an old server that pushes a question is told it cannot, and a tool that gives up on it ends as such', async () => {
  const { config } = await peer('legacy', {
    'tools/call': (message, response) => {
      startStream(response);
      sendEvent(response, {
        id: 'q1',
        method: 'elicitation/create',
        params: { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
      });
      sendEvent(response, {
        id: message.id,
        result: { content: [{ type: 'text', text: 'Method not found' }], isError: true },
      });
      response.end();
    },
  });
  expect(await call(config)).toMatchObject({
    kind: 'unaskable',
    failure: { code: 'unaskable', why: expect.stringContaining("which the user's client cannot show") },
  });
});

test('an old server that copes without its question has simply answered', async () => {
  const { config } = await peer('legacy', {
    'tools/call': (message, response) => {
      startStream(response);
      sendEvent(response, {
        id: 'q1',
        method: 'elicitation/create',
        params: { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
      });
      sendEvent(response, { id: message.id, result: done });
      response.end();
    },
  });
  expect((await call(config)).kind).toBe('result');
});

test('a stream with event ids that breaks is picked up again, and the tool runs once', async () => {
  let pending: RawMessage | undefined;
  const { config, count } = await peer('legacy', {
    'tools/call': (message, response) => {
      pending = message;
      startStream(response);
      response.write('id: e1\nretry: 10\ndata: \n\n', () => response.end());
    },
    GET: (_, response) => {
      startStream(response);
      sendEvent(response, { id: pending?.id, result: done }, 'e2');
      response.end();
    },
  });
  expect((await call(config)).kind).toBe('result');
  expect(count('tools/call')).toBe(1);
});
