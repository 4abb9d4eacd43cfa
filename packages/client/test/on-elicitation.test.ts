import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { OnElicitation } from '../src/answer-questions.ts';
import { createClient } from '../src/client.ts';
import type { Client, ClientOptions } from '../src/client.ts';
import type { TurnView } from '../src/turn-view.ts';
import { beginStream, question, sendProblem, startStreamServer, toEvents } from './stream-server.ts';
import type { StreamServer } from './stream-server.ts';

/** A service that asks: its streams wait until its questions are settled, and replay what was. */
interface AskingServer extends StreamServer {
  /** Everything that came to the answers' address, in order. */
  answers(): Record<string, unknown>[];
  /** Another program's answer: goes out on every open stream. */
  settle(elicitationId: string, status: string): void;
  /** Ends every open stream in the middle. */
  cut(): void;
  /** Resolves with the stream of that many connections. */
  connected(count: number): Promise<void>;
}

interface Asking {
  questions: object[];
  /** How to answer an answer instead of settling its question; `nth` counts from 0. */
  onAnswer?: (response: ServerResponse, nth: number) => boolean | void;
  /** Replays that pause after the questions, for long enough to act on them. */
  replaysSlowly?: boolean;
}

const start = [{ type: 'start', messageId: 'm1' }, { type: 'start-step' }];
const end = [{ type: 'finish-step' }, { type: 'finish' }];

async function startAskingServer({
  questions,
  onAnswer,
  replaysSlowly = false,
}: Asking): Promise<AskingServer> {
  const events: object[] = [...start, ...questions];
  const open = new Set(questions.map(idOf));
  const streams = new Set<ServerResponse>();
  const waiting = new Set<() => void>();
  let connections = 0;
  let answers = 0;

  const server = await startStreamServer(async (response, _nth, path, body) => {
    if (path === '/run/api/elicitation-responses') return answer(response, body);
    if (path.includes('/elicitations?')) return list(response);
    beginStream(response);
    const asked = start.length + questions.length;
    response.write(toEvents(events.slice(0, asked)));
    if (replaysSlowly) await delay(100);
    response.write(toEvents(events.slice(asked)));
    if (open.size === 0) return void response.end(toEvents(end));
    streams.add(response);
    response.on('close', () => streams.delete(response));
    connections += 1;
    for (const look of waiting) look();
  });

  function list(response: ServerResponse): void {
    const items = questions
      .filter((one) => open.has(idOf(one)))
      .map((one) => ('data' in one ? one.data : {}));
    response.end(JSON.stringify({ items, next: null }));
  }

  function answer(response: ServerResponse, body: unknown): void {
    const nth = answers;
    answers += 1;
    if (onAnswer?.(response, nth) === true) return;
    const { elicitationId, action } = body as { elicitationId: string; action: string };
    response.end(JSON.stringify({ elicitationId, status: action, duplicate: !open.has(elicitationId) }));
    settle(elicitationId, action);
  }

  function settle(elicitationId: string, status: string): void {
    if (!open.delete(elicitationId)) return;
    const settled = question(status, elicitationId);
    events.push(settled);
    for (const stream of streams) {
      stream.write(toEvents([settled]));
      if (open.size === 0) stream.end(toEvents(end));
    }
  }

  return {
    ...server,
    settle,
    answers: () =>
      server.requests
        .filter(({ path }) => path === '/run/api/elicitation-responses')
        .map(({ body }) => body as Record<string, unknown>),
    cut: () => streams.forEach((stream) => stream.destroy()),
    connected: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (connections < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

function idOf(one: object): string {
  return 'id' in one ? String(one.id) : '';
}

/** The content does not fit. */
function refuseContent(response: ServerResponse, nth: number): true {
  const errors = [{ pointer: '/content/title', detail: `too short, ${nth}` }];
  sendProblem(response, 422, { code: 'invalid_content', detail: 'Correct the fields.', errors });
  return true;
}

const timing = { firstRetryMs: 1, lastRetryMs: 4, silenceMs: 20_000, giveUpMs: 10_000 };
const message = { conversationId: 'c1', message: { id: 'm-1', text: 'List my issues' } };
const decline: OnElicitation = () => ({ action: 'decline' });

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

async function serve(asking: Partial<Asking> = {}): Promise<AskingServer> {
  const server = await startAskingServer({ questions: [question('pending')], ...asking });
  stack.defer(() => server.stop());
  return server;
}

function clientOf({ url }: AskingServer, options: Partial<ClientOptions> = {}): Client {
  return createClient({ baseUrl: url, token: 'secret', timing, ...options });
}

async function lastOf(views: AsyncIterable<TurnView>): Promise<TurnView | undefined> {
  let last: TurnView | undefined;
  for await (const view of views) last = view;
  return last;
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

test('a question is put to the handler, and what it returns is the answer', async () => {
  const server = await serve();
  const client = clientOf(server, {
    onElicitation({ mode, message: asked, context }, { errors }) {
      expect({ mode, asked, server: context.server, errors }).toEqual({
        mode: 'url',
        asked: 'Tracker needs your account to run list issues.',
        server: 'tracker',
        errors: [],
      });
      return { action: 'accept', content: { title: 'Yes' } };
    },
  });
  const view = await lastOf(client.start(message));
  expect(view).toMatchObject({ status: 'completed', parts: [{ elicitation: { status: 'accept' } }] });
  expect(server.answers()).toEqual([
    { conversationId: 'c1', elicitationId: 'q1', action: 'accept', content: { title: 'Yes' } },
  ]);
});

test.each([
  ['nothing is asked of a client without a handler', {}, undefined],
  ['a client with a handler can present everything', { onElicitation: decline }, 'url,form'],
  [
    'what the client says it can present counts',
    { onElicitation: decline, capabilities: { url: true, form: false } },
    'url',
  ],
])('%s', async (_, options: Partial<ClientOptions>, header) => {
  const server = await serve();
  const client = clientOf(server, options);
  const reading = lastOf(client.start(message));
  await server.connected(1);
  if (!options.onElicitation) server.settle('q1', 'expired');
  await reading;
  expect(server.requests[0]?.headers['x-supports-elicitation']).toBe(header);
});

test('without a handler nobody answers, whatever the client can present', async () => {
  const server = await serve();
  const reading = lastOf(clientOf(server, { capabilities: { url: true, form: true } }).start(message));
  await server.connected(1);
  server.cut();
  await server.connected(2);
  server.settle('q1', 'expired');
  expect(await reading).toMatchObject({ parts: [{ elicitation: { status: 'expired' } }] });
  expect(new Set(server.requests.map(({ path }) => path))).toEqual(new Set(['/run/api/chat']));
});

test('a handler given with the message counts, and not the client’s', async () => {
  const server = await serve();
  const client = clientOf(server, {
    onElicitation() {
      throw new Error('not me');
    },
  });
  await lastOf(client.start(message, { onElicitation: decline }));
  expect(server.answers()).toMatchObject([{ action: 'decline' }]);
});

test('a question that was open before the following began is put, too', async () => {
  const server = await serve();
  const view = await lastOf(clientOf(server).follow('c1', { onElicitation: decline }));
  expect(view).toMatchObject({ status: 'completed', parts: [{ elicitation: { status: 'decline' } }] });
  expect(server.requests[0]).toMatchObject({ method: 'GET', path: '/run/api/chat/c1/stream' });
});

test('a question that was settled before is not put again when its turn is replayed', async () => {
  const server = await serve({ replaysSlowly: true });
  server.settle('q1', 'accept');
  const client = clientOf(server, {
    onElicitation() {
      throw new Error('nobody should be asked');
    },
  });
  expect(await lastOf(client.start(message))).toMatchObject({ status: 'completed' });
});

test('however often the connection breaks, a question is put once', async () => {
  const server = await serve();
  let asked = 0;
  const { promise: decided, resolve: decide } = Promise.withResolvers<void>();
  const onElicitation: OnElicitation = async () => {
    asked += 1;
    await decided;
    return { action: 'decline' };
  };
  const reading = lastOf(clientOf(server, { onElicitation }).start(message));
  for (let connection = 1; connection < 6; connection += 1) {
    await server.connected(connection);
    server.cut();
  }
  await server.connected(6);
  decide();
  expect(await reading).toMatchObject({ status: 'completed' });
  expect([asked, server.answers().length]).toEqual([1, 1]);
});

test('a handler that has nothing to say leaves the question to somebody else', async () => {
  const server = await serve();
  const { promise: isAsked, resolve: reportAsked } = Promise.withResolvers<void>();
  const onElicitation: OnElicitation = () => {
    reportAsked();
    return undefined;
  };
  const reading = lastOf(clientOf(server, { onElicitation }).start(message));
  await isAsked;
  server.cut();
  await server.connected(2);
  server.settle('q1', 'accept');
  expect(await reading).toMatchObject({ parts: [{ elicitation: { status: 'accept' } }] });
  expect(server.answers()).toEqual([]);
});

test('a handler hears that its question was settled elsewhere, and what it says then does not count', async () => {
  const server = await serve({ questions: [question('pending'), question('pending', 'q2')] });
  const { promise: isAsked, resolve: reportAsked } = Promise.withResolvers<void>();
  const { promise: isTold, resolve: reportTold } = Promise.withResolvers<void>();
  const onElicitation: OnElicitation = async ({ elicitationId }, { signal }) => {
    if (elicitationId === 'q2') return undefined;
    reportAsked();
    await aborted(signal);
    reportTold();
    return { action: 'cancel' };
  };
  const reading = lastOf(clientOf(server, { onElicitation }).start(message));
  await isAsked;
  server.settle('q1', 'accept');
  await isTold;
  server.settle('q2', 'decline');
  expect(await reading).toMatchObject({
    status: 'completed',
    parts: [{ elicitation: { status: 'accept' } }, { elicitation: { status: 'decline' } }],
  });
  expect(server.answers()).toEqual([]);
});

test('a handler that fails because its question was settled does no harm', async () => {
  const server = await serve({ questions: [question('pending'), question('pending', 'q2')] });
  const { promise: isAsked, resolve: reportAsked } = Promise.withResolvers<void>();
  const onElicitation: OnElicitation = async ({ elicitationId }, { signal }) => {
    if (elicitationId === 'q2') return undefined;
    reportAsked();
    await aborted(signal);
    throw signal.reason;
  };
  const reading = lastOf(clientOf(server, { onElicitation }).start(message));
  await isAsked;
  server.settle('q1', 'decline');
  server.settle('q2', 'decline');
  expect(await reading).toMatchObject({ status: 'completed' });
});

type Views = ReturnType<Client['start']>;

test.each([
  ['leaves', (views: Views): Promise<unknown> => views.return()],
  [
    'aborts',
    (views: Views, reading: AbortController): Promise<unknown> => {
      const next = views.next();
      reading.abort(new Error('enough'));
      return expect(next).rejects.toThrow('enough');
    },
  ],
])('a handler hears that the reader %s', async (_, go) => {
  const server = await serve();
  const { promise: isAsked, resolve: reportAsked } = Promise.withResolvers<AbortSignal>();
  const onElicitation: OnElicitation = async (_question, { signal }) => {
    reportAsked(signal);
    await aborted(signal);
    return { action: 'cancel' };
  };
  const reading = new AbortController();
  const views = clientOf(server, { onElicitation }).start(message, { signal: reading.signal });
  for (let { value } = await views.next(); value?.parts.length === 0;) ({ value } = await views.next());
  const signal = await isAsked;
  expect(signal.aborted).toBe(false);
  await go(views, reading);
  expect(signal.aborted).toBe(true);
  expect(server.answers()).toEqual([]);
});

test('several questions are handled side by side', async () => {
  const server = await serve({ questions: [question('pending'), question('pending', 'q2')] });
  const { promise: areBothAsked, resolve: reportBoth } = Promise.withResolvers<void>();
  const asked: string[] = [];
  const onElicitation: OnElicitation = async ({ elicitationId }) => {
    asked.push(elicitationId);
    if (asked.length === 2) reportBoth();
    await areBothAsked;
    return { action: elicitationId === 'q1' ? 'decline' : 'cancel' };
  };
  const view = await lastOf(clientOf(server, { onElicitation }).start(message));
  expect(view).toMatchObject({
    status: 'completed',
    parts: [{ elicitation: { status: 'decline' } }, { elicitation: { status: 'cancel' } }],
  });
  expect(asked.toSorted()).toEqual(['q1', 'q2']);
});

test('an answer that does not fit is asked for again, with what is wrong with it', async () => {
  const server = await serve({ onAnswer: (response, nth) => nth < 3 && refuseContent(response, nth) });
  const heard: unknown[] = [];
  const onElicitation: OnElicitation = (_, { errors }) => {
    heard.push(errors);
    return { action: 'accept', content: { title: 'x'.repeat(heard.length) } };
  };
  expect(await lastOf(clientOf(server, { onElicitation }).start(message))).toMatchObject({
    status: 'completed',
  });
  const complaint = (nth: number) => [{ pointer: '/content/title', detail: `too short, ${nth}` }];
  expect(heard).toEqual([[], complaint(0), complaint(1), complaint(2)]);
  expect(server.answers().map(({ content }) => content)).toEqual(
    ['x', 'xx', 'xxx', 'xxxx'].map((title) => ({ title })),
  );
});

test('an answer that never fits ends the following with what is wrong with it', async () => {
  const server = await serve({ onAnswer: refuseContent });
  const onElicitation: OnElicitation = () => ({ action: 'accept', content: {} });
  await expect(lastOf(clientOf(server, { onElicitation }).start(message))).rejects.toMatchObject({
    status: 422,
    code: 'invalid_content',
    errors: [{ pointer: '/content/title', detail: 'too short, 3' }],
  });
  expect(server.answers()).toHaveLength(4);
});

test.each([
  [409, 'already_answered'],
  [410, 'expired'],
])('an answer that comes too late (%i) is no trouble: the stream tells what counts', async (status, code) => {
  const server = await serve({
    onAnswer(response) {
      sendProblem(response, status, { code, detail: 'Too late.' });
      queueMicrotask(() => server.settle('q1', 'expired'));
      return true;
    },
  });
  expect(await lastOf(clientOf(server, { onElicitation: decline }).start(message))).toMatchObject({
    status: 'completed',
    parts: [{ elicitation: { status: 'expired' } }],
  });
  expect(server.answers()).toHaveLength(1);
});

test('an answer that the service refuses for good ends the following', async () => {
  const server = await serve({
    onAnswer(response) {
      sendProblem(response, 403, { code: 'not_your_question', detail: 'Only the person may.' });
      return true;
    },
  });
  await expect(lastOf(clientOf(server, { onElicitation: decline }).start(message))).rejects.toMatchObject({
    status: 403,
    code: 'not_your_question',
  });
});

test('an answer gets through however long the service is away, for as long as somebody follows', async () => {
  const giveUpMs = 100;
  let first = Infinity;
  const server = await serve({
    onAnswer(response, nth) {
      first = Math.min(first, Date.now());
      if (Date.now() - first > 2 * giveUpMs && nth >= 10) return false;
      response.destroy();
      return true;
    },
  });
  const client = clientOf(server, { onElicitation: decline, timing: { ...timing, giveUpMs } });
  expect(await lastOf(client.start(message))).toMatchObject({ status: 'completed' });
  expect(server.answers().length).toBeGreaterThan(10);
});

test.each([
  [
    'at once',
    () => {
      throw new Error('no idea');
    },
  ],
  ['later', () => Promise.reject(new Error('no idea'))],
])('a handler that fails %s ends the following with its error, and not the turn', async (_, fail) => {
  const server = await serve();
  const reading = lastOf(clientOf(server, { onElicitation: fail }).start(message));
  await expect(reading).rejects.toThrow('no idea');
  expect(server.requests.map(({ path }) => path)).toEqual([
    '/run/api/chat',
    '/run/v1/conversations/c1/elicitations?status=pending',
  ]);
});

test('a reader that is slow to look hears of a failed handler when it looks', async () => {
  const server = await serve();
  const { promise: hasFailed, resolve: reportFailed } = Promise.withResolvers<void>();
  const onElicitation: OnElicitation = async () => {
    setImmediate(reportFailed);
    throw new Error('no idea');
  };
  const views = clientOf(server, { onElicitation }).start(message);
  for (let { value } = await views.next(); value?.parts.length === 0;) ({ value } = await views.next());
  await hasFailed;
  await expect(views.next()).rejects.toThrow('no idea');
});

test('a handler can be added and removed; the latest is asked first, and one that decides nothing leaves it to the one before', async () => {
  const server = await serve({ questions: [question('pending')] });
  const client = clientOf(server);
  const asked: string[] = [];
  const handler =
    (name: string, decision?: 'accept'): OnElicitation =>
    () => {
      asked.push(name);
      return decision && { action: decision };
    };
  const removals = [
    client.onElicitation(handler('first', 'accept')),
    client.onElicitation(handler('second')),
    client.onElicitation(handler('removed', 'accept')),
  ];
  removals[2]?.();
  removals[2]?.();
  await lastOf(client.start(message));
  expect(asked).toEqual(['second', 'first']);
  expect(server.answers()).toMatchObject([{ elicitationId: 'q1', action: 'accept' }]);
  expect(server.requests[0]?.headers['x-supports-elicitation']).toBe('url,form');
});

test('a client whose handlers are all removed is a client without', async () => {
  const server = await serve();
  const client = clientOf(server);
  client.onElicitation(decline)();
  const reading = lastOf(client.start(message));
  await server.connected(1);
  server.settle('q1', 'expired');
  await reading;
  expect(server.requests[0]?.headers['x-supports-elicitation']).toBeUndefined();
  expect(server.answers()).toEqual([]);
});

test('a handler that comes later answers what is still open', async () => {
  const server = await serve();
  const client = clientOf(server, { capabilities: { url: true, form: true } });
  const reading = lastOf(client.start(message));
  await server.connected(1);
  client.onElicitation(decline);
  server.cut();
  expect(await reading).toMatchObject({ parts: [{ elicitation: { status: 'decline' } }] });
});
