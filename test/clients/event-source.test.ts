/** Server-sent events as the standard has them: an `EventSource`, on lines that break. */
import { EventSource } from 'eventsource';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StreamEvent } from '@interlude-ai/core/contract/stream-event.ts';
import type { NewEvent } from '../../src/storage/log/append.ts';
import { ask, beginTurn, startApi, tenant } from '../api/api-under-test.ts';
import type { ApiUnderTest } from '../api/api-under-test.ts';
import { isEnd } from '../api/conversations/feed-reader.ts';
import type { Interruption } from '../servers/proxied-connection.ts';
import { startTcpProxy } from '../servers/tcp-proxy.ts';
import type { TcpProxy } from '../servers/tcp-proxy.ts';

/** The standard `EventSource`, which reconnects by itself. */
interface EventSourceReader {
  /** Every message as it arrived, also what arrived twice. */
  events: StreamEvent[];
  /** How often the connection was lost. */
  readonly cuts: number;
  /** The `Last-Event-ID` of each request. */
  positions: (string | null)[];
  /** Resolves with the first event that fits, seen or to come. */
  until(fits: (event: StreamEvent) => boolean): Promise<StreamEvent>;
  /** Resolves when it has been cut off. */
  cutOff(): Promise<void>;
  close(): void;
}

/** `EventSource` itself cannot set headers. */
function listen(url: string, authorization: string): EventSourceReader {
  const events: StreamEvent[] = [];
  const positions: (string | null)[] = [];
  const waiting = new Set<() => void>();
  let cuts = 0;
  const source = new EventSource(url, {
    fetch(input, init) {
      const headers = new Headers(init.headers);
      positions.push(headers.get('last-event-id'));
      headers.set('authorization', authorization);
      return fetch(input, { ...init, headers });
    },
  });
  source.addEventListener('message', ({ data }) => {
    events.push(JSON.parse(data as string) as StreamEvent);
    for (const look of waiting) look();
  });
  source.addEventListener('error', () => (cuts += 1));

  return {
    events,
    positions,
    get cuts() {
      return cuts;
    },
    until: (fits) =>
      new Promise((resolve) => {
        const look = () => {
          const found = events.find(fits);
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    cutOff: () =>
      cuts > 0
        ? Promise.resolve()
        : new Promise((resolve) => source.addEventListener('error', () => resolve(), { once: true })),
    close: () => source.close(),
  };
}

let api: ApiUnderTest;
let port: number;
beforeAll(async () => {
  api = await startApi();
  port = Number(new URL(await api.app.listen({ port: 0, host: '127.0.0.1' })).port);
});
afterAll(() => api.stop());

const delta = (index: number, text: string): NewEvent => ({
  key: `delta/${index}`,
  event: { type: 'text-delta', id: 'p', delta: text },
});
const call = { toolCallId: 'c', toolName: 'tracker__list_issues' };

async function told(conversation: string): Promise<void> {
  const turn = await beginTurn(api.storage, conversation);
  await api.storage.turnLog.append(turn, [
    { key: 'step', event: { type: 'start-step', step: 0 } },
    { key: 'call', event: { type: 'tool-input-available', ...call, input: { state: 'open' } } },
    { key: 'result', event: { type: 'tool-output-available', ...call, output: { content: [] } } },
    { key: 'text', event: { type: 'text-start', id: 'p' } },
    ...['Ah', ' — ', 'жизнь', '漢字', '👩‍👩‍👧', '.'].map((text, index) => delta(index, text)),
    { key: 'text/end', event: { type: 'text-end', id: 'p' } },
  ]);
  await ask(api.storage, turn);
  await api.storage.turns.end(turn, 'completed');
}

/** What must have been read in the end. */
async function inTheLog(conversation: string): Promise<StreamEvent[]> {
  const log = await api.storage.turnLog.read({ tenant, conversation }, 0);
  return log.map(({ event, turnId, at }) => {
    const { parts: _, ...told } = { parts: undefined, ...event };
    return { ...told, turnId, at: new Date(at).toISOString() } as StreamEvent;
  });
}

const isOperation = ({ type }: StreamEvent) => type === 'data-operation';
const withoutOperations = (events: StreamEvent[]) => events.filter((event) => !isOperation(event));

/** A reader keeps one operation per id, in the place where it first saw it. */
function reconciled(events: StreamEvent[]): StreamEvent[] {
  const ids = new Set<string>();
  return events.filter((event) => {
    if (event.type !== 'data-operation') return true;
    return !ids.has(event.id) && ids.add(event.id);
  });
}

interface Open {
  proxy: TcpProxy;
  reader: EventSourceReader;
  close(): Promise<void>;
}

async function open(conversation: string, query = '', plan: Interruption[] = []): Promise<Open> {
  const proxy = await startTcpProxy({ to: port, plan: (index) => (index === 0 ? plan : []) });
  const url = `${proxy.url}/run/v1/conversations/${conversation}/events${query}`;
  const reader = listen(url, api.headers('alice').authorization);
  return {
    proxy,
    reader,
    async close() {
      reader.close();
      await proxy.stop();
    },
  };
}

/** Reads to the end of the turn on a line whose first connection breaks at this point. */
async function readThrough(
  conversation: string,
  query: string,
  plan: Interruption[],
): Promise<StreamEvent[]> {
  const { reader, close } = await open(conversation, query, plan);
  await reader.until(isEnd);
  expect([reader.cuts, reader.positions.length]).toEqual([1, 2]);
  await close();
  return reader.events;
}

describe('an EventSource', () => {
  test.each<Interruption['kind']>(['cut', 'half-close'])(
    'comes back by itself after a %s at any event, and has each once',
    async (kind) => {
      await told(kind);
      const expected = await inTheLog(kind);
      expect(expected.length).toBeGreaterThan(14);
      const points = expected.flatMap((_, index) => [
        { after: `id: ${index}\n` },
        { after: `id: ${index}\n`, plusBytes: 20 },
        { after: '\n\n', times: index + 2 },
      ]);
      await Promise.all(
        points.map(async (at) => {
          expect(await readThrough(kind, '', [{ kind, at }]), JSON.stringify(at)).toEqual(expected);
        }),
      );
    },
  );

  test('has every operation, and once when it keeps one per id', async () => {
    await told('with-operations');
    const whole = await open('with-operations', '?operations=true');
    await whole.reader.until(isEnd);
    const expected = whole.reader.events;
    await whole.close();
    expect(expected.filter(isOperation)).toHaveLength(5);
    const blocks = expected.map((_, index) => ({ after: '\n\n', times: index + 2 }));
    const repeated = await Promise.all(
      blocks.map(async (at) => {
        const events = await readThrough('with-operations', '?operations=true', [{ kind: 'cut', at }]);
        expect(withoutOperations(events), JSON.stringify(at)).toEqual(withoutOperations(expected));
        expect(reconciled(events), JSON.stringify(at)).toEqual(expected);
        return events.length - expected.length;
      }),
    );
    // Between an operation and its event, and only there.
    expect(repeated.filter((more) => more === 1)).toHaveLength(5);
    expect(repeated.filter((more) => more > 1)).toEqual([]);
  });

  test('that wants only what is new misses nothing, though it is cut off before there is anything', async () => {
    const turn = await beginTurn(api.storage, 'quiet');
    await api.storage.turnLog.append(turn, [delta(0, 'old')]);
    // Its position comes first.
    const plan: Interruption[] = [{ kind: 'cut', at: { after: 'id: 2\n\n' } }];
    const { proxy, reader, close } = await open('quiet', '?after=latest', plan);
    await reader.cutOff();
    proxy.refuse();
    await api.storage.turnLog.append(turn, [delta(1, 'said while it was away')]);
    await api.storage.turns.end(turn, 'completed');
    proxy.accept();
    await reader.until(isEnd);
    expect(reader.events).toEqual((await inTheLog('quiet')).slice(2));
    expect([reader.positions[0], reader.positions.at(-1)]).toEqual([null, '2']);
    await close();
  });
});
