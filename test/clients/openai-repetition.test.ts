/** Requests that OpenAI's own client sends again by itself, because it never got an answer to the first. */
import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTcpProxy } from '../servers/tcp-proxy.ts';
import type { TcpProxy } from '../servers/tcp-proxy.ts';
import { useService } from '../service/use-service.ts';
import { collect, createOpenAI, readAndConnect, say, textIn } from './openai-client.ts';

const { service } = useService();
/** Each connection of `cut` is cut when the service begins to answer: it has the request, its client has nothing. */
let proxy: TcpProxy;
let cut: Set<number>;

beforeAll(async () => {
  const alice = await createOpenAI(service, 'alice', { supports: 'true' });
  await readAndConnect(await alice.chat.completions.create(say('list my open issues')));
});
beforeEach(async () => {
  cut = new Set();
  proxy = await startTcpProxy({
    to: Number(new URL(service.baseUrl).port),
    plan: (index) => (cut.has(index) ? [{ kind: 'cut', at: { bytes: 0 } }] : []),
  });
  return () => proxy.stop();
});

const created = (title: string) =>
  service.tracker.issues.list({ state: 'all', assignee: null }).filter((issue) => issue.title === title);

/** A client that asks for an issue with a new name, which must be created once. */
async function createIssue(more: object = {}) {
  const title = `Report ${randomUUID()}`;
  const client = await createOpenAI(service, 'alice', { url: proxy.url });
  return { title, client, request: say(`create an issue called ${title}`, more) };
}

describe('a request whose first connection is lost', () => {
  test('joins its turn when it is streamed', async () => {
    cut.add(0);
    const { title, client, request } = await createIssue();
    const chunks = await collect(await client.chat.completions.create(request));
    expect(textIn(chunks)).toBe('Created.');
    expect([proxy.connections.length, created(title).length]).toEqual([2, 1]);
  });

  test('joins its turn when it waits for one completion, also when that is over', async () => {
    cut.add(0).add(1);
    const { title, client, request } = await createIssue();
    const completion = await client.chat.completions.create({ ...request, stream: false });
    expect(completion.choices[0]?.message.content).toBe('Created.');
    expect([proxy.connections.length, created(title).length]).toEqual([3, 1]);
  });

  test('joins its turn in a conversation that is named', async () => {
    cut.add(0);
    const conversationId = randomUUID();
    const { title, client, request } = await createIssue({ conversationId });
    const { data, response } = await client.chat.completions.create(request).withResponse();
    expect(textIn(await collect(data))).toBe('Created.');
    expect(response.headers.get('x-conversation-id')).toBe(conversationId);
    expect([proxy.connections.length, created(title).length]).toEqual([2, 1]);
  });

  test('joins its turn by the Idempotency-Key, whatever the client says about repeating', async () => {
    const { title, request } = await createIssue();
    const token = await service.token('alice');
    const post = () =>
      fetch(`${service.baseUrl}/run/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'idempotency-key': title,
        },
        body: JSON.stringify({ ...request, stream: false }),
      });
    const [first, second] = await Promise.all([post(), post()]);
    const third = await post();
    const turns = [first, second, third].map((response) => response.headers.get('x-turn-id'));
    expect(new Set(turns).size).toBe(1);
    expect(await third.json()).toEqual(await first.json());
    expect(created(title)).toHaveLength(1);
  });
});

test('a request that is not sent again by the client, but by its user, is another turn', async () => {
  const { title, client, request } = await createIssue();
  for (const _ of [1, 2]) await collect(await client.chat.completions.create(request));
  expect(created(title)).toHaveLength(2);
});
