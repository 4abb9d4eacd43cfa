/** Webhooks of Nango, signed by its double and by hand, delivered to a real port. */
import { createHmac } from 'node:crypto';
import Fastify from 'fastify';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { answerWithProblems } from '../../src/api/http/problems.ts';
import { takeHints } from '../../src/api/nango-webhook/hints.ts';
import { createNangoAttempts } from '../../src/service/nango-attempts.ts';
import { createRecordRefusal } from '../../src/service/authenticate.ts';
import { nangoWebhook, isSignedBy } from '../../src/api/nango-webhook/route.ts';
import type { NangoStore } from '../../src/credentials/nango/nango-store.ts';
import { walkThrough } from '../servers/nango/walk.ts';
import { startApi } from './api-under-test.ts';
import { alices, setUpNangoPages } from './pages/nango-pages-setup.ts';
import type { NangoPagesSetup } from './pages/nango-pages-setup.ts';

interface Hooked {
  setup: NangoPagesSetup;
  url: string;
  log: string[];
  /** Alice begins to connect; answers the page that leads there. */
  begin(): Promise<{ attempt: string; pageUrl: string }>;
  /** Nothing that was hinted at is worked on any more. */
  close(): Promise<void>;
}

async function listening(): Promise<Hooked> {
  const setup = await setUpNangoPages();
  const store: NangoStore | null = setup.stores.nango;
  if (!store) throw new Error('the setup has Nango');
  const log: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => log.push(line) });
  const app = Fastify();
  answerWithProblems(app);
  await app.register(nangoWebhook, {
    attempts: createNangoAttempts({
      store,
      connectAttempts: setup.storage.connectAttempts,
      confirmConnection: setup.confirmConnection,
    }),
    signingKey: setup.nango.webhookSigningKey,
    recordRefusal: createRecordRefusal(setup.storage.audit),
    logger,
  });
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/webhooks/nango`;
  onTestFinished(() => app.close());
  Object.assign(setup.nango, { webhookUrl: url, onAuthCreation: true, onAuthRefreshError: true });
  return {
    setup,
    url,
    log,
    async begin() {
      const { id, pageUrl } = await store.begin({
        server: setup.tracker,
        key: alices,
        elicitationId: null,
        actor: 'alice',
      });
      return { attempt: id, pageUrl };
    },
    close: () => app.close(),
  };
}

const auditOf = (setup: NangoPagesSetup) => setup.dump()['audit'] as Record<string, unknown>[];

describe('a webhook of Nango', () => {
  test('brings the account, tells the turns and is audited', async () => {
    const { setup, begin } = await listening();
    await walkThrough((await begin()).pageUrl);
    await setup.nango.delivered(1);
    await expect.poll(() => setup.confirmed).toEqual([[alices, 1]]);
    expect(setup.nango.deliveries[0]?.tries).toEqual([200]);
    expect(await setup.storage.connections.get(alices)).toMatchObject({ status: 'active', version: 1 });
    expect(auditOf(setup)).toMatchObject([
      { action: 'connected', tenant: 'demo', actor: 'alice', detail: 'tracker', address: null },
    ]);
  });

  test('changes nothing the second time, however often it comes', async () => {
    const { setup, begin } = await listening();
    setup.nango.webhook = 'twice';
    await walkThrough((await begin()).pageUrl);
    await setup.nango.delivered(2);
    await expect.poll(() => setup.confirmed).not.toEqual([]);
    const asked = () => setup.nango.requests.filter(({ path }) => path.startsWith('/connections')).length;
    const before = asked();
    for (let times = 0; times < 50; times++) expect(await setup.nango.replay()).toBe(200);
    // Nango allows 200 requests a minute: a replayed webhook does not use them up.
    expect(asked() - before).toBeLessThan(5);
    expect(await setup.storage.connections.get(alices)).toMatchObject({ version: 1 });
    expect(auditOf(setup)).toHaveLength(1);
  });

  test('is answered at once, although Nango hangs', async () => {
    const { setup, begin, close, log } = await listening();
    await walkThrough((await begin()).pageUrl);
    await setup.nango.delivered(1);
    await expect.poll(() => setup.confirmed).not.toEqual([]);
    const { attempt, pageUrl } = await begin();
    setup.nango.webhook = 'never';
    await walkThrough(pageUrl);
    const { connectionId } = setup.nango.connections().at(-1) ?? {};
    setup.nango.hang = true;
    const body = about({ connectionId, tags: tagsOf(setup, attempt), operation: 'override' });
    expect(await setup.nango.forge(setup.nango.webhookUrl ?? '', body, 'signed')).toBe(200);
    // It is still waiting for Nango.
    expect(log.join()).not.toContain('could not be followed');
    // Closing waits for running work, which ends by itself.
    await close();
    expect(log.join()).toContain('could not be followed');
    expect(log.join()).not.toContain(setup.nango.apiKey);
  });

  test('about an attempt nobody knows any more ends the connection that came of it', async () => {
    const { setup, begin } = await listening();
    const { pageUrl } = await begin();
    await setup.storage.connectAttempts.dropOf(alices);
    await walkThrough(pageUrl);
    await expect.poll(() => setup.nango.connections()).toEqual([]);
    expect(await setup.storage.connections.get(alices)).toBeNull();
  });

  test('about a connection that is none of ours is left alone', async () => {
    const { setup, url } = await listening();
    setup.nango.webhook = 'never';
    await setup.nango.importConnection('bob', { somebody: 'else' });
    const untagged = await setup.nango.importConnection('bob');
    expect(await setup.nango.forge(url, about({ connectionId: untagged }), 'signed')).toBe(200);
    expect(
      await setup.nango.forge(url, about({ connectionId: untagged, tags: { somebody: 'else' } }), 'signed'),
    ).toBe(200);
    const foreign = tagsOf(setup, 'an-attempt-that-never-was');
    expect(await setup.nango.forge(url, about({ connectionId: untagged, tags: foreign }), 'signed')).toBe(
      200,
    );
    // What it says of the connection is not what Nango says of it.
    await expect.poll(() => setup.nango.count('GET', `/connections/${untagged}`)).toBeGreaterThan(0);
    expect(setup.nango.connections()).toHaveLength(2);
    expect(setup.nango.count('DELETE', '/connections/*')).toBe(0);
  });

  test('cannot give somebody else’s connection to an attempt', async () => {
    const { setup, url, begin, log } = await listening();
    const { attempt } = await begin();
    setup.nango.webhook = 'never';
    const foreign = await setup.nango.importConnection('bob', { interlude_attempt: attempt });
    await setup.nango.forge(url, about({ connectionId: foreign, tags: tagsOf(setup, attempt) }), 'signed');
    await expect.poll(() => setup.nango.count('GET', `/connections/${foreign}`)).toBe(1);
    expect(await setup.storage.connections.get(alices)).toBeNull();
    expect(log.join()).not.toContain('could not be followed');
  });

  test.each([
    [
      'a refused refresh',
      { operation: 'refresh', success: false, error: { type: 'refresh_token', description: 'a secret' } },
    ],
    ['a denied access', { operation: 'creation', success: false }],
  ])('about %s leaves a line in the log and no more', async (_, more) => {
    const { setup, url, log } = await listening();
    const connectionId = crypto.randomUUID();
    expect(await setup.nango.forge(url, about({ connectionId, ...more }), 'signed')).toBe(200);
    expect(log.map((line) => JSON.parse(line) as object)).toMatchObject([
      { operation: more.operation, connectionId },
    ]);
    expect(log.join()).not.toContain('a secret');
    expect(setup.nango.requests).toEqual([]);
  });

  test('about a sync, or of a type that is not known yet, is none of ours', async () => {
    const { setup, url, log } = await listening();
    for (const type of ['sync', 'forward', 'something-new'])
      expect(await setup.nango.forge(url, { from: 'nango', type, payload: {} }, 'signed')).toBe(200);
    expect(log).toEqual([]);
  });
});

describe('what is not Nango’s', () => {
  test.each(['wrong-key', 'legacy-only', 'unsigned'] as const)('is refused and audited: %s', async (how) => {
    const { setup, url, begin } = await listening();
    const { attempt, pageUrl } = await begin();
    setup.nango.webhook = 'never';
    await walkThrough(pageUrl);
    const { connectionId } = setup.nango.connections()[0] ?? {};
    const body = about({ connectionId, tags: tagsOf(setup, attempt) });
    expect(await setup.nango.forge(url, body, how)).toBe(401);
    expect(await setup.storage.connections.get(alices)).toBeNull();
    expect(auditOf(setup)).toMatchObject([
      {
        action: 'refused',
        tenant: '',
        actor: null,
        detail: 'webhook of Nango with a wrong signature',
        address: '127.0.0.1',
      },
    ]);
    // The very same, signed, is good: it was the signature that was missing.
    expect(await setup.nango.forge(url, body, 'signed')).toBe(200);
    await expect.poll(() => setup.confirmed).toEqual([[alices, 1]]);
  });

  test('floods neither the audit nor keeps Nango from getting through', async () => {
    const { setup, url } = await listening();
    const body = about({ connectionId: 'c' });
    const statuses = await Promise.all(Array.from({ length: 40 }, () => setup.nango.forge(url, body)));
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(auditOf(setup)).toHaveLength(10);
    expect(await setup.nango.forge(url, body, 'signed')).toBe(200);
  });

  test.each([
    ['no JSON', '{"type":'],
    ['an account of nobody', '{"type":"auth","operation":"creation","success":true}'],
    ['no object', '[]'],
    ['an id as long as a book', JSON.stringify(about({ connectionId: 'c'.repeat(300) }))],
  ])('although signed, cannot be understood: %s', async (_, text) => {
    const { setup, url } = await listening();
    const response = await send(url, setup, text);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'invalid_request' });
    expect(auditOf(setup)).toEqual([]);
  });

  test('or is too large, or of another content type, is not read', async () => {
    const { setup, url } = await listening();
    expect((await send(url, setup, JSON.stringify({ type: 'x'.repeat(300_000) }))).status).toBe(413);
    expect((await send(url, setup, '{"type":"sync"}', 'text/plain')).status).toBe(415);
  });

  test('finds nothing where Nango is not configured', async () => {
    const api = await startApi();
    onTestFinished(() => api.stop());
    const payload = { type: 'auth' };
    expect((await api.app.inject({ method: 'POST', url: '/webhooks/nango', payload })).statusCode).toBe(404);
    const { paths } = (await api.app.inject('/openapi.json')).json<{ paths: object }>();
    expect(Object.keys(paths)).not.toContain('/webhooks/nango');
  });

  test('and in the whole service, only what is signed with its key gets through', async () => {
    const agents = new URL('../fixtures/nango-agents.yaml', import.meta.url).pathname;
    const api = await startApi({
      env: {
        INTERLUDE_CONFIG: agents,
        NANGO_HOST: 'http://127.0.0.1:9',
        NANGO_API_KEY: 'a-key',
        NANGO_WEBHOOK_SIGNING_KEY: 'a-signing-key',
        MCP_URL: 'http://127.0.0.1:9/mcp',
      },
    });
    onTestFinished(() => api.stop());
    const post = (signature: string) =>
      api.app.inject({
        method: 'POST',
        url: '/webhooks/nango',
        headers: { 'content-type': 'application/json', 'x-nango-hmac-sha256': signature },
        payload: vector.body,
      });
    expect((await post(vector.hmac)).statusCode).toBe(200);
    const refused = await post(vector.hmac.replace('e', 'f'));
    expect(refused.statusCode).toBe(401);
    expect(refused.headers['content-type']).toContain('application/problem+json');
  });
});

/** Made with OpenSSL: `openssl dgst -sha256 -hmac a-signing-key`, and `openssl dgst -sha256` of key and body. */
const vector = {
  key: 'a-signing-key',
  body: '{"from":"nango","type":"sync","ünï":"✓"}',
  hmac: 'e79998f9a2f58617f26c30ac0ada0384e5e16b911bf9135081fc77038abf032f',
  legacy: 'b2bcfff07e43f8f82348cd3205c7c4ebb2e46de5873902914c6a7faf56a5e95f',
};

describe('the signature', () => {
  const bytes = Buffer.from(vector.body);

  test('is the HMAC of the bytes, in small letters or capitals', () => {
    expect(isSignedBy(vector.key, bytes, vector.hmac)).toBe(true);
    expect(isSignedBy(vector.key, bytes, vector.hmac.toUpperCase())).toBe(true);
  });

  test.each([
    ['another key', 'another-key', bytes, vector.hmac],
    ['another body', vector.key, Buffer.from(`${vector.body} `), vector.hmac],
    ['the older signature', vector.key, bytes, vector.legacy],
    ['one letter less', vector.key, bytes, vector.hmac.slice(1)],
    ['one letter more', vector.key, bytes, `${vector.hmac}0`],
    ['no hexadecimal', vector.key, bytes, 'z'.repeat(64)],
    ['nothing', vector.key, bytes, undefined],
    ['two of them', vector.key, bytes, [vector.hmac, vector.hmac]],
  ])('and not that of %s', (_, key, body, signature) => {
    expect(isSignedBy(key, body, signature)).toBe(false);
  });
});

describe('hints', () => {
  const idle = { failed: () => undefined, dropped: () => undefined };

  test('are worked on a few at a time, and what fails stops nothing', async () => {
    const began: string[] = [];
    const failed: string[] = [];
    const gates = new Map<string, () => void>();
    const hints = takeHints<string>({
      ...idle,
      atOnce: 2,
      failed: (hint) => failed.push(hint),
      async work(hint) {
        began.push(hint);
        await new Promise<void>((resolve) => gates.set(hint, resolve));
        if (hint === 'a') throw new Error('oh no');
      },
    });
    for (const hint of ['a', 'b', 'c']) hints.give(hint, hint);
    expect(began).toEqual(['a', 'b']);
    gates.get('a')?.();
    await expect.poll(() => began).toEqual(['a', 'b', 'c']);
    expect(failed).toEqual(['a']);
    gates.get('b')?.();
    gates.get('c')?.();
    await hints.close();
  });

  test('of the same are put together, and the last one is worked on after a while', async () => {
    const seen: number[] = [];
    const hints = takeHints<number>({ ...idle, pauseMs: 50, work: async (hint) => void seen.push(hint) });
    for (const number of [1, 2, 3, 4]) hints.give('one', number);
    expect(seen).toEqual([1]);
    await expect.poll(() => seen).toEqual([1, 4]);
    await hints.close();
  });

  test('for which there is no room are given up', async () => {
    const dropped: string[] = [];
    const gate = Promise.withResolvers<void>();
    const hints = takeHints<string>({
      ...idle,
      atOnce: 1,
      room: 1,
      dropped: (hint) => dropped.push(hint),
      work: () => gate.promise,
    });
    for (const hint of ['a', 'b', 'c']) hints.give(hint, hint);
    expect(dropped).toEqual(['c']);
    gate.resolve();
    await hints.close();
    hints.give('d', 'd');
    expect(dropped).toEqual(['c', 'd']);
  });
});

function about(more: object): object {
  return {
    from: 'nango',
    type: 'auth',
    operation: 'creation',
    success: true,
    provider: 'acme',
    providerConfigKey: 'tracker',
    authMode: 'OAUTH2',
    environment: 'dev',
    ...more,
  };
}

/** As our connections carry them. */
function tagsOf(setup: NangoPagesSetup, attempt: string): Record<string, string> {
  const [own] = setup.nango.connections().flatMap(({ tags }) => tags['interlude_installation'] ?? []);
  return { interlude_installation: own ?? 'unknown', interlude_attempt: attempt };
}

function send(url: string, { nango }: NangoPagesSetup, text: string, type = 'application/json') {
  const signature = createHmac('sha256', nango.webhookSigningKey).update(text).digest('hex');
  return fetch(url, {
    method: 'POST',
    body: text,
    headers: { 'content-type': type, 'x-nango-hmac-sha256': signature },
  });
}
