import { expect, test } from 'vitest';
import { createClient } from '../src/client.ts';
import type { Client, ClientOptions } from '../src/client.ts';
import { feedText, log, take, withOperations } from './feed-log.ts';
import { sendProblem, serveStream } from './stream-server.ts';
import type { StreamServer } from './stream-server.ts';

const timing = { firstRetryMs: 1, lastRetryMs: 4, silenceMs: 20_000, giveUpMs: 10_000 };
function clientOf({ url }: Pick<StreamServer, 'url'>, options: Partial<ClientOptions> = {}): Client {
  return createClient({ baseUrl: url, token: 'secret', timing, ...options });
}

const sse = { 'content-type': 'text/event-stream' };

const pathsOf = (server: StreamServer) => server.requests.map(({ path }) => path);

test('a conversation is told from its beginning, each event with its position', async () => {
  const server = await serveStream((response, _nth, path) => {
    response.writeHead(200, sse);
    response.write(feedText(path));
  });
  expect(await take(clientOf(server).events('c:1'), log.length)).toEqual(log);
  expect(server.requests).toMatchObject([
    {
      method: 'GET',
      path: '/run/v1/conversations/c%3A1/events',
      headers: { authorization: 'Bearer secret' },
    },
  ]);
});

test('a reader goes on where it was', async () => {
  const server = await serveStream((response, _nth, path) => {
    response.writeHead(200, sse);
    response.write(feedText(path));
  });
  const client = clientOf(server);
  for (const { seq } of log.slice(0, -1)) {
    const rest = log.filter((item) => item.seq > seq);
    expect(await take(client.events('c1', { after: seq }), rest.length)).toEqual(rest);
  }
});

test('the position that comes with an operation leads to the event it describes', async () => {
  const server = await serveStream((response, _nth, path) => {
    response.writeHead(200, sse);
    response.write(feedText(path));
  });
  const client = clientOf(server);
  for (const [index, { seq }] of withOperations.entries()) {
    if (index === withOperations.length - 1) continue;
    const [next] = await take(client.events('c1', { after: seq, operations: true }), 1);
    // The operation itself comes again, with its event.
    const isOperation = withOperations[index]?.event.type === 'data-operation';
    expect(next).toEqual(withOperations[isOperation ? index : index + 1]);
  }
});

test('whoever begins with what is new misses nothing of it, also when cut off before the first event', async () => {
  const server = await serveStream((response, _nth, path) => {
    response.writeHead(200, sse);
    // The second turn begins while the connection is away.
    if (server.requests.length === 1) return void response.end(feedText(path, 8).split('id: 20')[0]);
    response.write(feedText(path));
  });
  const told = await take(clientOf(server).events('c1', { after: 'latest' }), 3);
  expect(told.map(({ seq }) => seq)).toEqual([20, 21, 22]);
  expect(pathsOf(server)).toEqual([
    '/run/v1/conversations/c1/events?after=latest',
    '/run/v1/conversations/c1/events?after=8',
  ]);
});

test('what is sent again although nobody asked for it is told once', async () => {
  const server = await serveStream((response) => {
    response.writeHead(200, sse);
    if (server.requests.length === 1) return void response.end(feedText('/').split('id: 20')[0]);
    response.write(feedText('/'));
  });
  expect(await take(clientOf(server).events('c1'), log.length)).toEqual(log);
});

test('a type that is not known yet is passed on, and what is no event is not', async () => {
  const server = await serveStream((response) => {
    response.writeHead(200, sse);
    response.write(
      'id: 1\ndata: {"type":"weather-changed","sky":"blue"}\n\nid: 2\ndata: nonsense\n\nid: 3\ndata: []\n\n',
    );
    response.write(`id: 4\ndata: ${JSON.stringify(log[0]?.event)}\n\n`);
  });
  const told = await take(clientOf(server).events('c1'), 2);
  expect(told).toEqual([
    { seq: 1, event: { type: 'weather-changed', sky: 'blue' } },
    { seq: 4, event: log[0]?.event },
  ]);
});

test('a feed that falls silent is read on over a new connection, and that is said', async () => {
  const server = await serveStream((response, _nth, path) => {
    response.writeHead(200, sse);
    response.write(server.requests.length === 1 ? feedText(path).split('id: 20')[0] : feedText(path));
  });
  const statuses: string[] = [];
  const client = clientOf(server, { timing: { ...timing, silenceMs: 2_000 } });
  const events = client.events('c1', { onStatus: (status) => statuses.push(status) });
  expect(await take(events, log.length)).toEqual(log);
  expect(statuses).toEqual(['reconnecting', 'connected']);
  expect(pathsOf(server).at(-1)).toContain('?after=8');
});

test('a conversation that is not there is an error, and not asked for again', async () => {
  const server = await serveStream((response) =>
    sendProblem(response, 404, { code: 'conversation_not_found', detail: 'There is none.' }),
  );
  await expect(take(clientOf(server).events('c1'), 1)).rejects.toMatchObject({
    status: 404,
    code: 'conversation_not_found',
  });
  expect(server.requests).toHaveLength(1);
});

test('a reader that aborts is told so, and its connection ends', async () => {
  const { promise: isClosed, resolve: reportClosed } = Promise.withResolvers<void>();
  const server = await serveStream((response, _nth, path) => {
    response.on('close', reportClosed);
    response.writeHead(200, sse);
    response.write(feedText(path));
  });
  const reading = new AbortController();
  const events = clientOf(server).events('c1', { signal: reading.signal });
  for (const { seq } of log) expect((await events.next()).value).toMatchObject({ seq });
  const next = events.next();
  reading.abort(new Error('enough'));
  await expect(next).rejects.toThrow('enough');
  await isClosed;
});
