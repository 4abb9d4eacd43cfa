/** The follower of a user's questions, over a line that breaks. */
import { expect, test } from 'vitest';
import { createClient } from '../src/client.ts';
import type { PlacedElicitation } from '@interlude-ai/core/contract/elicitation.ts';
import { sendProblem, serveStream } from './stream-server.ts';
import type { StreamServer } from './stream-server.ts';

const timing = { firstRetryMs: 1, lastRetryMs: 4, silenceMs: 20_000, giveUpMs: 10_000 };
const feed = '/run/v1/elicitations/events';

const asked = (
  elicitationId: string,
  status: PlacedElicitation['status'] = 'pending',
): PlacedElicitation => ({
  type: 'elicitation-request',
  elicitationId,
  conversationId: 'c1',
  turnId: 't1',
  mode: 'form',
  message: 'Which one?',
  requestedSchema: {},
  context: { trigger: 'model_question' },
  status,
  expiresAt: '2030-01-01T00:00:00.000Z',
});

const toText = (elicitations: object[]) =>
  elicitations.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
const told = ({ elicitationId, status }: PlacedElicitation) => `${elicitationId} ${status}`;

function follow({ url }: StreamServer, options: { signal?: AbortSignal } = {}) {
  return createClient({ baseUrl: url, token: 'secret', timing }).followElicitations(options);
}

async function take(elicitations: AsyncGenerator<PlacedElicitation>, count: number): Promise<string[]> {
  const taken: string[] = [];
  for await (const elicitation of elicitations) {
    taken.push(told(elicitation));
    if (taken.length === count) break;
  }
  return taken;
}

test('what was settled while the line was away is told once, though the stream tells it, too, and what is open not again', async () => {
  const server = await serveStream((response, nth, path) => {
    if (path !== feed) {
      response.writeHead(200, { 'content-type': 'application/json' });
      const items = [asked('q1', 'decline'), asked('q2'), asked('before', 'expired')];
      return void response.end(JSON.stringify({ items, next: null }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (nth === 0) response.end(toText([asked('q1'), asked('q2')]));
    else response.write(toText([asked('q2'), asked('q1', 'decline'), asked('q3'), asked('q2', 'accept')]));
  });
  expect(await take(follow(server), 5)).toEqual([
    'q1 pending',
    'q2 pending',
    'q1 decline',
    'q3 pending',
    'q2 accept',
  ]);
  expect(server.requests.map(({ path }) => path)).toEqual([
    feed,
    feed,
    '/run/v1/conversations/c1/elicitations',
  ]);
});

test('a look-up that fails is made again over the next connection', async () => {
  const server = await serveStream((response, nth, path) => {
    if (path === feed) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void (nth === 0 ? response.end(toText([asked('q1')])) : response.write(': stream-open\n\n'));
    }
    if (nth === 0) return sendProblem(response, 503, { code: 'unavailable' });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ items: [asked('q1', 'expired')], next: null }));
  });
  expect(await take(follow(server), 2)).toEqual(['q1 pending', 'q1 expired']);
});

test('a reader that aborts is told so, and its connection ends', async () => {
  const { promise: isClosed, resolve: reportClosed } = Promise.withResolvers<void>();
  const server = await serveStream((response) => {
    response.on('close', reportClosed);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(toText([asked('q1')]));
  });
  const reading = new AbortController();
  const elicitations = follow(server, { signal: reading.signal });
  expect((await elicitations.next()).value).toEqual(asked('q1'));
  const next = elicitations.next();
  reading.abort(new Error('enough'));
  await expect(next).rejects.toThrow('enough');
  await isClosed;
});
