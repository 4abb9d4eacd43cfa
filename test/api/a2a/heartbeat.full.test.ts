/** A stream on which nothing happens is kept alive, over each transport and version, while its person thinks. */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
import { asks, page } from '../../servers/scripted-mcp-server.ts';
import { connectAgent, stateOf } from './a2a-client.ts';

const setup = useAskingService();
const base = '/run/agents/assistant/a2a';
const rpc = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

const ways = [
  { version: '1.0', method: 'POST', path: () => base, body: (id: string) => rpc('SubscribeToTask', { id }) },
  {
    version: '1.0',
    method: 'GET',
    path: (id: string) => `${base}/tasks/${id}:subscribe`,
    body: () => undefined,
  },
  {
    version: '0.3',
    method: 'POST',
    path: () => base,
    body: (id: string) => rpc('tasks/resubscribe', { id }),
  },
];

test('a subscription is kept alive, and told of the end', async () => {
  setup.server.play(asks({ there: page('https://example.com/a') }));
  const agent = await connectAgent(setup.service);
  const { id } = await agent.send('call asking__ask {}');
  const authorization = `Bearer ${await setup.service.token('alice')}`;
  const streams = await Promise.all(
    ways.map(async ({ version, method, path, body }) => {
      const text = body(id);
      const response = await fetch(new URL(path(id), setup.service.baseUrl), {
        method,
        headers: { authorization, 'a2a-version': version, 'content-type': 'application/json' },
        ...(text !== undefined && { body: text }),
      });
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      return read(response);
    }),
  );
  await Promise.all(streams.map(({ heartbeat }) => heartbeat));
  await agent.send('done', { taskId: id });
  for (const { events } of streams) expect((await events).join()).toMatch(/COMPLETED|completed/);
  expect(stateOf(await agent.get(id))).toBe('COMPLETED');
});

function read({ body }: Response) {
  const { promise: heartbeat, resolve } = Promise.withResolvers<void>();
  let comments = 0;
  // The first one opens the stream.
  const onComment = () => void (++comments === 2 && resolve());
  const parsed = body
    ?.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream({ onComment }));
  const events = (async () => {
    const all: string[] = [];
    for await (const { data } of parsed ?? []) all.push(data);
    return all;
  })();
  return { heartbeat, events };
}
