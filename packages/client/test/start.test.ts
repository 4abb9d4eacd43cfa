import { expect, test } from 'vitest';
import { createClient } from '../src/client.ts';
import type { Client, ClientOptions } from '../src/client.ts';
import type { NewMessage } from '../src/new-message.ts';
import type { TurnView } from '../src/turn-view.ts';
import {
  beginStream,
  sendProblem,
  sendStream,
  serveStream,
  toEvents,
  toolCall,
  wholeTurn,
} from './stream-server.ts';
import type { StreamServer } from './stream-server.ts';

const timing = { firstRetryMs: 1, lastRetryMs: 4, silenceMs: 20_000, giveUpMs: 10_000 };
const message: NewMessage = { conversationId: 'c1', message: { id: 'm-1', text: 'List my issues' } };

function clientOf({ url }: StreamServer, options: Partial<ClientOptions> = {}): Client {
  return createClient({ baseUrl: url, token: 'secret', timing, ...options });
}

async function lastOf(views: AsyncIterable<TurnView>): Promise<TurnView | undefined> {
  let last: TurnView | undefined;
  for await (const view of views) last = view;
  return last;
}

const named = { 'content-type': 'text/event-stream', 'x-turn-id': 'turn-1', 'x-conversation-id': 'new-1' };
const keysOf = (server: StreamServer) => server.requests.map(({ headers }) => headers['idempotency-key']);

test('a new conversation begins with what was said before, and its views name it', async () => {
  const server = await serveStream(
    (response) => void response.writeHead(200, named).end(toEvents(wholeTurn)),
  );
  const view = await lastOf(
    clientOf(server).start({
      message: { text: 'And now?' },
      messages: [
        { role: 'system', text: 'It is Monday.' },
        { role: 'user', text: 'Hello' },
        { role: 'assistant', text: 'Hello!' },
      ],
      agentId: 'assistant',
    }),
  );
  expect(view).toMatchObject({ conversationId: 'new-1', turnId: 'turn-1', status: 'completed' });
  const text = (words: string) => [{ type: 'text', text: words }];
  expect(server.requests[0]?.body).toEqual({
    messages: [
      { role: 'system', parts: text('It is Monday.') },
      { role: 'user', parts: text('Hello') },
      { role: 'assistant', parts: text('Hello!') },
      { id: expect.any(String), role: 'user', parts: text('And now?') },
    ],
    agentId: 'assistant',
  });
});

test('a message without a conversation is the same message on every connection, and another one in every call', async () => {
  const server = await serveStream((response) => {
    const isCut = server.requests.length % 3 !== 0;
    response.writeHead(200, named);
    response.end(toEvents(isCut ? wholeTurn.slice(0, 4) : wholeTurn));
  });
  const client = clientOf(server);
  await lastOf(client.start({ message: { text: 'Hello' } }));
  await lastOf(client.start({ message: { text: 'Hello' } }));
  const keys = keysOf(server);
  expect(keys).toEqual([keys[0], keys[0], keys[0], keys[3], keys[3], keys[3]]);
  expect(keys[0]).not.toBe(keys[3]);
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(server.requests.map(({ body }) => JSON.stringify(body))).size).toBe(2);
});

test('a message to a conversation is told by its id, made up once unless given', async () => {
  const server = await serveStream((response, nth) => {
    beginStream(response);
    response.end(toEvents(nth === 0 ? wholeTurn.slice(0, 4) : wholeTurn));
  });
  await lastOf(clientOf(server).start({ conversationId: 'c1', message: { text: 'Hello' } }));
  const ids = server.requests.map(({ body }) => (body as { messages: { id: string }[] }).messages[0]?.id);
  expect(ids).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), ids[0]]);
  expect(keysOf(server)).toEqual([undefined, undefined]);
});

test('an idempotency key of one’s own is sent as it is', async () => {
  const server = await serveStream((response) => sendStream(response, wholeTurn));
  await lastOf(clientOf(server).start({ ...message, idempotencyKey: 'order-17' }));
  expect(keysOf(server)).toEqual(['order-17']);
});

test('a service that does not name the new conversation is not Interlude', async () => {
  const server = await serveStream((response) => sendStream(response, wholeTurn));
  await expect(lastOf(clientOf(server).start({ message: { text: 'Hello' } }))).rejects.toMatchObject({
    code: 'unexpected_response',
  });
});

test('a message that cancels the busy turn is sent again until that turn has made room', async () => {
  const server = await serveStream((response, nth) => {
    if (nth > 2) return sendStream(response, wholeTurn);
    const problem = { code: 'turn_in_progress', detail: 'It is being cancelled.', turnId: 't0' };
    sendProblem(response, 409, problem, { 'retry-after': '0.01' });
  });
  const statuses: string[] = [];
  const view = await lastOf(
    clientOf(server).start({ ...message, onBusy: 'cancel' }, { onStatus: (status) => statuses.push(status) }),
  );
  expect(view).toMatchObject({ status: 'completed' });
  expect(server.requests).toHaveLength(4);
  expect(server.requests.at(-1)).toMatchObject({ body: { onBusy: 'cancel' } });
  // The line was never down.
  expect(statuses).toEqual([]);
});

test.each([
  ['one that is to be left alone is an error at once', 'refuse', 1],
  ['one that does not stop is an error in the end', 'cancel', 2],
] as const)('a busy turn, %s', async (_, onBusy, least) => {
  const server = await serveStream((response) =>
    sendProblem(response, 409, { code: 'turn_in_progress', detail: 'Busy.', turnId: 't0' }),
  );
  const client = clientOf(server, { timing: { ...timing, firstRetryMs: 20, giveUpMs: 1_000 } });
  await expect(lastOf(client.start({ ...message, onBusy }))).rejects.toMatchObject({
    status: 409,
    code: 'turn_in_progress',
    turnId: 't0',
  });
  expect(server.requests.length).toBeGreaterThanOrEqual(least);
  expect(server.requests.length === 1).toBe(onBusy === 'refuse');
});

test('a message that cancels the busy turn and is refused for something else is not sent again', async () => {
  const server = await serveStream((response) =>
    sendProblem(response, 404, { code: 'unknown_agent', detail: 'There is no such agent.' }),
  );
  await expect(lastOf(clientOf(server).start({ ...message, onBusy: 'cancel' }))).rejects.toMatchObject({
    code: 'unknown_agent',
  });
  expect(server.requests).toHaveLength(1);
});

const step = (n: number) => ({
  type: 'data-operation',
  id: `op-${n}`,
  data: {
    type: 'model_step',
    label: `Step ${n}`,
    details: { timestamp: '2026-11-21T12:00:00.000Z', agent: 'assistant', step: n },
  },
});
const notice = {
  server: 'tracker',
  serverTitle: 'Tracker',
  toolName: 'tracker__list_issues',
  message: 'Tracker needs your account.',
};
const noticed = [
  { type: 'start' },
  step(1),
  toolCall,
  { type: 'data-tool-auth-required', id: 'call-1', data: notice },
  { type: 'tool-output-error', toolCallId: 'call-1', errorText: 'Nobody was asked.' },
  step(2),
  step(2),
  { type: 'finish' },
];

test('what the turn does is listed once, and a missing account is a part beside its tool call', async () => {
  const server = await serveStream((response, nth) => {
    beginStream(response);
    response.end(toEvents(nth < 7 ? noticed.slice(0, nth) : noticed));
  });
  const views: TurnView[] = [];
  for await (const one of clientOf(server).start(message, { operations: true })) views.push(one);
  const view = views.at(-1);
  expect(views.map(({ operations, parts }) => [operations.length, parts.length])).toEqual([
    [0, 0],
    [1, 0],
    [1, 1],
    [1, 2],
    [1, 2],
    [2, 2],
    [2, 2],
  ]);
  expect(view?.operations.map(({ id, label }) => `${id} ${label}`)).toEqual(['op-1 Step 1', 'op-2 Step 2']);
  expect(view?.parts).toEqual([
    expect.objectContaining({
      kind: 'tool-call',
      id: 'call-1',
      state: { kind: 'failed', errorText: 'Nobody was asked.' },
    }),
    { kind: 'tool-auth-required', id: 'call-1', notice },
  ]);
  expect(server.requests.map(({ headers }) => headers['x-emit-operations'])).toEqual(Array(8).fill('true'));
});

test('how far a call has come is on it while it runs, and never goes back when the stream is read again', async () => {
  const at = (progress: number) => {
    const timestamp = '2026-11-21T12:00:00.000Z';
    const details = { timestamp, agent: 'assistant', toolCallId: 'call-1', toolName: 'tracker__list_issues' };
    const label = `tracker · list issues: ${progress}0 %`;
    const data = { type: 'tool_progress', label, details: { ...details, progress, total: 10 } };
    return { type: 'data-operation', id: 'op-progress-call-1', data };
  };
  const output = { type: 'tool-output-available', toolCallId: 'call-1', output: {} };
  const chunks = [{ type: 'start' }, step(1), toolCall, at(1), at(5), output, at(9), { type: 'finish' }];
  const server = await serveStream((response, nth) => {
    beginStream(response);
    response.end(toEvents(nth < 4 ? chunks.slice(0, 3 + nth) : chunks));
  });
  const seen: unknown[] = [];
  let last: TurnView | undefined;
  for await (const view of clientOf(server).start(message, { operations: true })) {
    last = view;
    const [part] = view.parts;
    if (part?.kind === 'tool-call') seen.push(part.state);
  }
  const running = (progress: number) => ({ kind: 'running', progress: { progress, total: 10 } });
  const done = { kind: 'done', output: {} };
  expect(seen.filter((state, index) => JSON.stringify(state) !== JSON.stringify(seen[index - 1]))).toEqual([
    { kind: 'running' },
    running(1),
    running(5),
    done,
  ]);
  expect(last?.operations.map(({ label }) => label)).toEqual(['Step 1', 'tracker · list issues: 90 %']);
});

test('operations are only asked for when they are wanted', async () => {
  const server = await serveStream((response) => sendStream(response, wholeTurn));
  expect((await lastOf(clientOf(server).start(message)))?.operations).toEqual([]);
  expect(server.requests[0]?.headers).not.toHaveProperty('x-emit-operations');
});

test('what is malformed in a view’s data changes nothing', async () => {
  const server = await serveStream((response) =>
    sendStream(response, [
      { type: 'start' },
      { type: 'data-operation', id: 'op-1', data: { type: 'model_step', label: 7, details: {} } },
      { type: 'data-operation', id: 'op-2', data: null },
      { type: 'data-tool-auth-required', id: 'call-1', data: { server: 'tracker' } },
      { type: 'data-elicitation-request', id: 'q1', data: { elicitationId: 'q1', status: 'maybe' } },
      { type: 'finish' },
    ]),
  );
  const view = await lastOf(clientOf(server).start(message, { operations: true }));
  expect(view).toMatchObject({ status: 'completed', parts: [], operations: [] });
});

test('conversations are listed and read page by page, and agents are listed', async () => {
  const server = await serveStream(
    (response, _nth, path) =>
      void response.end(
        JSON.stringify(path === '/run/v1/models' ? { data: [{ id: 'assistant' }] } : { path }),
      ),
  );
  const client = clientOf(server, { capabilities: { url: true, form: false } });
  expect(await client.agents()).toEqual([{ id: 'assistant' }]);
  for (const [call, path] of [
    [client.conversations(), '/run/v1/conversations'],
    [client.conversations({ cursor: 'a+b=', limit: 5 }), '/run/v1/conversations?cursor=a%2Bb%3D&limit=5'],
    [client.conversation('a:b'), '/run/v1/conversations/a%3Ab'],
    [client.conversation('a:b', { cursor: 'x' }), '/run/v1/conversations/a%3Ab?cursor=x'],
  ] as const)
    expect(await call).toEqual({ path });
  expect(server.requests.at(-1)?.headers).toMatchObject({ 'x-supports-elicitation': 'url' });
});
