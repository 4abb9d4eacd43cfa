import { expect, test } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { createClient } from '../src/client.ts';
import type { ClientOptions } from '../src/client.ts';
import { createSend } from '../src/send.ts';
import {
  question,
  sendProblem,
  sendStream,
  serveStream,
  startStreamServer,
  wholeTurn,
} from './stream-server.ts';
import type { StreamServer } from './stream-server.ts';

const timing = { firstRetryMs: 1, lastRetryMs: 4, silenceMs: 20_000, giveUpMs: 10_000 };
const answer = { conversationId: 'c1', elicitationId: 'q1', action: 'decline' } as const;

function clientOf({ url }: StreamServer, options: Partial<ClientOptions> = {}) {
  return createClient({ baseUrl: `${url}/`, token: 'secret', timing, ...options });
}

test('an answer that got lost on the way is sent again', async () => {
  const receipt = { elicitationId: 'q1', status: 'decline', duplicate: true };
  const server = await serveStream((response, nth) => {
    if (nth === 0) return void response.destroy();
    if (nth === 1) return sendProblem(response, 503, { code: 'unavailable', detail: 'Try again.' });
    response.end(JSON.stringify(receipt));
  });
  expect(await clientOf(server).answer(answer)).toEqual(receipt);
  expect(server.requests).toHaveLength(3);
  expect(server.requests.at(-1)).toMatchObject({ path: '/run/api/elicitation-responses', body: answer });
});

test('every request names the language of the person, if there is one', async () => {
  const server = await serveStream((response) => void response.end(JSON.stringify({ items: [], data: [] })));
  for (const language of [undefined, 'de']) {
    const client = clientOf(server, { ...(language !== undefined && { language }) });
    await client.conversations();
    await client.allOpenElicitations();
  }
  expect(server.requests.map(({ headers }) => headers['x-user-language'])).toEqual([
    undefined,
    undefined,
    'de',
    'de',
  ]);
});

test('every request names the version of the client, and a refusal because of it says what to update', async () => {
  const detail = 'Update @interlude-ai/client.';
  const server = await serveStream((response) =>
    sendProblem(response, 400, { code: 'version_mismatch', detail }),
  );
  await expect(clientOf(server).answer(answer)).rejects.toMatchObject({ code: 'version_mismatch', detail });
  expect(server.requests.map(({ headers }) => headers['x-interlude-client'])).toEqual([
    `${packageJson.version}; service=0.2.0`,
  ]);
});

test('a token that cannot be fetched is fetched again, as a line that is down is tried again', async () => {
  const receipt = { elicitationId: 'q1', status: 'decline', duplicate: false };
  const server = await serveStream((response) => void response.end(JSON.stringify(receipt)));
  let asked = 0;
  const token = () => {
    asked += 1;
    if (asked === 1) throw new TypeError('Failed to fetch');
    return 'secret';
  };
  expect(await clientOf(server, { token }).answer(answer)).toEqual(receipt);
  expect(asked).toBe(2);
  const never = clientOf(server, {
    token: () => Promise.reject(new Error('signed out')),
    timing: { ...timing, giveUpMs: 20 },
  });
  await expect(never.answer(answer)).rejects.toMatchObject({
    code: 'unreachable',
    detail: 'No access token could be fetched.',
  });
  expect(server.requests).toHaveLength(1);
});

test('a refused answer is not sent again', async () => {
  const server = await serveStream((response) =>
    sendProblem(response, 410, { code: 'expired', detail: 'Too late.' }),
  );
  await expect(clientOf(server).answer(answer)).rejects.toMatchObject({ status: 410, code: 'expired' });
  expect(server.requests).toHaveLength(1);
});

test('an answer is given up when the service stays away, and the error says where it was sent', async () => {
  const server = await startStreamServer(() => undefined);
  await server.stop();
  const client = clientOf(server, { timing: { ...timing, giveUpMs: 40 } });
  await expect(client.answer(answer)).rejects.toMatchObject({
    status: 0,
    code: 'unreachable',
    detail: expect.stringContaining(server.url),
  });
});

test('a service that asks for more patience than there is is named by its own words, at once', async () => {
  const server = await serveStream((response) =>
    sendProblem(response, 503, { code: 'unavailable', detail: 'Temporal is away.' }, { 'retry-after': '60' }),
  );
  await expect(clientOf(server).cancel('c1')).rejects.toMatchObject({
    status: 503,
    detail: 'Temporal is away.',
  });
  expect(server.requests).toHaveLength(1);
});

test('nobody waits for longer than five minutes at a time, whatever a proxy asks for', async () => {
  const server = await serveStream((response) =>
    sendProblem(response, 503, { code: 'unavailable', detail: 'Away.' }, { 'retry-after': '99999999' }),
  );
  const send = createSend({ baseUrl: server.url, token: 't' });
  await expect(send({ method: 'GET', path: '/' })).rejects.toMatchObject({ retryAfterMs: 300_000 });
});

test('a service that stops answering is named by the last it said', async () => {
  const server = await serveStream((response, nth) => {
    if (nth === 0) sendProblem(response, 503, { code: 'unavailable', detail: 'Temporal is away.' });
  });
  const client = clientOf(server, { timing: { ...timing, giveUpMs: 1_000 } });
  await expect(client.cancel('c1')).rejects.toMatchObject({ status: 503, detail: 'Temporal is away.' });
  expect(server.requests).toHaveLength(2);
});

test('cancel and the open questions go to the conversation they name', async () => {
  const items = [question('pending')];
  const server = await serveStream(
    (response, _nth, path) =>
      void response.end(
        JSON.stringify(path.endsWith('/cancel') ? { status: 'cancelling' } : { items, next: null }),
      ),
  );
  const client = clientOf(server);
  expect(await client.cancel('a:b')).toEqual({ status: 'cancelling' });
  expect(await client.openElicitations('a:b')).toEqual(items);
  expect(await client.allOpenElicitations()).toEqual(items);
  expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /run/api/chat/a%3Ab/cancel',
    'GET /run/v1/conversations/a%3Ab/elicitations?status=pending',
    'GET /run/v1/elicitations',
  ]);
});

test('a program says with every request whom it acts for', async () => {
  const server = await serveStream((response) => void response.end(JSON.stringify({ items: [] })));
  await clientOf(server, { forUser: 'alice' }).allOpenElicitations();
  await clientOf(server).allOpenElicitations();
  expect(server.requests.map(({ headers }) => headers['x-interlude-user'])).toEqual(['alice', undefined]);
});

test('a token that is no longer accepted is replaced once, and kept', async () => {
  const server = await serveStream((response) => {
    const { authorization } = server.requests.at(-1)?.headers ?? {};
    if (authorization !== 'Bearer token-2')
      return sendProblem(response, 401, { code: 'unauthenticated', detail: 'Expired.' });
    sendStream(response, wholeTurn);
  });
  let count = 0;
  const token = async () => `token-${(count += 1)}`;
  const client = clientOf(server, { token });
  for (const id of ['m-1', 'm-2']) {
    for await (const view of client.start({ conversationId: 'c1', message: { id, text: 'Hello' } }))
      void view;
  }
  expect(count).toBe(2);
  expect(server.requests).toHaveLength(3);
});

test.each([
  ['a fixed token', 'stale'],
  ['a fresh token', () => 'stale'],
])('%s that is refused is an error', async (_, token) => {
  const server = await serveStream((response) =>
    sendProblem(response, 401, { code: 'unauthenticated', detail: 'Sign in.' }),
  );
  await expect(clientOf(server, { token }).cancel('c1')).rejects.toMatchObject({
    status: 401,
    detail: 'Sign in.',
  });
  expect(server.requests).toHaveLength(typeof token === 'string' ? 1 : 2);
});
