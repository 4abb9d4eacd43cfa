import { afterEach, expect, test } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import type { Client, ClientOptions } from '../../src/client/client.ts';
import type { FeedItem } from '../../src/client/follow-feed.ts';
import { sendProblem, startStreamServer } from './stream-server.ts';
import type { Reply, StreamServer } from './stream-server.ts';

/** Thousands of connections, one after another. */
const longTimeout = { timeout: 180_000 };
const timing = { firstRetryMs: 1, lastRetryMs: 4, silenceMs: 20_000, giveUpMs: 10_000 };
const at = '2026-11-21T12:00:00.000Z';

const said = ['Let me ', 'look – gleich, ', '見て ', '👀.'];
/** Two turns; numbers are missing where deltas were merged. */
const log: FeedItem[] = [
  { seq: 1, event: { type: 'turn-started', agent: 'assistant', messageId: 'm1', turnId: 't1', at } },
  { seq: 2, event: { type: 'start-step', step: 0, turnId: 't1', at } },
  { seq: 3, event: { type: 'text-start', id: 'p1', turnId: 't1', at } },
  ...said.map((delta, index): FeedItem => ({
    seq: 4 + index,
    event: { type: 'text-delta', id: 'p1', delta, turnId: 't1', at },
  })),
  { seq: 8, event: { type: 'turn-ended', status: 'completed', turnId: 't1', at } },
  { seq: 20, event: { type: 'turn-started', agent: 'assistant', messageId: 'm2', turnId: 't2', at } },
  { seq: 21, event: { type: 'start-step', step: 0, turnId: 't2', at } },
  { seq: 22, event: { type: 'turn-ended', status: 'failed', turnId: 't2', at } },
];
const operation = (seq: number): FeedItem => ({
  seq: seq - 1,
  event: {
    type: 'data-operation',
    id: `op-${seq}`,
    data: { type: 'model_step', label: 'Step 1', details: { timestamp: at, agent: 'assistant', step: 0 } },
    turnId: seq < 20 ? 't1' : 't2',
    at,
  },
});
const withOperations = log.flatMap((item) =>
  item.event.type === 'start-step' ? [operation(item.seq), item] : [item],
);

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function serve(reply: Reply): Promise<StreamServer> {
  const server = await startStreamServer(reply);
  stack.defer(() => server.stop());
  return server;
}

function clientOf({ url }: Pick<StreamServer, 'url'>, options: Partial<ClientOptions> = {}): Client {
  return createClient({ baseUrl: url, token: 'secret', timing, ...options });
}

/** As the service writes it; `latest` is where the log ends now. */
function feedText(path: string, latest = 22): string {
  const query = new URL(path, 'http://x').searchParams;
  const given = query.get('after');
  const after = given === 'latest' ? latest : Number(given ?? 0);
  const items = query.get('operations') === 'true' ? withOperations : log;
  const events = items
    .filter(({ seq, event }) => (event.type === 'data-operation' ? seq + 1 : seq) > after)
    .map(({ seq, event }) => {
      const data = `data: ${JSON.stringify(event)}\n\n`;
      return event.type === 'data-operation' ? data : `id: ${seq}\n${data}`;
    });
  return `: stream-open\n\nretry: 1000\nid: ${after}\n\n${events.join('')}`;
}

const sse = { 'content-type': 'text/event-stream' };

/** Reads until `count` items have come. */
async function take(items: AsyncGenerator<FeedItem>, count: number): Promise<FeedItem[]> {
  const taken: FeedItem[] = [];
  if (count === 0) return taken;
  for await (const item of items) {
    taken.push(item);
    if (taken.length === count) break;
  }
  return taken;
}

const pathsOf = (server: StreamServer) => server.requests.map(({ path }) => path);

test('a conversation is told from its beginning, each event with its position', async () => {
  const server = await serve((response, _nth, path) => {
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
  const server = await serve((response, _nth, path) => {
    response.writeHead(200, sse);
    response.write(feedText(path));
  });
  const client = clientOf(server);
  for (const { seq } of log.slice(0, -1)) {
    const rest = log.filter((item) => item.seq > seq);
    expect(await take(client.events('c1', { after: seq }), rest.length)).toEqual(rest);
  }
});

test.each([
  ['without operations', false, log],
  ['with operations', true, withOperations],
])(
  'wherever the feed is cut, to the byte, every event comes once: %s',
  longTimeout,
  async (_, operations, expected) => {
    const cuts = Array.from(
      { length: feedText(operations ? '/?operations=true' : '/').length },
      (_none, at) => at,
    );
    const server = await serve((response, nth, path) => {
      const cut = Number(path.split('/')[4]);
      response.writeHead(200, sse);
      const bytes = Buffer.from(feedText(path));
      if (nth > 0 || path.includes('after=')) return void response.write(bytes);
      if (cut % 2 === 0) return void response.end(bytes.subarray(0, cut));
      response.write(bytes.subarray(0, cut), () => response.destroy());
    });
    const client = clientOf(server);
    const wrong: number[] = [];
    for (let first = 0; first < cuts.length; first += 40) {
      const batch = cuts.slice(first, first + 40).map(async (cut) => {
        const told = await take(client.events(String(cut), { operations }), expected.length);
        if (JSON.stringify(told) !== JSON.stringify(expected)) wrong.push(cut);
      });
      await Promise.all(batch);
    }
    expect(wrong).toEqual([]);
    expect(server.requests.length).toBeGreaterThan(1.9 * cuts.length);
  },
);

test('the position that comes with an operation leads to the event it describes', async () => {
  const server = await serve((response, _nth, path) => {
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
  const server = await serve((response, _nth, path) => {
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
  const server = await serve((response) => {
    response.writeHead(200, sse);
    if (server.requests.length === 1) return void response.end(feedText('/').split('id: 20')[0]);
    response.write(feedText('/'));
  });
  expect(await take(clientOf(server).events('c1'), log.length)).toEqual(log);
});

test('a type that is not known yet is passed on, and what is no event is not', async () => {
  const server = await serve((response) => {
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
  const server = await serve((response, _nth, path) => {
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
  const server = await serve((response) =>
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
  const server = await serve((response, _nth, path) => {
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
