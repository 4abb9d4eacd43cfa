/** What the script of a Nango page may ask, and who may: without a browser, so that everything can be asked wrongly. */
import { describe, expect, test } from 'vitest';
import { walkThrough } from '../../servers/nango/walk.ts';
import { Browser, hiddenFields } from './browser.ts';
import { alices, createNangoStage } from './nango-stage.ts';
import type { NangoStage } from './nango-stage.ts';

interface Asking {
  stage: NangoStage;
  /** Signed in, with the page of the question open. */
  ask(path: '' | '/look' | '/complete', body: object, headers?: Record<string, string>): Promise<Answer>;
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

async function signedIn(stage: NangoStage, user = 'alice', id = 'q1'): Promise<Asking> {
  const { browser, page } = await stage.openAs(user, id);
  const { csrf = '' } = hiddenFields(page.text);
  return {
    stage,
    ask: (path, body, headers = {}) => post(stage, browser, path, body, { 'x-csrf-token': csrf, ...headers }),
  };
}

async function post(
  stage: NangoStage,
  browser: Browser,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const cookie = [...browser.cookies].map(([name, value]) => `${name.split(' ', 1)[0]}=${value}`).join('; ');
  const response = await fetch(`${stage.publicUrl}/auth/connect/nango${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: stage.publicUrl, cookie, ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function asked(): Promise<Asking> {
  const stage = await createNangoStage();
  await stage.ask();
  return signedIn(stage);
}

const pageOf = ({ nango }: NangoStage, token: unknown) =>
  `${nango.host}/oauth/connect/tracker?connect_session_token=${String(token)}`;

/** What the audit says of the question, oldest first. */
const auditOf = async ({ storage }: NangoStage) =>
  (await storage.audit.ofElicitation('q1')).map(({ action, actor, detail }) => [action, actor, detail]);

describe('a session for the window', () => {
  test('has what the library needs, and the same attempt when asked for again', async () => {
    const { stage, ask } = await asked();
    const { status, body } = await ask('', { e: 'q1' });
    expect(status).toBe(200);
    expect(body).toEqual({
      state: 'open',
      attempt: expect.stringMatching(/^[\w-]{10,}$/),
      token: expect.stringMatching(/^nango_connect_session_/),
      host: stage.nango.host,
      websocketsPath: '/',
      integration: 'tracker',
      expiresInMs: expect.closeTo(1_800_000, -4),
      isUnderway: false,
    });
    const { body: again } = await ask('', { e: 'q1' });
    expect(again).toMatchObject({ attempt: body['attempt'], isUnderway: true });
    expect(again['token']).not.toBe(body['token']);
  });

  test('is not made for what is connected already, even if nobody was told of it', async () => {
    const { stage, ask } = await asked();
    const { body } = await ask('', { e: 'q1' });
    await walkThrough(pageOf(stage, body['token']));
    const made = stage.nango.count('POST', '/connect/sessions');
    const url = `${stage.publicUrl}/auth/done?e=q1`;
    expect(await ask('', { e: 'q1' })).toEqual({ status: 200, body: { state: 'over', url } });
    expect(stage.nango.count('POST', '/connect/sessions')).toBe(made);
    expect(stage.announced).toEqual([[alices, 1]]);
  });

  test('is not made when Nango is away, and says so without its words', async () => {
    const { stage, ask } = await asked();
    await stage.nango.down();
    const { status, body } = await ask('', { e: 'q1' });
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'unavailable' });
    expect(JSON.stringify(body) + stage.log.join()).not.toMatch(new RegExp(`ECONN|${stage.nango.apiKey}`));
  });
});

describe('looking', () => {
  test('finds what nobody told, tells the turns, and audits it once', async () => {
    const { stage, ask } = await asked();
    const { body } = await ask('', { e: 'q1' });
    const { attempt } = body;
    await walkThrough(pageOf(stage, body['token']));
    const over = { state: 'over', url: `${stage.publicUrl}/auth/done?e=q1` };
    expect((await ask('/look', { e: 'q1', attempt })).body).toEqual(over);
    expect((await ask('/look', { e: 'q1', attempt })).body).toEqual(over);
    expect(stage.announced).toEqual([[alices, 1]]);
    expect(await auditOf(stage)).toEqual([['connected', 'alice', 'tracker']]);
  });

  test('asks Nango only now and then, however often the page asks', async () => {
    const { stage, ask } = await asked();
    const { attempt } = (await ask('', { e: 'q1' })).body;
    const before = stage.nango.count('GET', '/connections');
    for (let times = 0; times < 10; times++)
      expect((await ask('/look', { e: 'q1', attempt })).body).toEqual({ state: 'open' });
    expect(stage.nango.count('GET', '/connections') - before).toBe(1);
    await ask('/look', { e: 'q1' });
    expect(stage.nango.count('GET', '/connections') - before).toBe(1);
  });

  test('goes on while Nango is away', async () => {
    const { stage, ask } = await asked();
    const { attempt } = (await ask('', { e: 'q1' })).body;
    await stage.nango.down();
    expect(await ask('/look', { e: 'q1', attempt })).toEqual({ status: 200, body: { state: 'open' } });
  });

  test('tells of an attempt that was given up by disconnecting', async () => {
    const { stage, ask } = await asked();
    const { attempt } = (await ask('', { e: 'q1' })).body;
    await stage.storage.connectAttempts.dropOf(alices);
    expect((await ask('/look', { e: 'q1', attempt })).body).toEqual({ state: 'lost' });
    expect((await ask('/complete', { e: 'q1', attempt, connectionId: 'c' })).body).toEqual({ state: 'lost' });
  });
});

describe('completing', () => {
  test('believes Nango and nobody else', async () => {
    const { stage, ask } = await asked();
    const { attempt } = (await ask('', { e: 'q1' })).body;
    const foreign = await stage.nango.importConnection('bob', { interlude_attempt: String(attempt) });
    expect((await ask('/complete', { e: 'q1', attempt, connectionId: foreign })).status).toBe(403);
    expect((await ask('/complete', { e: 'q1', attempt, connectionId: crypto.randomUUID() })).status).toBe(
      403,
    );
    expect(await stage.storage.connections.get(alices)).toBeNull();
    expect(await auditOf(stage)).toEqual([
      ['refused', 'alice', 'a connection of another attempt'],
      ['refused', 'alice', 'a connection of another attempt'],
    ]);
  });

  test('twice is the same as once', async () => {
    const { stage, ask } = await asked();
    const { attempt, token } = (await ask('', { e: 'q1' })).body;
    await walkThrough(pageOf(stage, token));
    const connectionId = stage.nango.connections()[0]?.connectionId;
    const url = `${stage.publicUrl}/auth/done?e=q1`;
    const twice = [1, 2].map(() => ask('/complete', { e: 'q1', attempt, connectionId }));
    for (const { body } of await Promise.all(twice)) expect(body).toEqual({ state: 'over', url });
    expect(await stage.storage.connections.get(alices)).toMatchObject({ version: 1 });
    expect(await auditOf(stage)).toHaveLength(1);
  });

  test('that Nango cannot confirm now is no failure of the person’s', async () => {
    const { stage, ask } = await asked();
    const { attempt } = (await ask('', { e: 'q1' })).body;
    await stage.nango.down();
    expect((await ask('/complete', { e: 'q1', attempt, connectionId: 'c' })).status).toBe(503);
  });
});

describe('refused and audited:', () => {
  const paths = ['', '/look', '/complete'] as const;

  test.each(paths)('a request without the token of our page, or from another page (%s)', async (path) => {
    const { stage, ask } = await asked();
    const body = { e: 'q1', attempt: 'a', connectionId: 'c' };
    const wrong = [
      { 'x-csrf-token': 'wrong' },
      { 'x-csrf-token': '' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ];
    for (const headers of wrong) expect((await ask(path, body, headers)).status).toBe(403);
    const refusals = stage.dump()['audit'] as { detail: string }[];
    expect(refusals.map(({ detail }) => detail)).toEqual(wrong.map(() => 'request from another page'));
    expect(stage.nango.requests).toEqual([]);
  });

  test.each(paths)('a request of nobody (%s)', async (path) => {
    const stage = await createNangoStage();
    await stage.ask();
    const answer = await post(stage, new Browser(), path, { e: 'q1', attempt: 'a', connectionId: 'c' });
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(stage.dump()['audit']).toMatchObject([{ detail: 'a request without a session' }]);
  });

  test('somebody else’s question, in which not even its server can be learned', async () => {
    const { stage } = await asked();
    const bob = await signedInElsewhere(stage);
    for (const path of ['', '/look'] as const) {
      const { status, body } = await bob.ask(path, { e: 'q1' });
      expect(status).toBe(403);
      expect(JSON.stringify(body)).not.toMatch(/tracker/i);
    }
    expect(await auditOf(stage)).toEqual([
      ['refused', 'bob', 'another user'],
      ['refused', 'bob', 'another user'],
    ]);
  });

  test('a question of another tenant, which does not exist here', async () => {
    const { stage, ask } = await asked();
    await stage.ask({ id: 'q3', tenant: 'elsewhere' });
    expect(await ask('', { e: 'q3' })).toMatchObject({
      status: 404,
      body: { code: 'elicitation_not_found' },
    });
    expect(await stage.storage.audit.ofElicitation('q3')).toMatchObject([
      { tenant: 'elsewhere', actor: 'demo/alice', detail: 'another tenant' },
    ]);
  });

  test('an attempt of somebody else', async () => {
    const { stage, ask } = await asked();
    const { attempt, token } = (await ask('', { e: 'q1' })).body;
    await walkThrough(pageOf(stage, token));
    const connectionId = stage.nango.connections()[0]?.connectionId;
    await stage.ask({ id: 'q4', user: 'bob' });
    const bob = await signedIn(stage, 'bob', 'q4');
    expect((await bob.ask('/look', { e: 'q4', attempt })).status).toBe(403);
    expect((await bob.ask('/complete', { e: 'q4', attempt, connectionId })).status).toBe(403);
    expect(await stage.storage.connections.get({ ...alices, user: 'bob' })).toBeNull();
    expect(await auditOf(stage)).toEqual([
      ['refused', 'bob', 'an attempt of somebody else'],
      ['refused', 'bob', 'an attempt of somebody else'],
    ]);
  });

  test('a server that is nobody’s to connect here', async () => {
    const { ask, stage } = await asked();
    const { status } = await ask('', { server: 'nothing', seenVersion: 0 });
    expect(status).toBe(404);
    expect(stage.dump()['audit']).toMatchObject([
      { detail: 'connecting what is not a connection of their own' },
    ]);
  });

  test.each([
    ['nothing', {}],
    ['two goals, one of them broken', { e: '../..', server: 'tracker' }],
    ['a version that is none', { server: 'tracker', seenVersion: -1 }],
    ['an id that is none', { e: 'q1', attempt: '../connections' }],
    ['an id as long as a book', { e: 'q1', attempt: 'a'.repeat(300) }],
  ])('what cannot be understood: %s', async (_, body) => {
    const { stage, ask } = await asked();
    expect(await ask('/look', body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(stage.nango.requests).toEqual([]);
  });

  async function signedInElsewhere(stage: NangoStage): Promise<Asking> {
    await stage.ask({ id: 'q5', user: 'bob' });
    return signedIn(stage, 'bob', 'q5');
  }
});

describe('the page and its script', () => {
  test('may talk to us and to Nango’s socket, and to nobody else', async () => {
    const stage = await createNangoStage();
    await stage.ask();
    const { page } = await stage.openAs('alice');
    const policy = page.headers.get('content-security-policy') ?? '';
    const { host } = new URL(stage.nango.host);
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        `default-src 'none'`,
        `script-src 'self'`,
        `connect-src 'self' ws://${host}`,
        `frame-ancestors 'none'`,
        `form-action 'self'`,
      ]),
    );
    expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin-allow-popups');
    const scripts = [...page.text.matchAll(/<script[^>]*>/g)].map(([tag]) => tag);
    expect(scripts).toEqual([
      expect.stringMatching(/^<script type="module" src="[^"]+\/auth\/assets\/[\w-]+\/connect\.js">$/),
    ]);
  });

  test('no other page runs scripts', async () => {
    const stage = await createNangoStage();
    await stage.ask({ deadline: Date.now() - 1 });
    const { browser, page } = await stage.openAs('alice');
    const settings = await browser.open(`${stage.publicUrl}/connections`);
    for (const { headers, text } of [page, settings]) {
      expect(headers.get('content-security-policy')).not.toMatch(/script-src|connect-src/);
      expect(text).not.toContain('<script');
    }
  });

  test('its modules may be kept for ever, and nothing but them is served', async () => {
    const stage = await createNangoStage();
    await stage.ask();
    const { page } = await stage.openAs('alice');
    const [, src = ''] = /src="([^"]+)"/.exec(page.text) ?? [];
    const get = (path: string) => fetch(new URL(path, src));
    for (const path of ['connect.js', 'nango/index.js', 'nango/authModal.js', 'nango/connectUI.js']) {
      const response = await get(path);
      expect(response.status, path).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const text = await response.text();
      // All that a module imports is among them.
      const imported = [...text.matchAll(/^(?:import|export) .*?from '([^']+)'/gm)].map(
        ([, from = '']) => from,
      );
      for (const from of imported)
        expect((await fetch(new URL(from, new URL(path, src)))).status, from).toBe(200);
    }
    const others = [
      'nango/package.json',
      'nango/index.d.ts',
      '..%2f..%2fpackage.json',
      'nango/../../x/connect.js',
      '%00',
    ];
    for (const path of others) expect((await get(path)).status, path).toBeGreaterThanOrEqual(400);
    expect((await get(src.replace(/assets\/[\w-]+\//, 'assets/another-version0/'))).status).toBe(404);
  });
});
