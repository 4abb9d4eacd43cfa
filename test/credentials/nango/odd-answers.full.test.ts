/** Somebody answers at Nango's address, but not as Nango does. */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../../demo/listen.ts';
import { alice, setUpNangoStore, failureOf } from './nango-store.ts';

/** An account that is connected, and a store that asks `answer` from now on. */
async function askedOf(answer: (response: ServerResponse, path: string) => void, timeoutMs = 5_000) {
  const setup = await setUpNangoStore();
  const connected = await setup.connect();
  const { host, stop } = await serve(answer);
  onTestFinished(stop);
  const nango = { host, publicUrl: host, websocketsPath: '/', webhookSigningKey: undefined, apiKey: 'a-key' };
  const { store } = await setup.another({ nango, timeoutMs });
  return { ...setup, ...connected, store };
}

async function serve(answer: (response: ServerResponse, path: string) => void) {
  const server = createServer((request, response) => answer(response, request.url ?? ''));
  const { port, stop } = await listen(server, 0, 'none');
  return { host: `http://127.0.0.1:${port}`, stop };
}

function json(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

test.each<[string, number | undefined, (response: ServerResponse) => void]>([
  ['a page', undefined, (response) => response.writeHead(200).end('<h1>Welcome</h1>')],
  ['a page that is not there', undefined, (response) => response.writeHead(404).end('<h1>Nothing here</h1>')],
  ['a not-found of its own', undefined, (response) => json(response, 404, { message: 'no route' })],
  ['an object of another shape', undefined, (response) => json(response, 200, { ok: true })],
  ['a gateway without a server', 1_000, (response) => response.writeHead(502).end('<h1>Bad gateway</h1>')],
  ['an unavailable gateway', 1_000, (response) => response.writeHead(503).end()],
  ['a request that took too long', 1_000, (response) => json(response, 408, {})],
  ['a redirect', undefined, (response) => response.writeHead(302, { location: '/login' }).end()],
  ['a broken line', 1_000, (response) => response.destroy()],
  ['a limit that says no time', 1_000, (response) => json(response, 429, {})],
  ['a limit with a strange time', 1_000, (response) => json(response, 429, {}, { 'retry-after': 'soon' })],
])('%s asks nobody to connect', async (_, retryAfterMs, answer) => {
  const { store, server } = await askedOf(answer);
  const failure = await failureOf(store.resolve(server, alice));
  expect(failure.retryAfterMs).toBe(retryAfterMs);
});

test('the key does not follow a redirect', async () => {
  const seen: string[] = [];
  const elsewhere = await serve((response, path) => {
    seen.push(path);
    response.end('{}');
  });
  onTestFinished(elsewhere.stop);
  const { store, server } = await askedOf((response) =>
    response.writeHead(302, { location: elsewhere.host }).end(),
  );
  expect((await failureOf(store.resolve(server, alice))).retryAfterMs).toBeUndefined();
  expect(seen).toEqual([]);
});

test('an answer that comes drop by drop has a deadline', async () => {
  const { store, server } = await askedOf((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const dripping = setInterval(() => response.write(' '), 50);
    response.on('close', () => clearInterval(dripping));
  }, 500);
  expect((await failureOf(store.resolve(server, alice))).retryAfterMs).toBe(1_000);
});

test('an answer without an end has a limit', async () => {
  let sent = 0;
  const { store, server } = await askedOf((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const chunk = Buffer.alloc(262_144, ' ');
    const pour = () => {
      do sent += chunk.length;
      while (response.write(chunk));
      response.once('drain', pour);
    };
    response.on('close', () => response.removeAllListeners('drain'));
    pour();
  }, 10_000);
  await failureOf(store.resolve(server, alice));
  expect(sent).toBeLessThan(20_000_000);
});

/** A connection of an attempt of alice's, and a store that reads it from somebody who tells it differently. */
async function told(differently: (told: object) => object) {
  const setup = await setUpNangoStore();
  const attempt = await setup.begin();
  const connectionId = await setup.visit(attempt);
  const truth = {
    connection_id: connectionId,
    provider_config_key: 'tracker',
    tags: setup.nango.connections()[0]?.tags,
    created_at: new Date().toISOString(),
    updated_at: new Date().toISOString(),
    credentials: {},
  };
  const { host, stop } = await serve((response) => json(response, 200, { ...truth, ...differently(truth) }));
  onTestFinished(stop);
  const nango = { host, publicUrl: host, websocketsPath: '/', webhookSigningKey: undefined, apiKey: 'a-key' };
  const { store } = await setup.another({ nango });
  return { ...setup, store, attempt, connectionId };
}

test.each([{ provider_config_key: 'notes' }, { connection_id: 'another' }, { tags: null }])(
  'a connection that says %o of itself is not recorded',
  async (lie) => {
    const { store, attempt, connectionId, row } = await told(() => lie);
    expect(await store.confirm(attempt.id, connectionId)).toEqual({ kind: 'not-of-this-attempt' });
    expect(await row()).toBeNull();
  },
);

test.each([
  ['with an offset', (now: Date) => now.toISOString().replace('Z', '+00:00')],
  ['as older versions write them', String],
])('times are understood %s', async (_, write) => {
  const written = write(new Date());
  const { store, attempt, connectionId } = await told(() => ({ created_at: written, updated_at: written }));
  expect(await store.confirm(attempt.id, connectionId)).toMatchObject({ kind: 'connected', isNew: true });
});

test.each<[string, (told: object) => object]>([
  [
    'tokens that are null',
    () => ({ credentials: { type: 'CUSTOM', access_token: null, expires_at: null, raw: null } }),
  ],
  ['credentials that are null', () => ({ credentials: null })],
  [
    'a tag that is null',
    (truth) => ({ tags: { ...(truth as { tags: object }).tags, end_user_email: null } }),
  ],
])('a connection with %s is recorded', async (_, oddly) => {
  const { store, attempt, connectionId } = await told(oddly);
  expect(await store.confirm(attempt.id, connectionId)).toMatchObject({ kind: 'connected' });
});
