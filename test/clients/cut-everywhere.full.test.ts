/**
 * A turn whose stream is cut at every place there is, while it goes on: whoever comes back ends up with the very
 * message that those have who were never cut off. The log is real, and so are the API, the lines and the clients.
 */
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createClient } from '@interlude-ai/client/client.ts';
import type { TurnView } from '@interlude-ai/client/turn-view.ts';
import type { ElicitationEvent, Status } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { TurnEvent } from '../../src/turn/event.ts';
import type { TurnRef } from '../../src/turn/turn.ts';
import { beginTurn, startApi } from '../api/api-under-test.ts';
import type { ApiUnderTest } from '../api/api-under-test.ts';
import { accountQuestion, chunksFor } from '../api/ui-message/log.ts';
import { createChatClient } from './chat-client.ts';
import type { ChatClient, Version } from './chat-client.ts';
import type { Mishap, StreamPoint } from '../servers/proxied-connection.ts';
import { startTcpProxy } from '../servers/tcp-proxy.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';

/** A turn with a bit of everything in it, as its log says it. */
function question(status: Status): ElicitationEvent {
  const asked = accountQuestion(status, 'list_issues');
  return { ...asked, context: { ...asked.context, reason: 'missing' } };
}

/** First letters of one, two, three and four bytes, and letters that are made of several. */
const words = [
  'Hello',
  'äußerst',
  '€uro',
  '😀 smile',
  '日本語',
  '👩‍👩‍👧‍👦',
  'é',
  'שלום',
  '\u2028line',
  '"\\\n\n\t\u0000',
];

function spoken(kind: 'text' | 'reasoning', id: string, times: number): TurnEvent[] {
  const deltas = Array.from({ length: times }, (_, index): TurnEvent => {
    return { type: `${kind}-delta`, id, delta: `${words[index % words.length]} ` };
  });
  return [{ type: `${kind}-start`, id }, ...deltas, { type: `${kind}-end`, id }];
}

const list = { toolCallId: 'c1', toolName: 'tracker__list_issues' };
const count = { toolCallId: 'c2', toolName: 'tracker__count' };

const untilQuestion: TurnEvent[] = [
  { type: 'start-step', step: 0 },
  ...spoken('reasoning', 'r1', 10),
  ...spoken('text', 't1', 20),
  { type: 'tool-input-available', ...list, input: { state: 'öffen' } },
  { type: 'tool-input-available', ...count, input: {} },
  { type: 'finish-step', step: 0 },
  question('pending'),
];

const afterQuestion: TurnEvent[] = [
  question('accept'),
  { type: 'tool-output-error', ...count, errorText: 'nö' },
  { type: 'tool-output-available', ...list, output: { content: [{ type: 'text', text: '#1 Größe' }] } },
  { type: 'start-step', step: 1 },
  ...spoken('text', 't2', 20),
  { type: 'finish-step', step: 1 },
];

/** Everything between the turn's start and its end. */
const longTurn: TurnEvent[] = [...untilQuestion, ...afterQuestion];

const textOf = (id: string) =>
  longTurn.map((event) => ('delta' in event && event.id === id ? event.delta : '')).join('');

/** What a client shows of it, in the words of AI SDK UI messages. */
const longMessage = [
  { type: 'step-start' },
  { type: 'reasoning', text: textOf('r1'), state: 'done' },
  { type: 'text', text: textOf('t1'), state: 'done' },
  {
    type: 'dynamic-tool',
    ...list,
    state: 'output-available',
    input: { state: 'öffen' },
    output: { content: [{ type: 'text', text: '#1 Größe' }] },
  },
  { type: 'dynamic-tool', ...count, state: 'output-error', input: {}, errorText: 'nö' },
  { type: 'data-elicitation-request', id: 'e1', data: question('accept') },
  { type: 'step-start' },
  { type: 'text', text: textOf('t2'), state: 'done' },
];

/** Where a stream of server-sent events can be cut: after each of its events, and inside them. */
interface Points {
  /** Before the stream's end is written. */
  before: StreamPoint[];
  /** In what is written when the turn ends. */
  inEnd: StreamPoint[];
}

const after = (times: number, plusBytes = 0): StreamPoint => ({ after: '\n\n', times, plusBytes });

/** `events`: how many the stream has, comments included; `ending`: how many more come with the end. */
function cutPoints(events: number, ending: number): Points {
  const boundaries = Array.from({ length: events + ending }, (_, index) => index + 1);
  const inside = boundaries
    .filter((times) => times % 3 === 0)
    .map((times) => after(times, 1 + ((times * 13) % 37)));
  // In the status line, in the headers, and between the bytes of letters.
  const early = [0, 1, 100].map((bytes): StreamPoint => ({ bytes }));
  const split = [2, 3, 4].flatMap((letter) =>
    [1, 2, 3].map((plusBytes): StreamPoint => ({ after: '"delta":"', times: letter, plusBytes })),
  );
  const all = [...early, ...split, ...boundaries.map((times) => after(times)), ...inside];
  const isBefore = (point: StreamPoint) =>
    'bytes' in point ||
    point.after !== '\n\n' ||
    (point.times ?? 1) < events ||
    (point.times === events && point.plusBytes === 0);
  return { before: all.filter(isBefore), inEnd: all.filter((point) => !isBefore(point)) };
}

/** What a reader sees when the connection is lost. */
type Look =
  /** As Node says it. */
  | 'as it is'
  /** In the words of a browser. */
  | 'network error'
  /** A proxy in between ends the response as if that were all. */
  | 'end';

/** `onResponse` is called with every response that begins. */
function fetchWhoseLossesLookLike(look: Look, onResponse: (response: Response) => void): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    onResponse(response);
    const reader = response.body?.getReader();
    if (!reader) return response;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          if (look === 'end') controller.close();
          else controller.error(look === 'as it is' ? error : new TypeError('network error'));
        }
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return new Response(body, response);
  };
}

const temporal = useDevelopmentServer();
let api: ApiUnderTest;
let port: number;
let token: string;
const stack = new AsyncDisposableStack();
let conversations = 0;

beforeAll(async () => {
  api = await startApi({
    temporal: temporal.address,
    env: { RATE_LIMIT_PER_MINUTE: '1000000', OPEN_REQUESTS_PER_USER: '1000000' },
  });
  stack.defer(() => api.stop());
  await api.app.listen({ port: 0, host: '127.0.0.1' });
  ({ port } = api.app.server.address() as AddressInfo);
  token = api.headers('alice').authorization.replace('Bearer ', '');
});
// All lines stay until the end: on a port that is given out again, `fetch` would take up a dead connection.
afterAll(() => stack.disposeAsync());

const userMessage = { id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'hello' }] };

/** A comment opens the stream, and the turn's start. */
const opening = 2;
/** The finish, and the word that nothing follows. */
const ending = 2;
const points = cutPoints(opening + chunksFor({ operations: true }, longTurn).length, ending);
const headers = { 'x-supports-elicitation': 'true', 'x-emit-operations': 'true' };

async function begin(): Promise<TurnRef> {
  conversations += 1;
  return beginTurn(api.storage, `cut-${conversations}`);
}

async function tell(turn: TurnRef, events: TurnEvent[], from = 0): Promise<void> {
  for (const [index, event] of events.entries())
    await api.storage.turnLog.append(turn, [{ key: `event-${from + index}`, event }]);
}

/** A way to the API that is cut once, on its first connection. */
async function brittleLine(kind: Mishap, at: StreamPoint): Promise<string> {
  const proxy = await startTcpProxy({ to: port, plan: (index) => (index === 0 ? [{ kind, at }] : []) });
  stack.defer(() => proxy.stop());
  return proxy.url;
}

interface Cut {
  client: ChatClient;
  /** Its stream was lost, and it has found the turn again. */
  isBack: Promise<void>;
  /** It has read everything. */
  done: Promise<void>;
}

interface Reader {
  version: Version;
  turn: TurnRef;
  look: Look;
  /** Begins with the message, or comes when it has been sent. */
  first: 'send' | 'resume';
}

async function cutOff(at: StreamPoint, kind: Mishap, { version, turn, look, first }: Reader): Promise<Cut> {
  const { promise: isBack, resolve } = Promise.withResolvers<void>();
  let isLost = false;
  const client = createChatClient(version, {
    baseUrl: await brittleLine(kind, at),
    token,
    conversation: turn.conversation,
    headers,
    fetch: fetchWhoseLossesLookLike(look, () => isLost && resolve()),
    messages: first === 'resume' ? [userMessage] : [],
  });
  const read = async () => {
    await (first === 'send' ? client.sendAs('m1', 'hello') : client.resume());
    isLost = true;
    await client.resume();
  };
  return { client, isBack, done: read() };
}

/** The older one before a release. */
describe.each([inject('suite') === 'release' ? 6 : 7] as const)('a chat of AI SDK %i', (version) => {
  async function uncut(turn: TurnRef) {
    const baseUrl = `http://127.0.0.1:${port}`;
    const client = createChatClient(version, {
      baseUrl,
      token,
      headers,
      conversation: turn.conversation,
    });
    return { client, done: client.sendAs('m1', 'hello') };
  }

  /** Begins, is cut off everywhere while the rest is written, reconnects, reads to the end. */
  async function everywhere(
    kind: Mishap,
    reader: Omit<Reader, 'version' | 'turn'>,
    told: TurnEvent[],
    rest: TurnEvent[],
  ) {
    const turn = await begin();
    const whole = await uncut(turn);
    await tell(turn, told);
    const connect = (at: StreamPoint) => cutOff(at, kind, { ...reader, version, turn });
    const early = await Promise.all(points.before.map(connect));
    const late = await Promise.all(points.inEnd.map(connect));
    await tell(turn, rest, told.length);
    await Promise.all(early.map(({ isBack }) => isBack));
    await api.storage.turns.end(turn, 'completed');
    await Promise.all([whole, ...early, ...late].map(({ done }) => done));

    const shown = whole.client.parts().filter(({ type }) => type !== 'data-operation');
    expect(shown).toMatchObject(longMessage);
    expect(whole.client.parts()).toHaveLength(longMessage.length + 8);
    const cuts = [...early, ...late];
    expect(cuts.length).toBeGreaterThan(100);
    for (const { client } of cuts) {
      expect([client.status, client.error]).toEqual(['ready', undefined]);
      expect(client.messages).toEqual(whole.client.messages);
    }
  }

  test.each([
    ['cut', 'as it is'],
    ['cut', 'network error'],
    ['half-close', 'as it is'],
    ['half-close', 'end'],
  ] as const)(
    'that is cut off (%s, which looks to it like: %s) ends up with the whole message',
    async (kind, look) => {
      await everywhere(kind, { look, first: 'send' }, [], longTurn);
    },
    60_000,
  );

  test('of a second viewer does, too', async () => {
    await everywhere('cut', { look: 'network error', first: 'resume' }, [], longTurn);
  });

  test('of a page that was loaded again in the middle of the question does, too', async () => {
    await everywhere('cut', { look: 'as it is', first: 'resume' }, untilQuestion, afterQuestion);
  });
});

/** It appends any replay to what it has: a page that lost its stream makes a new chat. */
test('a new chat of AI SDK 5 has the whole message, wherever the one before was cut off', async () => {
  const turn = await begin();
  const open = (baseUrl: string, messages = [userMessage]) =>
    createChatClient(5, { baseUrl, token, headers, conversation: turn.conversation, messages });
  const whole = open(`http://127.0.0.1:${port}`);
  const reading = whole.resume();
  const back = await Promise.all(
    points.before.map(async (at) => {
      const lost = open(await brittleLine('cut', at), []);
      const { promise: isLost, resolve } = Promise.withResolvers<void>();
      void lost.sendAs('m1', 'hello').then(resolve);
      return { isLost, client: open(`http://127.0.0.1:${port}`) };
    }),
  );
  await tell(turn, longTurn);
  const resuming = await Promise.all(
    back.map(async ({ isLost, client }) => {
      await isLost;
      const done = client.resume();
      await client.until(({ type }) => type === 'step-start');
      return { done };
    }),
  );
  await api.storage.turns.end(turn, 'completed');
  await Promise.all([reading, ...resuming.map(({ done }) => done)]);
  expect(whole.parts()).toHaveLength(longMessage.length + 8);
  for (const { client } of back) expect(client.messages).toEqual(whole.messages);
});

describe('our own client', () => {
  const timing = { firstRetryMs: 1, lastRetryMs: 20, silenceMs: 60_000, giveUpMs: 60_000 };
  const message = (turn: TurnRef) => ({
    conversationId: turn.conversation,
    message: { id: 'm1', text: 'hello' },
  });
  const clientAt = (baseUrl: string) =>
    createClient({ baseUrl, token, timing, capabilities: { url: true, form: true } });

  async function lastOf(views: AsyncIterable<TurnView>): Promise<TurnView | undefined> {
    let last: TurnView | undefined;
    for await (const view of views) last = view;
    return last;
  }

  test.each(['cut', 'half-close'] as const)(
    'that is cut off (%s) comes back by itself and ends up with the same view',
    async (kind) => {
      const turn = await begin();
      const reading = lastOf(clientAt(`http://127.0.0.1:${port}`).start(message(turn), { operations: true }));
      let interruptions = 0;
      const onStatus = (status: string) => void (interruptions += status === 'reconnecting' ? 1 : 0);
      const readings = await Promise.all(
        [...points.before, ...points.inEnd].map(async (at) => {
          const client = clientAt(await brittleLine(kind, at));
          return { last: lastOf(client.start(message(turn), { operations: true, onStatus })) };
        }),
      );
      await tell(turn, longTurn);
      await api.storage.turns.end(turn, 'completed');
      const whole = await reading;
      expect(whole).toMatchObject({ status: 'completed', turnId: turn.turnId });
      expect(whole?.operations).toHaveLength(8);
      expect(whole?.parts).toHaveLength(longMessage.length - 2);
      for (const { last } of readings) expect(await last).toEqual(whole);
      // After a cut behind the last byte, no reader reconnects.
      expect(interruptions).toBeGreaterThanOrEqual(points.before.length);
    },
    60_000,
  );
});
