import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { createClient } from '../src/client.ts';
import type { Client, ClientOptions } from '../src/client.ts';
import { foldChunk, newFold } from '../src/turn-view.ts';
import { InterludeError } from '../src/interlude-error.ts';
import type { Fold, TurnView } from '../src/turn-view.ts';
import { printedText } from './printed-text.ts';
import {
  beginStream,
  conversationOf,
  sendProblem,
  sendStream,
  startStreamServer,
  toEvents,
  wholeTurn,
} from './stream-server.ts';
import type { Reply, StreamServer } from './stream-server.ts';

const timing = { firstRetryMs: 1, lastRetryMs: 4, silenceMs: 20_000, giveUpMs: 10_000 };
const message = { conversationId: 'c1', message: { id: 'm-1', text: 'List my issues' } };
const wholeView = wholeTurn.reduce<Fold>(
  (fold, chunk) => foldChunk(fold, { ...chunk }),
  newFold('c1', 'turn-1'),
).view;

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
  const capabilities = { url: true, form: false };
  return createClient({ baseUrl: url, token: 'secret', capabilities, timing, ...options });
}

async function lastOf(views: AsyncIterable<TurnView>): Promise<TurnView | undefined> {
  let last: TurnView | undefined;
  for await (const view of views) last = view;
  return last;
}

function pointsOf(server: StreamServer, method: string): number {
  return server.requests.filter((request) => request.method === method).length;
}

test('a turn is started with what useChat would post, and read to its end', async () => {
  const server = await serve((response) => sendStream(response, wholeTurn));
  const view = await lastOf(clientOf(server).start({ ...message, agentId: 'assistant' }));
  expect(view).toEqual(wholeView);
  expect(view?.parts.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
    'text t1',
    'tool-call call-1',
    'elicitation q1',
    'text t2',
  ]);
  const [request] = server.requests;
  expect(request).toMatchObject({ method: 'POST', path: '/run/api/chat' });
  expect(request?.headers).toMatchObject({ authorization: 'Bearer secret', 'x-supports-elicitation': 'url' });
  expect(request?.body).toEqual({
    id: 'c1',
    agentId: 'assistant',
    messages: [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'List my issues' }] }],
  });
});

test('a stream cut after every event in a row is told once, in order', async () => {
  const server = await serve((response, nth) => {
    if (nth > wholeTurn.length) return sendStream(response, wholeTurn);
    beginStream(response);
    response.end(toEvents(wholeTurn.slice(0, nth)));
  });
  const statuses: string[] = [];
  const views: TurnView[] = [];
  const told = await printedText(
    (async function* () {
      for await (const view of clientOf(server).start(message, {
        onStatus: (status) => statuses.push(status),
      })) {
        views.push(view);
        yield view;
      }
    })(),
  );
  expect(told.split('Let me ').length).toBe(2);
  expect(views.at(-1)).toEqual(wholeView);
  // One view as soon as there is a turn, then one per chunk that says something: nothing was shown twice.
  expect(views.length).toBe(wholeTurn.length - 4);
  expect(statuses.filter((status) => status === 'reconnecting')).toHaveLength(wholeTurn.length);
});

describe('what a repeated model call said', () => {
  const said = (id: string, ...deltas: string[]) => [
    { type: 'text-start', id },
    ...deltas.map((delta) => ({ type: 'text-delta', id, delta })),
  ];
  const first = [
    { type: 'start' },
    { type: 'start-step' },
    ...said('t0', 'One moment.'),
    { type: 'finish-step' },
  ];
  const thought = [
    { type: 'reasoning-start', id: 'r1' },
    { type: 'reasoning-delta', id: 'r1', delta: 'Hm.' },
  ];
  const again = [
    ...said('t2', 'A whole ', 'sentence.'),
    { type: 'text-end', id: 't2' },
    { type: 'finish-step' },
    { type: 'finish' },
  ];
  const reset = { type: 'reset-step' };
  const watched = [
    ...first,
    { type: 'start-step' },
    ...thought,
    ...said('t1', 'Half a ', 'sen'),
    reset,
    ...again,
  ];
  /** Void text is not read again; that there was some, is. */
  const late = [...first, { type: 'start-step' }, reset, ...again];
  const textsIn = (view: TurnView | undefined) =>
    view?.parts.map((part) => (part.kind === 'text' ? part.text : part.kind));

  test('is gone as soon as it is taken back, and what was said before is not', async () => {
    const server = await serve((response) => sendStream(response, watched));
    const seen: string[] = [];
    for await (const view of clientOf(server).start(message)) seen.push(textsIn(view)?.join('|') ?? '');
    const all = [
      'One moment.|reasoning|Half a sen',
      'One moment.',
      'One moment.|',
      'One moment.|A whole ',
      'One moment.|A whole sentence.',
    ];
    expect(seen.filter((texts, index) => all.includes(texts) && texts !== seen[index - 1]).slice(-5)).toEqual(
      all,
    );
    expect(server.requests[0]?.headers).toMatchObject({ 'x-supports-reset-step': 'true' });
  });

  test('is gone, too, when it was taken back while the reader was away, wherever they were cut off', async () => {
    const server = await serve((response, nth, _path, body) => {
      if (nth > 0) return sendStream(response, late);
      beginStream(response);
      response.end(toEvents(watched.slice(0, Number(conversationOf(body).split('.')[1]))));
    });
    for (const cut of watched.keys()) {
      const start = () => clientOf(server).start({ ...message, conversationId: `${randomUUID()}.${cut}` });
      expect([cut, textsIn(await lastOf(start()))]).toEqual([cut, ['One moment.', 'A whole sentence.']]);
      expect([cut, await printedText(start())]).toEqual([cut, 'One moment.A whole sentence.¶¶']);
    }
  });

  test('does not come back with a replay that has not heard of it yet', async () => {
    const half = watched.slice(0, watched.indexOf(reset));
    const server = await serve((response, nth) => {
      if (nth > 1) return sendStream(response, late);
      beginStream(response);
      response.end(toEvents(nth === 0 ? watched.slice(0, -3) : half));
    });
    const seen: string[] = [];
    for await (const view of clientOf(server).start(message)) seen.push(textsIn(view)?.join('|') ?? '');
    expect(server.requests).toHaveLength(3);
    const after = seen.slice(seen.findIndex((texts) => texts.includes('A whole ')));
    expect(after.length).toBeGreaterThan(1);
    expect(after.filter((texts) => texts.includes('Half'))).toEqual([]);
  });

  test('stays where a turn ends with it', async () => {
    const broken = [
      ...watched.slice(0, watched.indexOf(reset)),
      { type: 'error', errorText: 'no' },
      { type: 'finish' },
    ];
    const server = await serve((response) => sendStream(response, broken));
    expect(textsIn(await lastOf(clientOf(server).start(message)))?.at(-1)).toBe('Half a sen');
  });
});

test('a stream that falls silent is given up and read again', async () => {
  const server = await serve((response, nth) => {
    if (nth > 0) return sendStream(response, wholeTurn);
    beginStream(response);
    response.write(toEvents(wholeTurn.slice(0, 4)));
  });
  const statuses: string[] = [];
  const client = clientOf(server, { timing: { ...timing, silenceMs: 2_000 } });
  const view = await lastOf(client.start(message, { onStatus: (status) => statuses.push(status) }));
  expect(view).toEqual(wholeView);
  expect(statuses).toEqual(['reconnecting', 'connected']);
});

test('comments keep a waiting stream alive', async () => {
  const server = await serve(async (response) => {
    beginStream(response);
    response.write(toEvents(wholeTurn.slice(0, 9)));
    for (let beat = 0; beat < 20; beat += 1) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      response.write(': keep-alive\n\n');
    }
    response.end(toEvents(wholeTurn.slice(9)));
  });
  const client = clientOf(server, { timing: { ...timing, silenceMs: 4_000 } });
  expect(await lastOf(client.start(message))).toEqual(wholeView);
  expect(server.requests).toHaveLength(1);
});

test('a service that is away is waited for, also before the turn exists', async () => {
  const first = await startStreamServer(() => undefined);
  await first.stop();
  const statuses: string[] = [];
  const { promise: isAway, resolve: reportAway } = Promise.withResolvers<void>();
  const reading = lastOf(
    clientOf(first).start(message, {
      onStatus(status) {
        statuses.push(status);
        reportAway();
      },
    }),
  );
  await isAway;
  const second = await startStreamServer((response) => sendStream(response, wholeTurn), first.port);
  stack.defer(() => second.stop());
  expect(await reading).toEqual(wholeView);
  expect(statuses).toEqual(['reconnecting', 'connected']);
});

test('503 and 429 are tried again with the same message', async () => {
  const server = await serve((response, nth) => {
    if (nth === 0) return sendProblem(response, 503, { code: 'unavailable', detail: 'Temporal is away.' });
    if (nth === 1)
      return sendProblem(response, 429, { code: 'rate_limited', detail: 'Wait.' }, { 'retry-after': '0.01' });
    sendStream(response, wholeTurn);
  });
  expect(await lastOf(clientOf(server).start(message))).toEqual(wholeView);
  expect(new Set(server.requests.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(server.requests).toHaveLength(3);
});

test('a limit that lasts longer than a minute is a refusal', async () => {
  const server = await serve((response) =>
    sendProblem(response, 429, { code: 'rate_limited', detail: 'Tomorrow.' }, { 'retry-after': '7200' }),
  );
  const refused = lastOf(clientOf(server).start(message));
  await expect(refused).rejects.toMatchObject({ code: 'rate_limited', detail: 'Tomorrow.' });
  expect(server.requests).toHaveLength(1);
});

test('a refusal is a typed error with everything the problem document says', async () => {
  const errors = [{ pointer: '/agentId', detail: 'this conversation is with researcher' }];
  const server = await serve((response) =>
    sendProblem(response, 409, {
      code: 'turn_in_progress',
      detail: 'Wait for the turn to end.',
      errors,
      turnId: 't9',
    }),
  );
  const error: unknown = await lastOf(clientOf(server).start(message)).catch((refused: unknown) => refused);
  expect(error).toBeInstanceOf(InterludeError);
  expect(error).toMatchObject({
    status: 409,
    code: 'turn_in_progress',
    detail: 'Wait for the turn to end.',
    errors,
    turnId: 't9',
  });
  expect(server.requests).toHaveLength(1);
});

test('whatever is not Interlude is said to be something else, at once', async () => {
  const server = await serve(
    (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  );
  await expect(lastOf(clientOf(server).start(message))).rejects.toMatchObject({
    code: 'unexpected_response',
  });
  expect(server.requests).toHaveLength(1);
});

test('a failed turn says why, and a cancelled one that it was', async () => {
  const end = (path: string) =>
    path.endsWith('/stream')
      ? [{ type: 'abort' }]
      : [{ type: 'error', errorText: 'No model.' }, { type: 'finish' }];
  const server = await serve((response, _nth, path) =>
    sendStream(response, [{ type: 'start' }, ...end(path)]),
  );
  const client = clientOf(server);
  expect(await lastOf(client.start(message))).toMatchObject({ status: 'failed', errorText: 'No model.' });
  expect(await lastOf(client.follow('c1'))).toMatchObject({ status: 'cancelled' });
});

test('following an idle conversation ends at once', async () => {
  const server = await serve((response) => void response.writeHead(204).end());
  expect(await lastOf(clientOf(server).follow('c1'))).toBeUndefined();
  expect(server.requests).toMatchObject([{ method: 'GET', path: '/run/api/chat/c1/stream' }]);
});

test.each(['it is idle', 'another turn has begun'])(
  'a followed turn that ended while nobody looked is said to be unseen: %s',
  async (afterwards) => {
    const server = await serve((response, nth) => {
      if (nth > 0 && afterwards === 'it is idle') return void response.writeHead(204).end();
      if (nth > 0) return sendStream(response, wholeTurn, 'turn-2');
      beginStream(response, 'turn-1');
      response.end(toEvents(wholeTurn.slice(0, 5)));
    });
    const view = await lastOf(clientOf(server).follow('c1'));
    expect(view).toMatchObject({ status: 'unseen', turnId: 'turn-1', parts: [{ id: 't1', done: false }] });
    expect(pointsOf(server, 'GET')).toBe(2);
  },
);

test('a reader that leaves ends its connection', async () => {
  const { promise: isClosed, resolve: reportClosed } = Promise.withResolvers<void>();
  const server = await serve((response) => {
    response.on('close', reportClosed);
    beginStream(response);
    response.write(toEvents(wholeTurn.slice(0, 4)));
  });
  for await (const view of clientOf(server).start(message)) {
    expect(view.status).toBe('running');
    break;
  }
  await isClosed;
  expect(server.requests).toHaveLength(1);
});

test('an aborted reader is told so, while connected and while reconnecting', async () => {
  const server = await serve((response) => {
    beginStream(response);
    response.write(toEvents(wholeTurn.slice(0, 4)));
  });
  const reading = new AbortController();
  const connected = (async () => {
    for await (const view of clientOf(server).start(message, { signal: reading.signal })) {
      if (view.parts.length > 0) reading.abort(new Error('enough'));
    }
  })();
  await expect(connected).rejects.toThrow('enough');

  await server.stop();
  const waiting = new AbortController();
  const options = { signal: waiting.signal, onStatus: () => waiting.abort(new Error('enough of that')) };
  await expect(lastOf(clientOf(server).start(message, options))).rejects.toThrow('enough of that');
});
