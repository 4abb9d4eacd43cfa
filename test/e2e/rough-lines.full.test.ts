/**
 * One long turn, watched over lines that are cut, stall and half-close at random places, again and again: every
 * reader ends with the same story as one that nothing ever happened to.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createClient } from '@interlude-ai/client/client.ts';
import type { Client } from '@interlude-ai/client/client.ts';
import type { NewMessage } from '@interlude-ai/client/new-message.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import type { Interruption, Mishap, ProxiedConnection } from '../servers/proxied-connection.ts';
import { startTcpProxy } from '../servers/tcp-proxy.ts';
import type { TcpProxy } from '../servers/tcp-proxy.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';

/** Each becomes an event of its own: the model says one only when the one before has been seen. */
const words = Array.from({ length: 220 }, (_, index) => `wort-${index} – 見て 👀 `);

const temporal = useDevelopmentServer();

type Message = NewMessage & { conversationId: string };

/** How the turn is read. To add one, say what is left when it has been read to its end. */
interface Reader {
  name: string;
  read(client: Client, message: Message): Promise<unknown>;
}

const uiStream: Reader = {
  name: 'the UI stream',
  async read(client, message) {
    let last: unknown;
    for await (const view of client.start(message)) last = view;
    return last;
  },
};

const feed: Reader = {
  name: 'the feed',
  async read(client, { conversationId }) {
    const seqs: number[] = [];
    let text = '';
    for await (const { seq, event } of client.events(conversationId)) {
      seqs.push(seq);
      if (event.type === 'text-delta') text += String(event['delta']);
      if (event.type === 'turn-ended') break;
    }
    // Deltas may have been merged since: then there are fewer, and their numbers still only grow.
    return { text, isInOrder: seqs.every((seq, index) => index === 0 || seq > (seqs[index - 1] ?? 0)) };
  },
};

const seeds = [1, 2, 3, 4];
const readers = [uiStream, feed];

test(
  'a turn of more than 200 events is read whole over lines on which everything goes wrong',
  { timeout: 180_000 },
  async () => {
    await using stack = new AsyncDisposableStack();
    const lines: TcpProxy[] = [];
    let said = 0;
    let seen = Promise.withResolvers<void>();
    const model = await createOpenAIServer({ reply: () => ({ kind: 'text', chunks: speak() }) });
    stack.defer(() => model.stop());
    async function* speak() {
      for (const word of words) {
        said += 1;
        yield word;
        await seen.promise;
        seen = Promise.withResolvers();
        // Some stalls end by themselves, others only with the patience of their reader.
        for (const line of lines) if (said % 40 === 0) line.goOn();
      }
    }
    const service = await startService({
      temporal,
      env: {
        INTERLUDE_CONFIG: fileURLToPath(new URL('../fixtures/e2e-agents.yaml', import.meta.url)),
        MODEL_URL: model.baseURL,
        RATE_LIMIT_PER_MINUTE: '100000',
      },
    });
    stack.defer(() => service.stop());
    const message: Message = {
      conversationId: randomUUID(),
      message: { id: randomUUID(), text: 'tell me everything' },
      agentId: 'writer',
    };

    const undisturbed = await clientAt(service, service.baseUrl);
    const rough: { name: string; reading: Promise<unknown> }[] = [];
    const happened: Mishap[] = [];
    let whole: unknown;
    let events = 0;
    for await (const view of undisturbed.start(message)) {
      whole = view;
      events += 1;
      if (view.turnId !== null && rough.length === 0) {
        for (const seed of seeds) {
          for (const reader of readers) {
            const line: TcpProxy = await startTcpProxy({
              to: portOf(service),
              plan: trouble(seed, happened, () => line.connections),
            });
            stack.defer(() => line.stop());
            lines.push(line);
            const client = await clientAt(service, line.url);
            rough.push({ name: `${reader.name}, ${seed}`, reading: reader.read(client, message) });
          }
        }
      }
      const [part] = view.parts;
      if (part?.kind === 'text' && part.text === words.slice(0, said).join('')) seen.resolve();
    }
    expect(events).toBeGreaterThan(words.length);
    const text = words.join('');
    expect(whole).toMatchObject({ status: 'completed', parts: [{ kind: 'text', text, done: true }] });
    const known = { [uiStream.name]: whole, [feed.name]: { text, isInOrder: true } };
    for (const { name, reading } of rough)
      expect(await reading, name).toEqual(known[name.split(',')[0] ?? '']);

    const connections = lines.flatMap((line) => line.connections);
    expect(connections.length).toBeGreaterThan(6 * lines.length);
    expect(new Set(happened)).toEqual(new Set(['cut', 'half-close', 'stall']));
  },
);

const portOf = ({ baseUrl }: Service) => Number(new URL(baseUrl).port);

async function clientAt(service: Service, baseUrl: string): Promise<Client> {
  const timing = { firstRetryMs: 5, lastRetryMs: 20, silenceMs: 700 };
  return createClient({ baseUrl, token: await service.token('alice'), timing });
}

/** Early in a connection, or a little further than any before it came; whoever outlives a stall is cut off later. */
function trouble(
  seed: number,
  happened: Mishap[],
  earlier: () => readonly ProxiedConnection[],
): () => Interruption[] {
  const random = randomFrom(seed);
  const kinds: Mishap[] = ['cut', 'half-close', 'stall'];
  return () => {
    const kind = kinds[Math.floor(random() * kinds.length)] ?? 'cut';
    happened.push(kind);
    const furthest = Math.max(0, ...earlier().map(({ receivedBytes }) => receivedBytes));
    const step = Math.floor(random() * 3_000);
    const bytes = random() < 0.3 ? step : furthest + step;
    return [
      { kind, at: { bytes } },
      { kind: 'cut', at: { bytes: step } },
    ];
  };
}

/** The same numbers for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
