import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createClient } from '@interlude-ai/client/client.ts';
import type { FeedItem } from '@interlude-ai/client/follow.ts';
import { followTurns } from '../../../../src/api/pages/playground/follow-turns.ts';

const stack = new AsyncDisposableStack();
afterEach(() => stack.disposeAsync());

const turnId = 'turn-1';
const told = [
  { type: 'turn-started', turnId, agent: 'assistant' },
  { type: 'turn-ended', turnId, status: 'completed' },
];

test('a turn that ends before its conversation was found is read all the same', async () => {
  const asked = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let requests = 0;
  const server = createServer((request, response) => {
    if (request.url?.includes('/events')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      told.forEach((event, at) => response.write(`id: ${at + 1}\ndata: ${JSON.stringify(event)}\n\n`));
      return;
    }
    requests += 1;
    if (requests > 1) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ position: 2, turn: null, items: [] }));
    }
    asked.resolve();
    void ended.promise.then(() => {
      response.writeHead(404, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ status: 404, code: 'conversation_not_found', title: 'Not found' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => server.closeAllConnections());
  stack.defer(() => void server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const seen: FeedItem[] = [];
  const failures: unknown[] = [];
  const turns = followTurns({
    client: createClient({ baseUrl, token: 'token' }),
    conversation: 'conversation-1',
    see: (item) => seen.push(item),
    fail: (problem) => failures.push(problem),
  });
  stack.defer(() => turns.leave());
  turns.wake();
  await asked.promise;
  turns.wake();
  ended.resolve();
  await expect.poll(() => seen.map(({ event }) => event)).toEqual(told);
  expect(failures).toEqual([]);
});
