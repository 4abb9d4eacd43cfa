/** What the script of a Nango page may ask, and who may: without a browser, so that everything can be asked wrongly. */
import { describe, expect, test } from 'vitest';
import { walkThrough } from '../../servers/nango/walk.ts';
import { Browser, hiddenFields } from './browser.ts';
import { alices, setUpNangoPages } from './nango-pages-setup.ts';
import type { NangoPagesSetup } from './nango-pages-setup.ts';
import { timesScript, timesScriptHash } from '../../../src/api/pages/elements.ts';

interface Asking {
  setup: NangoPagesSetup;
  /** Signed in, with the page of the question open. */
  ask(path: '' | '/look' | '/complete', body: object, headers?: Record<string, string>): Promise<Answer>;
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

async function signedIn(setup: NangoPagesSetup, user = 'alice', id = 'q1'): Promise<Asking> {
  const { browser, page } = await setup.openAs(user, id);
  const { csrf = '' } = hiddenFields(page.text);
  return {
    setup,
    ask: (path, body, headers = {}) => post(setup, browser, path, body, { 'x-csrf-token': csrf, ...headers }),
  };
}

async function post(
  setup: NangoPagesSetup,
  browser: Browser,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const cookie = [...browser.cookies].map(([name, value]) => `${name.split(' ', 1)[0]}=${value}`).join('; ');
  const response = await fetch(`${setup.publicUrl}/auth/connect/nango${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: setup.publicUrl, cookie, ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function asked(): Promise<Asking> {
  const setup = await setUpNangoPages();
  await setup.ask();
  return signedIn(setup);
}

const pageOf = ({ nango }: NangoPagesSetup, token: unknown) =>
  `${nango.host}/oauth/connect/tracker?connect_session_token=${String(token)}`;

/** What the audit says of the question, oldest first. */
const auditOf = async ({ storage }: NangoPagesSetup) =>
  (await storage.audit.ofElicitation('q1')).map(({ action, actor, detail }) => [action, actor, detail]);

describe('a session for the window', () => {
  test('has what the library needs, and the same attempt when asked for again', async () => {
    const { setup, ask } = await asked();
    const { status, body } = await ask('', { e: 'q1' });
    expect(status).toBe(200);
    expect(body).toEqual({
      state: 'open',
      attempt: expect.stringMatching(/^[\w-]{10,}$/),
      token: expect.stringMatching(/^nango_connect_session_/),
      host: setup.nango.host,
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
    const { setup, ask } = await asked();
    const { body } = await ask('', { e: 'q1' });
    await walkThrough(pageOf(setup, body['token']));
    const made = setup.nango.count('POST', '/connect/sessions');
    const url = `${setup.publicUrl}/auth/done?e=q1`;
    expect(await ask('', { e: 'q1' })).toEqual({ status: 200, body: { state: 'over', url } });
    expect(setup.nango.count('POST', '/connect/sessions')).toBe(made);
    expect(setup.confirmed).toEqual([[alices, 1]]);
  });

  test('is not made when Nango is away, and says so without its words', async () => {
    const { setup, ask } = await asked();
    await setup.nango.down();
    const { status, body } = await ask('', { e: 'q1' });
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'unavailable' });
    expect(JSON.stringify(body) + setup.log.join()).not.toMatch(new RegExp(`ECONN|${setup.nango.apiKey}`));
  });
});

describe('looking', () => {
  test('finds what nobody told, tells the turns, and audits it once', async () => {
    const { setup, ask } = await asked();
    const { body } = await ask('', { e: 'q1' });
    const { attempt } = body;
    await walkThrough(pageOf(setup, body['token']));
    const over = { state: 'over', url: `${setup.publicUrl}/auth/done?e=q1` };
    expect((await ask('/look', { e: 'q1', attempt })).body).toEqual(over);
    expect((await ask('/look', { e: 'q1', attempt })).body).toEqual(over);
    expect(setup.confirmed).toEqual([[alices, 1]]);
    expect(await auditOf(setup)).toEqual([['connected', 'alice', 'tracker']]);
  });

  test('asks Nango only now and then, however often the page asks', async () => {
    const { setup, ask } = await asked();
    const { attempt } = (await ask('', { e: 'q1' })).body;
    const before = setup.nango.count('GET', '/connections');
    for (let times = 0; times < 10; times++)
      expect((await ask('/look', { e: 'q1', attempt })).body).toEqual({ state: 'open' });
    expect(setup.nango.count('GET', '/connections') - before).toBe(1);
    await ask('/look', { e: 'q1' });
    expect(setup.nango.count('GET', '/connections') - before).toBe(1);
  });

  test('goes on while Nango is away', async () => {
    const { setup, ask } = await asked();
    const { attempt } = (await ask('', { e: 'q1' })).body;
    await setup.nango.down();
    expect(await ask('/look', { e: 'q1', attempt })).toEqual({ status: 200, body: { state: 'open' } });
  });

  test('tells of an attempt that was given up by disconnecting', async () => {
    const { setup, ask } = await asked();
    const { attempt } = (await ask('', { e: 'q1' })).body;
    await setup.storage.connectAttempts.dropOf(alices);
    expect((await ask('/look', { e: 'q1', attempt })).body).toEqual({ state: 'lost' });
    expect((await ask('/complete', { e: 'q1', attempt, connectionId: 'c' })).body).toEqual({ state: 'lost' });
  });
});

describe('completing', () => {
  test('believes Nango and nobody else', async () => {
    const { setup, ask } = await asked();
    const { attempt } = (await ask('', { e: 'q1' })).body;
    const foreign = await setup.nango.importConnection('bob', { interlude_attempt: String(attempt) });
    expect((await ask('/complete', { e: 'q1', attempt, connectionId: foreign })).status).toBe(403);
    expect((await ask('/complete', { e: 'q1', attempt, connectionId: crypto.randomUUID() })).status).toBe(
      403,
    );
    expect(await setup.storage.connections.get(alices)).toBeNull();
    expect(await auditOf(setup)).toEqual([
      ['refused', 'alice', 'a connection of another attempt'],
      ['refused', 'alice', 'a connection of another attempt'],
    ]);
  });

  test('twice is the same as once', async () => {
    const { setup, ask } = await asked();
    const { attempt, token } = (await ask('', { e: 'q1' })).body;
    await walkThrough(pageOf(setup, token));
    const connectionId = setup.nango.connections()[0]?.connectionId;
    const url = `${setup.publicUrl}/auth/done?e=q1`;
    const twice = [1, 2].map(() => ask('/complete', { e: 'q1', attempt, connectionId }));
    for (const { body } of await Promise.all(twice)) expect(body).toEqual({ state: 'over', url });
    expect(await setup.storage.connections.get(alices)).toMatchObject({ version: 1 });
    expect(await auditOf(setup)).toHaveLength(1);
  });

  test('that Nango cannot confirm now is no failure of the person’s', async () => {
    const { setup, ask } = await asked();
    const { attempt } = (await ask('', { e: 'q1' })).body;
    await setup.nango.down();
    expect((await ask('/complete', { e: 'q1', attempt, connectionId: 'c' })).status).toBe(503);
  });
});

describe('refused and audited:', () => {
  const paths = ['', '/look', '/complete'] as const;

  test.each(paths)('a request without the token of our page, or from another page (%s)', async (path) => {
    const { setup, ask } = await asked();
    const body = { e: 'q1', attempt: 'a', connectionId: 'c' };
    const wrong = [
      { 'x-csrf-token': 'wrong' },
      { 'x-csrf-token': '' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ];
    for (const headers of wrong) expect((await ask(path, body, headers)).status).toBe(403);
    const refusals = setup.dump()['audit'] as { detail: string }[];
    expect(refusals.map(({ detail }) => detail)).toEqual(wrong.map(() => 'request from another page'));
    expect(setup.nango.requests).toEqual([]);
  });

  test.each(paths)('a request of nobody (%s)', async (path) => {
    const setup = await setUpNangoPages();
    await setup.ask();
    const answer = await post(setup, new Browser(), path, { e: 'q1', attempt: 'a', connectionId: 'c' });
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    expect(setup.dump()['audit']).toMatchObject([{ detail: 'a request without a session' }]);
  });

  test('somebody else’s question, in which not even its server can be learned', async () => {
    const { setup } = await asked();
    const bob = await signedInElsewhere(setup);
    for (const path of ['', '/look'] as const) {
      const { status, body } = await bob.ask(path, { e: 'q1' });
      expect(status).toBe(403);
      expect(JSON.stringify(body)).not.toMatch(/tracker/i);
    }
    expect(await auditOf(setup)).toEqual([
      ['refused', 'bob', 'another user'],
      ['refused', 'bob', 'another user'],
    ]);
  });

  test('a question of another tenant, which does not exist here', async () => {
    const { setup, ask } = await asked();
    await setup.ask({ id: 'q3', tenant: 'elsewhere' });
    expect(await ask('', { e: 'q3' })).toMatchObject({
      status: 404,
      body: { code: 'elicitation_not_found' },
    });
    expect(await setup.storage.audit.ofElicitation('q3')).toMatchObject([
      { tenant: 'elsewhere', actor: 'demo/alice', detail: 'another tenant' },
    ]);
  });

  test('an attempt of somebody else', async () => {
    const { setup, ask } = await asked();
    const { attempt, token } = (await ask('', { e: 'q1' })).body;
    await walkThrough(pageOf(setup, token));
    const connectionId = setup.nango.connections()[0]?.connectionId;
    await setup.ask({ id: 'q4', user: 'bob' });
    const bob = await signedIn(setup, 'bob', 'q4');
    expect((await bob.ask('/look', { e: 'q4', attempt })).status).toBe(403);
    expect((await bob.ask('/complete', { e: 'q4', attempt, connectionId })).status).toBe(403);
    expect(await setup.storage.connections.get({ ...alices, user: 'bob' })).toBeNull();
    expect(await auditOf(setup)).toEqual([
      ['refused', 'bob', 'an attempt of somebody else'],
      ['refused', 'bob', 'an attempt of somebody else'],
    ]);
  });

  test('a server that is nobody’s to connect here', async () => {
    const { ask, setup } = await asked();
    const { status } = await ask('', { server: 'nothing', seenVersion: 0 });
    expect(status).toBe(404);
    expect(setup.dump()['audit']).toMatchObject([
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
    const { setup, ask } = await asked();
    expect(await ask('/look', body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(setup.nango.requests).toEqual([]);
  });

  async function signedInElsewhere(setup: NangoPagesSetup): Promise<Asking> {
    await setup.ask({ id: 'q5', user: 'bob' });
    return signedIn(setup, 'bob', 'q5');
  }
});

describe('the page and its script', () => {
  test('may talk to us and to Nango’s socket, and to nobody else', async () => {
    const setup = await setUpNangoPages();
    await setup.ask();
    const { page } = await setup.openAs('alice');
    const policy = page.headers.get('content-security-policy') ?? '';
    const { host } = new URL(setup.nango.host);
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        `default-src 'none'`,
        `script-src '${timesScriptHash}' 'self'`,
        `connect-src 'self' ws://${host}`,
        `frame-ancestors 'none'`,
        `form-action 'self'`,
      ]),
    );
    expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin-allow-popups');
    const scripts = [...page.text.matchAll(/<script[^>]*>/g)].map(([tag]) => tag);
    expect(scripts).toEqual([
      expect.stringMatching(/^<script type="module" src="[^"]+\/auth\/assets\/[\w-]+\/connect\.js">$/),
      '<script>',
    ]);
    expect(page.text).toContain(timesScript.markup);
  });

  test('no other page runs scripts, but the one for times', async () => {
    const setup = await setUpNangoPages();
    await setup.ask({ deadline: Date.now() - 1 });
    const { browser, page } = await setup.openAs('alice');
    const settings = await browser.open(`${setup.publicUrl}/connections`);
    for (const { headers, text } of [page, settings]) {
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/; script-src 'sha256-[^']+';/);
      expect(policy).not.toContain('connect-src');
      expect(text.replace(timesScript.markup, '')).not.toContain('<script');
    }
  });

  test('its modules may be kept for ever, and nothing but them is served', async () => {
    const setup = await setUpNangoPages();
    await setup.ask();
    const { page } = await setup.openAs('alice');
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
