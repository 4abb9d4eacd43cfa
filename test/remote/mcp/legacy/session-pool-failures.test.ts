/** What servers make of a session that was kept, and what of a call in it: it runs at most once in any case. */
import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Credential } from '../../../../src/credentials/credential-store.ts';
import type { AskUser, RemoteServers, ToolCall } from '../../../../src/remote/remote-servers.ts';
import { answer, answerError, sendEvent, startStream } from '../../../servers/raw-mcp-server.ts';
import type { RawMcpServer, RawMessage } from '../../../servers/raw-mcp-server.ts';
import { done, peer, status, useOneCall } from '../one-call.ts';
import type { Reply } from '../one-call.ts';
import { openRemoteServers } from '../../../../src/remote/open-remote-servers.ts';

useOneCall();

const credential: Credential = { kind: 'credential', headers: { authorization: 'Bearer t' }, version: 1 };
const requestedSchema = { type: 'object', properties: { nights: { type: 'integer' } } };
const question = { method: 'elicitation/create', params: { message: 'How many nights?', requestedSchema } };
const paid: Reply = (message, response) => answer(message, response, done);

/** A server whose sessions are numbered, to see which call uses which. */
async function numbered(on: Record<string, Reply>): Promise<RawMcpServer> {
  let opened = 0;
  return peer('legacy', {
    initialize: (message, response) => {
      response.setHeader('mcp-session-id', `s${++opened}`);
      const serverInfo = { name: 'raw', version: '1' };
      answer(message, response, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
    },
    DELETE: (_, response) => void response.writeHead(200).end(),
    'tools/call': paid,
    ...on,
  });
}

/** For longer than any test waits: what is ended here, is ended for a reason. */
function keep(): RemoteServers {
  const sessions = openRemoteServers({ idleMs: 600_000 });
  onTestFinished(() => sessions.close());
  return sessions;
}

function call({ config }: RawMcpServer, sessions: RemoteServers, changes: Partial<ToolCall> = {}) {
  return sessions.callTool(config, credential, {
    name: 'pay',
    arguments: {},
    callId: 'c1',
    owner: 'alice',
    signal: new AbortController().signal,
    ...changes,
  });
}

/** What the server does with each of its calls, in turn. */
function inTurn(...replies: Reply[]): Reply {
  let count = 0;
  return (...exchange) => (replies[count++] ?? paid)(...exchange);
}

const asked = (answerWith: AskUser['ask']): Partial<ToolCall> => ({
  capabilities: { form: true, url: false },
  askUser: { ask: answerWith, pageDone: () => undefined },
});
const threeNights: AskUser['ask'] = ({ key }) =>
  Promise.resolve({
    kind: 'answer',
    outcome: 'accept',
    answer: { key, action: 'accept', content: { nights: 3 } },
  });

describe('a session that its server does not know any more', () => {
  test.each([
    ['404', status(404)],
    ['400', status(400)],
    [
      '400 and an error about nothing in particular',
      (_: RawMessage, response: ServerResponse) =>
        answerError({ method: '' }, response, -32000, 'No valid session ID provided', 400),
    ],
    ['401', status(401)],
  ] as const)(
    'is told by %s: the call is made in a new one, and nobody hears of it',
    async (_, forgotten) => {
      const server = await numbered({ 'tools/call': inTurn(paid, forgotten, paid) });
      const sessions = keep();
      expect(await call(server, sessions)).toMatchObject({ kind: 'result' });
      expect(await call(server, sessions)).toMatchObject({ kind: 'result' });
      expect(server.count('initialize')).toBe(2);
      expect(server.count('tools/call')).toBe(3);
      expect(await call(server, sessions)).toMatchObject({ kind: 'result' });
      expect(server.count('initialize')).toBe(2);
    },
  );

  test('in which the call is refused in the new one as well, is refused', async () => {
    const server = await numbered({ 'tools/call': inTurn(paid, status(401), status(401)) });
    const sessions = keep();
    await call(server, sessions);
    expect(await call(server, sessions)).toMatchObject({ kind: 'refused', status: 401 });
    expect(server.count('tools/call')).toBe(3);
  });
});

test.each([
  [
    'dies with the call in its hands',
    (_: RawMessage, response: ServerResponse) => void response.socket?.destroy(),
  ],
  ['is in trouble', status(503)],
  [
    'ends its stream without an answer',
    (_: RawMessage, response: ServerResponse) => {
      startStream(response);
      response.end(': nothing\n\n');
    },
  ],
])(
  'a server that %s leaves the call unknown, makes it no second time, and is greeted anew',
  async (_, trouble) => {
    const server = await numbered({ 'tools/call': inTurn(paid, trouble) });
    const sessions = keep();
    await call(server, sessions);
    expect(await call(server, sessions)).toMatchObject({ kind: 'unknown' });
    expect(server.count('tools/call')).toBe(2);
    expect(await call(server, sessions)).toMatchObject({ kind: 'result' });
    expect(server.count('initialize')).toBe(2);
  },
);

test('a call that is cancelled leaves no session behind', async () => {
  const server = await numbered({ 'tools/call': inTurn(paid, () => {}) });
  const sessions = keep();
  await call(server, sessions);
  const controller = new AbortController();
  const cancelled = call(server, sessions, { signal: controller.signal });
  await expect.poll(() => server.count('tools/call')).toBe(2);
  controller.abort();
  expect(await cancelled).toMatchObject({ kind: 'unknown' });
  await server.arrived('DELETE');
});

test('the deadline of an earlier call does not end a later one', async () => {
  const controller = new AbortController();
  const server = await numbered({});
  const sessions = keep();
  await call(server, sessions, { signal: controller.signal });
  controller.abort();
  expect(await call(server, sessions)).toMatchObject({ kind: 'result' });
  expect(server.count('initialize')).toBe(1);
});

describe('a server that asks beside its calls', () => {
  /** Says on the standing stream what a test wants it to say. */
  async function speaking(on: Record<string, Reply>) {
    const streams: ServerResponse[] = [];
    const server = await numbered({
      GET: (_, response) => {
        startStream(response);
        streams.push(response);
      },
      response: (_, response) => void response.writeHead(202).end(),
      ...on,
    });
    return { server, streams };
  }

  test('has each question put to the call that is under way', async () => {
    const { server, streams } = await speaking({
      'tools/call': async (message, response) => {
        const answers = server.count('response');
        sendEvent(streams[0] as ServerResponse, { id: `q${answers}`, ...question });
        await expect.poll(() => server.count('response')).toBe(answers + 1);
        answer(message, response, done);
      },
    });
    const sessions = keep();
    const heard: string[] = [];
    for (const name of ['first', 'second']) {
      const ask: AskUser['ask'] = (...given) => (heard.push(name), threeNights(...given));
      expect(await call(server, sessions, asked(ask))).toMatchObject({ kind: 'result' });
    }
    expect(heard).toEqual(['first', 'second']);
    expect(server.count('initialize')).toBe(1);
    expect(streams).toHaveLength(1);
  });

  test('and goes on without the answer has its session ended', async () => {
    const { server, streams } = await speaking({
      'tools/call': inTurn((message, response) => {
        sendEvent(streams[0] as ServerResponse, { id: 'q', ...question });
        setTimeout(() => answer(message, response, done), 100);
      }),
    });
    const sessions = keep();
    const never: AskUser['ask'] = (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('over'))));
    expect(await call(server, sessions, asked(never))).toMatchObject({ kind: 'result' });
    await server.arrived('DELETE');
    expect(await call(server, sessions, asked(threeNights))).toMatchObject({ kind: 'result' });
    expect(server.count('initialize')).toBe(2);
  });

  test('although nothing is called has its session ended, and nobody is asked', async () => {
    const { server, streams } = await speaking({});
    const sessions = keep();
    await call(server, sessions, asked(threeNights));
    sendEvent(streams[0] as ServerResponse, { id: 'q', ...question });
    await server.arrived('DELETE');
    expect(server.messages.find(({ method }) => method === 'response')).toMatchObject({ error: {} });
    await call(server, sessions, asked(threeNights));
    expect(server.count('initialize')).toBe(2);
  });

  test('and only wants to know whether somebody is there gets its answer, and keeps its session', async () => {
    const { server, streams } = await speaking({});
    const sessions = keep();
    await call(server, sessions, asked(threeNights));
    sendEvent(streams[0] as ServerResponse, { id: 'p', method: 'ping' });
    await server.arrived('response');
    await call(server, sessions, asked(threeNights));
    expect(server.count('initialize')).toBe(1);
  });

  test('and closes that stream is greeted anew: on it, nobody could ask any more', async () => {
    const { server, streams } = await speaking({});
    const sessions = keep();
    await call(server, sessions, asked(threeNights));
    streams[0]?.end();
    // The SDK opens it again, which shows that its end was heard.
    await expect.poll(() => server.count('GET')).toBe(2);
    await call(server, sessions, asked(threeNights));
    expect(server.count('initialize')).toBe(2);
  });
});

test('a session in which a page was asked for is left to whoever has been there', async () => {
  const page = { mode: 'url', elicitationId: 'p1', message: 'Open it', url: 'https://pages.example/p1' };
  const server = await numbered({
    'tools/call': inTurn(
      paid,
      (message, response) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            jsonrpc: '2.0',
            id: message.id,
            error: { code: -32042, message: 'First the page', data: { elicitations: [page] } },
          }),
        ),
    ),
  });
  const sessions = keep();
  const capabilities = { form: true, url: true };
  await call(server, sessions, { capabilities });
  const outcome = await call(server, sessions, { capabilities });
  expect(outcome).toMatchObject({
    kind: 'asks',
    pause: { resume: { kind: 'again', session: { sessionId: 's1' } } },
  });
  await call(server, sessions, { capabilities });
  expect(server.count('initialize')).toBe(2);
  expect(server.count('DELETE')).toBe(0);
});

test('a session that is lost again at once is reported as lost, not as a wrong address', async () => {
  const server = await numbered({ 'tools/call': status(404) });
  const sessions = keep();
  const { message } = (await call(server, sessions)) as { message: string };
  expect(message).toMatch(/^Peer \(127\.0\.0\.1:\d+\) lost the session .*\(HTTP 404\)/);
  expect(message).not.toMatch(/address|url/);
});
