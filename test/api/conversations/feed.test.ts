import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StreamEvent } from '@interlude-ai/core/contract/stream-event.ts';
import type { NewEvent } from '../../../src/storage/log/append.ts';
import type { TurnRef } from '../../../src/turn/turn.ts';
import { ask, beginTurn, startApi, tenant } from '../api-under-test.ts';
import type { ApiUnderTest, Who } from '../api-under-test.ts';
import { isEnd, openFeed } from './feed-reader.ts';
import type { FeedEvent, FeedReader } from './feed-reader.ts';
import { refuseWhileBusy } from '../../storage/contract/fixtures.ts';
import { failureForModel } from '../../../src/turn/for-model.ts';
import { toEvent } from '../../../src/turn/tool-result.ts';

let api: ApiUnderTest;
let address: string;
beforeAll(async () => {
  api = await startApi();
  address = await api.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => api.stop());

interface Opening {
  query?: string;
  headers?: Record<string, string>;
  who?: Who;
}

function open(
  conversation: string,
  { query = '', headers = {}, who = 'alice' }: Opening = {},
): Promise<FeedReader> {
  const url = `${address}/run/v1/conversations/${conversation}/events${query}`;
  return openFeed(url, { ...api.headers(who), ...headers });
}

const delta = (index: number, text: string): NewEvent => ({
  key: `delta/${index}`,
  event: { type: 'text-delta', id: 'p', delta: text },
});
const call = { toolCallId: 'c', toolName: 'tracker__list_issues' };

/** Numbered from 2, after `turn-started`. */
const words = ['Ah', ' — ', 'жизнь', ' ', '漢字', '\n\n', '👩‍👩‍👧', 'data: x\n\nid: 99\n\n', '\r', '.'];

async function told(conversation: string): Promise<TurnRef> {
  const turn = await beginTurn(api.storage, conversation);
  await api.storage.turnLog.append(turn, [
    { key: 'step', event: { type: 'start-step', step: 0 } },
    { key: 'thought/start', event: { type: 'reasoning-start', id: 'r' } },
    { key: 'thought', event: { type: 'reasoning-delta', id: 'r', delta: 'Hm' } },
    { key: 'thought/2', event: { type: 'reasoning-delta', id: 'r', delta: 'm.' } },
    { key: 'thought/end', event: { type: 'reasoning-end', id: 'r' } },
    { key: 'call', event: { type: 'tool-input-available', ...call, input: { state: 'open' } } },
    { key: 'result', event: { type: 'tool-output-available', ...call, output: { content: [] } } },
    { key: 'text', event: { type: 'text-start', id: 'p' } },
    ...words.map((text, index) => delta(index, text)),
    { key: 'text/end', event: { type: 'text-end', id: 'p' } },
    { key: 'finish', event: { type: 'finish-step', step: 0 } },
  ]);
  await ask(api.storage, turn);
  await api.storage.turns.end(turn, 'completed');
  return turn;
}

/** From a position to the end of the turn. */
async function read(conversation: string, opening: Opening = {}): Promise<FeedEvent[]> {
  const feed = await open(conversation, opening);
  const events = await feed.upTo(isEnd);
  feed.close();
  return events;
}

const ids = (events: FeedEvent[]) => events.map(({ id }) => id);
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

/** What a reader has in the end: each part's text, and everything that is no text in its order. */
function story(events: FeedEvent[]) {
  const texts = new Map<string, string>();
  const others: StreamEvent[] = [];
  for (const { event } of events) {
    if (event.type !== 'text-delta' && event.type !== 'reasoning-delta') others.push(event);
    else texts.set(event.id, (texts.get(event.id) ?? '') + event.delta);
  }
  return { texts: Object.fromEntries(texts), others };
}

const withPart = (part: object) => ({
  messages: {
    items: expect.arrayContaining([expect.objectContaining({ parts: [expect.objectContaining(part)] })]),
  },
});

describe('the feed', () => {
  test('goes on where a conversation that was read says, with the first event that is not in it', async () => {
    const turn = await beginTurn(api.storage, 'gone-on');
    await api.storage.turnLog.append(turn, [delta(0, 'Hello')]);
    const { body } = await api.send('alice', { url: '/run/v1/conversations/gone-on' });
    const { position } = JSON.parse(body) as { position: number };
    await api.storage.turns.end(turn, 'completed');
    const events = await read('gone-on', { query: `?after=${position}` });
    expect(events.map(({ event }) => event.type)).toEqual(['turn-ended']);
  });

  test('is the log, entry by entry, under its sequence numbers and without names', async () => {
    const turn = await beginTurn(api.storage, 'plain');
    await api.storage.turnLog.append(turn, [delta(0, 'Hello')]);
    const [first, second] = await api.storage.turnLog.read(turn, 0);
    const response = await fetch(`${address}/run/v1/conversations/plain/events`, {
      headers: api.headers('alice'),
    });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      'cache-control': 'no-store',
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('"Hello"')) text += (await reader?.read())?.value ?? '';
    await reader?.cancel();
    const common = { turnId: 'turn-of-plain' };
    const events = [
      { type: 'turn-started', agent: 'assistant', messageId: 'turn-of-plain', ...common, at: iso(first?.at) },
      { type: 'text-delta', id: 'p', delta: 'Hello', ...common, at: iso(second?.at) },
    ].map((event) => JSON.stringify(event));
    expect(text).toBe(
      `: stream-open\n\nretry: 1000\nid: 0\n\nid: 1\ndata: ${events[0]}\n\nid: 2\ndata: ${events[1]}\n\n`,
    );
  });

  test('says why a tool call failed as the model reads it, or to the person who reads', async () => {
    const turn = await beginTurn(api.storage, 'failed-call');
    const failure = { code: 'account', why: 'decline', server: 'Tracker' } as const;
    await api.storage.turnLog.append(turn, [
      { key: 'call', event: { type: 'tool-input-available', ...call, input: {} } },
      { key: 'result', event: toEvent(call, { kind: 'failed', failure }, 'decline') },
    ]);
    await api.storage.turns.end(turn, 'completed');
    const german = { 'x-user-language': 'de-AT' };
    const inGerman = expect.stringMatching(/^Sie wurden gebeten, Ihr Konto bei Tracker zu verbinden/);
    const [said] = (await read('failed-call')).filter(({ event }) => event.type === 'tool-output-error');
    const { turnId, at, ...event } = { ...said?.event } as Record<string, unknown>;
    const errorText = failureForModel(failure);
    expect(JSON.stringify(event)).toBe(
      JSON.stringify({ type: 'tool-output-error', ...call, errorText, outcome: 'decline' }),
    );
    expect((await read('failed-call', { headers: german })).map((one) => one.event)).toContainEqual({
      ...event,
      errorText: inGerman,
      turnId,
      at,
    });
    const url = '/run/v1/conversations/failed-call';
    expect((await api.send('alice', { url })).json()).toMatchObject(withPart({ errorText }));
    expect((await api.send('alice', { url, headers: german })).json()).toMatchObject(
      withPart({ errorText: inGerman }),
    );
  });

  test('stays open across turns', async () => {
    const first = await beginTurn(api.storage, 'two-turns');
    const feed = await open('two-turns');
    await api.storage.turns.end(first, 'completed');
    await feed.upTo(isEnd);
    const second = { ...first, turnId: 'second-turn' };
    const row = { ...second, agent: 'assistant', user: 'alice', capabilities: { url: true, form: true } };
    await api.storage.turns.prepare({ ...row, clientMessageId: 'm2', messages: [] }, refuseWhileBusy);
    await api.storage.turns.begin(second);
    await api.storage.turns.end(second, 'failed');
    const events = await feed.upTo((event) => event.type === 'turn-ended' && event.turnId === 'second-turn');
    feed.close();
    expect(ids(events)).toEqual([1, 2, 3, 4]);
    expect(events.map(({ event }) => [event.type, event.turnId])).toEqual([
      ['turn-started', first.turnId],
      ['turn-ended', first.turnId],
      ['turn-started', 'second-turn'],
      ['turn-ended', 'second-turn'],
    ]);
  });

  test('shows questions also to readers that could not present them', async () => {
    const turn = await beginTurn(api.storage, 'asked');
    await ask(api.storage, turn);
    await api.storage.turns.end(turn, 'completed');
    const events = await read('asked', { headers: { 'x-supports-elicitation': 'false' } });
    expect(events.flatMap(({ event }) => (event.type === 'elicitation-request' ? event.status : []))).toEqual(
      ['pending', 'cancel'],
    );
  });

  test('ends without a word when the service closes', async () => {
    const closing = await startApi();
    await beginTurn(closing.storage, 'cut');
    const closingAddress = await closing.app.listen({ port: 0, host: '127.0.0.1' });
    const feed = await openFeed(
      `${closingAddress}/run/v1/conversations/cut/events`,
      closing.headers('alice'),
    );
    await feed.upTo(({ type }) => type === 'turn-started');
    await closing.stop();
    expect(ids(await feed.ended())).toEqual([1]);
  });
});

describe('a position', () => {
  const seen = (last: number) => upTo(last);
  let total: number;
  beforeAll(async () => {
    await told('positions');
    total = await api.storage.turnLog.latest({ tenant, conversation: 'positions' });
  });

  test.each<[string, Opening, number]>([
    ['none', {}, 0],
    ['?after=0', { query: '?after=0' }, 0],
    ['?after=5', { query: '?after=5' }, 5],
    ['Last-Event-ID: 7', { headers: { 'last-event-id': '7' } }, 7],
    [
      'Last-Event-ID: 7, which counts more than ?after=3',
      { query: '?after=3', headers: { 'last-event-id': '7' } },
      7,
    ],
    [
      'Last-Event-ID: 7, also more than ?after=latest',
      { query: '?after=latest', headers: { 'last-event-id': '7' } },
      7,
    ],
  ])('of %s gives what comes after it', async (_, opening, after) => {
    expect(ids(await read('positions', opening))).toEqual(seen(total).slice(after));
  });

  test('of latest gives only what is new, and tells where that is for whoever is cut off before', async () => {
    const turn = await beginTurn(api.storage, 'live');
    await api.storage.turnLog.append(turn, [delta(0, 'old')]);
    const feed = await open('live', { query: '?after=latest' });
    await api.storage.turnLog.append(turn, [delta(1, 'new')]);
    await api.storage.turns.end(turn, 'completed');
    expect(ids(await feed.upTo(isEnd))).toEqual([3, 4]);
    expect(feed.positions).toEqual(['2']);
    feed.close();
  });

  test('beyond the end waits for what comes after it', async () => {
    const turn = await beginTurn(api.storage, 'beyond');
    const feed = await open('beyond', { query: '?after=3' });
    await api.storage.turnLog.append(turn, [delta(0, 'two'), delta(1, 'three'), delta(2, 'four')]);
    await api.storage.turns.end(turn, 'completed');
    expect(ids(await feed.upTo(isEnd))).toEqual([4, 5]);
    feed.close();
  });

  test.each<[string, Opening, string]>([
    ['?after=', { query: '?after=' }, '/after'],
    ['?after=-1', { query: '?after=-1' }, '/after'],
    ['?after=1.5', { query: '?after=1.5' }, '/after'],
    ['?after=1e3', { query: '?after=1e3' }, '/after'],
    ['?after=first', { query: '?after=first' }, '/after'],
    ['?after=LATEST', { query: '?after=LATEST' }, '/after'],
    ['?after=9007199254740993', { query: '?after=9007199254740993' }, '/after'],
    ['?after=1&after=2', { query: '?after=1&after=2' }, '/after'],
    ['Last-Event-ID: latest', { headers: { 'last-event-id': 'latest' } }, '/last-event-id'],
    ['Last-Event-ID: op-3', { headers: { 'last-event-id': 'op-3' } }, '/last-event-id'],
    ['Last-Event-ID: -1', { headers: { 'last-event-id': '-1' } }, '/last-event-id'],
    ['Last-Event-ID: (empty)', { headers: { 'last-event-id': '' } }, '/last-event-id'],
    ['?operations=yes', { query: '?operations=yes' }, '/operations'],
  ])('of %s is refused', async (_, { query = '', headers = {} }, pointer) => {
    const response = await api.send('alice', {
      url: `/run/v1/conversations/positions/events${query}`,
      headers,
    });
    expect([response.statusCode, response.json()]).toMatchObject([
      400,
      { code: 'invalid_request', errors: [{ pointer }] },
    ]);
  });
});

describe('cut anywhere and taken up again', () => {
  test('it is the same, entry by entry', async () => {
    await told('cut-anywhere');
    const whole = await read('cut-anywhere');
    expect(whole.length).toBeGreaterThan(20);
    for (const { id } of whole) {
      const rest = await readAfter('cut-anywhere', id ?? 0, whole.at(-1)?.id ?? 0);
      expect([...whole.slice(0, id ?? 0), ...rest]).toEqual(whole);
    }
  });

  test('it is the same story also when the deltas have been merged meanwhile', async () => {
    const turn = await told('cut-and-merged');
    const whole = await read('cut-and-merged');
    await api.storage.turnLog.merge(turn);
    const merged = await read('cut-and-merged');
    expect(merged.length).toBeLessThan(whole.length);
    expect(JSON.stringify(merged)).not.toContain('"parts"');
    expect(story(merged)).toEqual(story(whole));
    for (const { id } of whole) {
      const rest = await readAfter('cut-and-merged', id ?? 0, whole.at(-1)?.id ?? 0);
      expect(story([...whole.slice(0, id ?? 0), ...rest])).toEqual(story(whole));
      expect(JSON.stringify(rest)).not.toContain('"parts"');
    }
    expect(story(whole).texts).toEqual({ r: 'Hmm.', p: words.join('') });
  });

  async function readAfter(conversation: string, after: number, last: number): Promise<FeedEvent[]> {
    return after === last ? [] : read(conversation, { headers: { 'last-event-id': String(after) } });
  }
});

describe('operations', () => {
  test('are told on request, each before its event and under no id of its own', async () => {
    await told('operations');
    const plain = await read('operations');
    for (const opening of [{ query: '?operations=true' }, { headers: { 'x-emit-operations': 'true' } }]) {
      const events = await read('operations', opening);
      expect(events.filter(({ event }) => event.type !== 'data-operation')).toEqual(plain);
      const told = events.flatMap(({ id, event }, index) =>
        event.type === 'data-operation' ? [{ id, event, next: events[index + 1] }] : [],
      );
      expect(
        told.map(({ id, event, next }) => [id, event.id, event.data.label, next?.id, next?.event.type]),
      ).toEqual([
        [null, expect.stringMatching(/^op-step-.*-0$/), 'Step 1', 2, 'start-step'],
        [null, 'op-7', 'Calling tracker · list issues', 7, 'tool-input-available'],
        [null, 'op-8', 'tracker · list issues done', 8, 'tool-output-available'],
        [null, 'op-22', 'Waiting for the user: connect Tracker', 22, 'elicitation-request'],
        [null, 'op-23', 'Closed without an answer: connect Tracker', 23, 'elicitation-request'],
      ]);
      for (const { event, next } of told) {
        expect([event.turnId, event.at]).toEqual([next?.event.turnId, next?.event.at]);
        expect(event.data.details).toMatchObject({ agent: 'assistant', timestamp: event.at });
      }
    }
  });

  test('are repeated to whoever was cut off between one and its event, as the same', async () => {
    const whole = await read('operations', { query: '?operations=true' });
    const at = whole.findIndex(({ event }) => event.type === 'data-operation' && event.id === 'op-8');
    const seen = whole.slice(0, at + 1);
    const position = seen.findLast(({ id }) => id !== null)?.id;
    const rest = await read('operations', {
      query: '?operations=true',
      headers: { 'last-event-id': String(position) },
    });
    expect(rest[0]).toEqual(seen.at(-1));
    expect([...seen.slice(0, -1), ...rest]).toEqual(whole);
  });

  test('are not told unasked', async () => {
    for (const opening of [{ query: '?operations=false' }, { headers: { 'x-emit-operations': 'false' } }, {}])
      expect((await read('operations', opening)).some(({ event }) => event.type === 'data-operation')).toBe(
        false,
      );
  });

  test('of a delegated agent say so', async () => {
    const turn = await beginTurn(api.storage, 'delegated');
    const from = { path: ['researcher'], parentToolCallId: 'delegation' };
    await api.storage.turnLog.append(turn, [
      { key: 'child', event: { type: 'start-step', step: 0, ...from } },
    ]);
    await api.storage.turns.end(turn, 'completed');
    const [, operation, step] = await read('delegated', { query: '?operations=true' });
    expect(operation?.event).toMatchObject({
      type: 'data-operation',
      ...from,
      data: { details: { agent: 'researcher' } },
    });
    expect(step?.event).toMatchObject({ type: 'start-step', ...from });
  });
});

describe('the feed of', () => {
  test.each<[string, Who]>([
    ['another user', 'bob'],
    ['a service of the tenant', 'service'],
    ['another tenant', 'stranger'],
  ])("somebody else's conversation is not found by %s", async (_, who) => {
    await beginTurn(api.storage, 'private').catch(() => undefined);
    const response = await api.send(who, { url: '/run/v1/conversations/private/events' });
    expect([response.statusCode, response.json().code]).toEqual([404, 'conversation_not_found']);
  });

  test('a conversation that is not there is not found', async () => {
    const response = await api.send('alice', { url: '/run/v1/conversations/nowhere/events' });
    expect([response.statusCode, response.json().code]).toEqual([404, 'conversation_not_found']);
  });

  test('an id that cannot be one is refused', async () => {
    const response = await api.send('alice', { url: '/run/v1/conversations/a%20b/events' });
    expect([response.statusCode, response.json().errors[0].pointer]).toEqual([400, '/conversation']);
  });

  test('a conversation that came to nothing never shows who has its name now', async () => {
    const row = {
      tenant,
      conversation: 'taken-over',
      agent: 'assistant',
      capabilities: { url: true, form: true },
    };
    const hers = { ...row, user: 'alice', turnId: 'withdrawn', clientMessageId: 'm1', messages: [] };
    await api.storage.turns.prepare(hers, refuseWhileBusy);
    const feed = await open('taken-over');
    expect(feed.response.status).toBe(200);
    await api.storage.turns.withdraw(hers);
    const his = { ...row, user: 'bob', turnId: 'his', clientMessageId: 'm1', messages: [] };
    await api.storage.turns.prepare(his, refuseWhileBusy);
    await api.storage.turns.begin(his);
    await api.storage.turnLog.append(his, [delta(0, 'a secret')]);
    expect(await feed.ended()).toEqual([]);
  });
});

function iso(at = 0): string {
  return new Date(at).toISOString();
}
