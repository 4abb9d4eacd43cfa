/** Known attacks on sign-in and consent pages, tried on ours: each is refused, changes nothing, and is audited. */
import { describe, expect, test } from 'vitest';
import { issuerTag } from '../../src/credentials/mcp-oauth/client-metadata.ts';
import type { AuditEntry } from '../../src/storage/schema/question-tables.ts';
import { Browser, onward, unescaped, words } from '../api/pages/browser.ts';
import type { Shown } from '../api/pages/browser.ts';
import sent from '../api/pages/open-redirects.json' with { type: 'json' };
import { createAttackedPages, formOf } from './attacked-pages.ts';
import type { AttackedPages } from './attacked-pages.ts';
import { endQuestion } from '../storage/end-question.ts';

interface Attack {
  name: string;
  status: number;
  /** The audit entry; null where nothing is refused, so that there is none. */
  audit: Partial<AuditEntry> | null;
  /** Prepares the attack, and returns it as a function. */
  arrange(setup: AttackedPages): Promise<() => Promise<Shown>>;
}

const bob = { tenant: 'demo', actor: 'bob' };
const alice = { tenant: 'demo', actor: 'alice' };
const nobody = { tenant: '', actor: null };
const json = { 'content-type': 'application/json' };

const attacks: Attack[] = [
  /* ---- somebody else's question ---------------------------------------------------------------------- */
  {
    name: 'opening the question of another user',
    status: 403,
    audit: { ...bob, elicitationId: 'q1', detail: 'another user' },
    async arrange({ ask, at, link }) {
      await ask();
      const { browser } = await at('bob', 'q2');
      return () => browser.open(link('q1'));
    },
  },
  ...(['connect', 'decline', 'cancel'] as const).map((action): Attack => ({
    name: `answering it with ${action} and a form of one’s own`,
    status: 403,
    audit: { ...bob, elicitationId: 'q1', detail: 'another user' },
    async arrange({ ask, at }) {
      await ask();
      const { browser, page } = await at('bob', 'q2');
      return () => browser.press(page, { action }, { e: 'q1' });
    },
  })),
  {
    name: 'answering it with the form and the token of its owner, and cookies of one’s own',
    status: 403,
    audit: { ...bob, elicitationId: 'q1', detail: 'form from another page' },
    async arrange({ at, publicUrl }) {
      const { page } = await at('alice', 'q1');
      const { browser } = await at('bob', 'q2');
      return () => browser.post(`${publicUrl}/auth/connect`, formOf(page, { action: 'connect' }), publicUrl);
    },
  },
  {
    name: 'opening the question of a namesake in another tenant',
    status: 404,
    audit: { tenant: 'acme', actor: 'demo/alice', elicitationId: 'acme', detail: 'another tenant' },
    async arrange({ ask, at, link }) {
      await ask({ id: 'acme', tenant: 'acme' });
      const { browser } = await at('alice', 'q1');
      return () => browser.open(link('acme'));
    },
  },
  {
    name: 'answering the question of a namesake in another tenant',
    status: 404,
    audit: { tenant: 'acme', actor: 'demo/alice', elicitationId: 'acme', detail: 'another tenant' },
    async arrange({ ask, at }) {
      await ask({ id: 'acme', tenant: 'acme' });
      const { browser, page } = await at('alice', 'q1');
      return () => browser.press(page, { action: 'decline' }, { e: 'acme' });
    },
  },

  /* ---- the way to the provider and back --------------------------------------------------------------- */
  {
    name: 'a provider link that is forwarded: somebody else gives their account',
    status: 400,
    audit: { ...bob, detail: 'callback without an attempt in this browser' },
    async arrange({ at, backFromProvider }) {
      const { leaving } = await backFromProvider('alice', 'q1');
      const { browser } = await at('bob', 'q2');
      return () => browser.open(leaving);
    },
  },
  {
    name: 'a provider link that is forwarded to somebody who is not signed in here',
    status: 400,
    audit: { ...nobody, detail: 'a callback without a session' },
    async arrange({ backFromProvider }) {
      const { leaving } = await backFromProvider('alice', 'q1');
      return () => new Browser().open(leaving);
    },
  },
  {
    name: 'a callback with the attacker’s account, opened by its victim',
    status: 400,
    audit: { ...bob, detail: 'callback without an attempt in this browser' },
    async arrange({ at, backFromProvider }) {
      const { callback } = await backFromProvider('alice', 'q1');
      const { browser } = await at('bob', 'q2');
      return () => browser.open(callback.href);
    },
  },
  {
    name: 'a callback in another browser of the same user',
    status: 400,
    audit: { ...alice, detail: 'callback without an attempt in this browser' },
    async arrange({ openAs, backFromProvider }) {
      const { callback } = await backFromProvider('alice', 'q1');
      const { browser } = await openAs('alice', 'q1');
      return () => browser.open(callback.href);
    },
  },
  {
    name: 'a callback after signing in again in the same browser',
    status: 400,
    audit: { ...alice, detail: 'callback without an attempt in this browser' },
    async arrange({ publicUrl, backFromProvider }) {
      const { browser, callback } = await backFromProvider('alice', 'q1');
      await browser.open(`${publicUrl}/auth/login?e=q1`);
      return () => browser.open(callback.href);
    },
  },
  {
    name: 'the same callback twice',
    status: 400,
    audit: { ...alice, detail: 'callback without an attempt in this browser' },
    async arrange({ backFromProvider }) {
      const { browser, callback } = await backFromProvider('alice', 'q1');
      expect(words(await browser.open(callback.href))).toContain('Tracker is connected');
      return () => browser.open(callback.href);
    },
  },
  ...['', 'state=', `state=${'x'.repeat(43)}`, 'state=a&state=b', 'error=access_denied'].map(
    (query): Attack => ({
      name: `a callback that names no attempt: "${query}"`,
      status: 400,
      audit: { ...alice, detail: 'callback without an attempt in this browser' },
      async arrange({ publicUrl, backFromProvider }) {
        const { browser, callback } = await backFromProvider('alice', 'q1');
        const code = new URLSearchParams({ code: callback.searchParams.get('code') ?? '' }).toString();
        return () => browser.open(`${publicUrl}/auth/callback/x?${query}&${code}`);
      },
    }),
  ),

  /* ---- forms that are not ours ------------------------------------------------------------------------ */
  ...foreignForms('/auth/connect', { action: 'decline' }, 'q1'),
  ...foreignForms('/auth/connect', { action: 'connect' }, 'q1'),
  ...foreignForms('/connections', { server: 'tracker', action: 'connect' }, ''),
  ...foreignForms('/connections', { server: 'tracker', action: 'disconnect' }, ''),
  ...foreignForms('/auth/logout', {}, ''),
  {
    name: 'deciding by a link',
    status: 200,
    audit: null,
    async arrange({ at, publicUrl }) {
      const { browser, page } = await at('alice', 'q1');
      const decision = new URLSearchParams(formOf(page, { action: 'decline' })).toString();
      return () => browser.open(`${publicUrl}/auth/connect?${decision}`);
    },
  },
  ...['put', 'delete', 'patch'].map((method): Attack => ({
    name: `deciding by ${method}`,
    status: 404,
    audit: null,
    async arrange({ at, publicUrl }) {
      const { browser } = await at('alice', 'q1');
      const headers = { origin: publicUrl, 'x-http-method-override': 'POST' };
      return () => browser.send(`${publicUrl}/auth/connect?e=q1`, { method: method.toUpperCase(), headers });
    },
  })),
  {
    name: 'a form of somebody who is not signed in',
    status: 403,
    audit: { ...nobody, elicitationId: 'q1', detail: 'a form without a session' },
    async arrange({ at, publicUrl }) {
      const { page } = await at('alice', 'q1');
      return () =>
        new Browser().post(`${publicUrl}/auth/connect`, formOf(page, { action: 'decline' }), publicUrl);
    },
  },

  /* ---- links that are over ---------------------------------------------------------------------------- */
  {
    name: 'opening a link that has expired',
    status: 410,
    audit: null,
    async arrange({ ask, at, link }) {
      await ask({ deadline: Date.now() - 1 });
      const { browser } = await at('alice', 'q2');
      return () => browser.open(link('q1'));
    },
  },
  ...(['expired', 'decline', 'cancel'] as const).flatMap((outcome) =>
    (['connect', 'decline'] as const).map((action): Attack => ({
      name: `answering with ${action} what is over with ${outcome}`,
      status: 410,
      audit: { ...alice, elicitationId: 'q1', detail: 'an answer nobody waits for' },
      async arrange({ at, storage }) {
        const { browser, page } = await at('alice', 'q1');
        await endQuestion(storage, 'q1', outcome);
        return () => browser.press(page, { action });
      },
    })),
  ),

  /* ---- sessions --------------------------------------------------------------------------------------- */
  {
    name: 'a sign-in that is finished in another browser',
    status: 400,
    audit: { ...nobody, detail: 'a sign-in that this browser did not begin' },
    async arrange({ ask, link, identity, publicUrl }) {
      await ask();
      const browser = new Browser();
      const signIn = await browser.open(link('q1'));
      const [, action = ''] = /action="([^"]+)"/.exec(signIn.text) ?? [];
      const attackers = new Browser();
      attackers.adopt(browser, (cookie) => !cookie.startsWith('interlude'));
      expect(new URL(signIn.url).origin).toBe(identity.issuer);
      expect(publicUrl).not.toBe(identity.issuer);
      return () => attackers.post(new URL(action, signIn.url).href, { user: 'alice' });
    },
  },
  {
    name: 'the same sign-in twice',
    status: 400,
    audit: { ...alice, detail: 'a sign-in that this browser did not begin' },
    async arrange({ ask, link }) {
      await ask();
      const browser = new Browser();
      const page = await browser.press(await browser.open(link('q1')), { user: 'alice' });
      const callback = page.trail.find((url) => url.includes('/auth/login/callback')) ?? '';
      return () => browser.open(callback);
    },
  },
  {
    name: 'the code of another sign-in, brought to one’s own',
    status: 502,
    audit: { ...nobody, detail: 'a sign-in whose answer cannot be used' },
    async arrange({ ask, link, publicUrl, identity }) {
      await ask();
      const stolen = new Browser();
      const { trail } = await stolen.press(await stolen.open(link('q1')), { user: 'alice' });
      const code = new URL(trail.find((url) => url.includes('code=')) ?? '').searchParams.get('code') ?? '';
      const browser = new Browser();
      const begun = await browser.until(`${publicUrl}/auth/login?e=q1`, identity.issuer);
      const state = new URL(begun.url).searchParams.get('state') ?? '';
      const answer = new URLSearchParams({ code, state, iss: identity.issuer }).toString();
      return () => browser.open(`${publicUrl}/auth/login/callback?${answer}`);
    },
  },
  {
    name: 'a session cookie that was changed',
    status: 403,
    audit: { ...nobody, elicitationId: 'q1', detail: 'a form without a session' },
    async arrange({ at, publicUrl }) {
      const { browser, page } = await at('alice', 'q1');
      const sealed = browser.cookies.get('interlude-session') ?? '';
      browser.cookies.set('interlude-session', `${sealed.slice(0, -8)}AAAAAAAA`);
      return () => browser.post(`${publicUrl}/auth/connect`, formOf(page, { action: 'decline' }), publicUrl);
    },
  },
  {
    name: 'a cookie sealed by us for something else, as a session',
    status: 403,
    audit: { ...nobody, elicitationId: 'q1', detail: 'a form without a session' },
    async arrange({ at, publicUrl, keys }) {
      const { browser, page } = await at('alice', 'q1');
      const session = { id: 'x', tenant: 'demo', user: 'alice', csrf: 'x', expiresAt: Date.now() + 60_000 };
      browser.cookies.set('interlude-session', keys.seal(JSON.stringify(session), 'interlude-sign-in-0'));
      return () => browser.post(`${publicUrl}/auth/connect`, formOf(page, { action: 'decline' }), publicUrl);
    },
  },
  {
    name: 'a session that has run out',
    status: 403,
    audit: { ...nobody, elicitationId: 'q1', detail: 'a form without a session' },
    async arrange({ at, publicUrl, keys }) {
      const { browser, page } = await at('alice', 'q1');
      const session = { id: 'x', tenant: 'demo', user: 'alice', csrf: 'x', expiresAt: Date.now() - 1 };
      browser.cookies.set('interlude-session', keys.seal(JSON.stringify(session), 'interlude-session'));
      return () => browser.post(`${publicUrl}/auth/connect`, formOf(page, { action: 'decline' }), publicUrl);
    },
  },

  /* ---- what is not theirs ----------------------------------------------------------------------------- */
  {
    name: 'connecting a server that does not exist',
    status: 404,
    audit: { ...alice, detail: 'connecting what is not a connection of their own' },
    async arrange({ publicUrl, at }) {
      const { browser } = await at('alice', 'q1');
      const page = await browser.open(`${publicUrl}/connections`);
      return () => browser.press(page, { action: 'connect' }, { server: 'another' });
    },
  },
  {
    name: 'disconnecting a server that does not exist',
    status: 404,
    audit: { ...alice, detail: 'disconnecting what is not a connection of their own' },
    async arrange({ publicUrl, at }) {
      const { browser } = await at('alice', 'q1');
      const page = await browser.open(`${publicUrl}/connections`);
      return () => browser.press(page, { action: 'disconnect' }, { server: 'another' });
    },
  },
];

/** Every way in which a form can come from somewhere else. */
function foreignForms(path: string, button: Record<string, string>, elicitationId: string): Attack[] {
  const what = `${path} ${JSON.stringify(button)}`;
  const ways: [
    name: string,
    status: number,
    detail: string,
    init: (form: Form, publicUrl: string) => RequestInit,
  ][] = [
    ['no token', 400, 'an incomplete form', ({ csrf: _, ...form }, origin) => post(form, { origin })],
    [
      'an empty token',
      403,
      'form from another page',
      (form, origin) => post({ ...form, csrf: '' }, { origin }),
    ],
    [
      'a guessed token',
      403,
      'form from another page',
      (form, origin) => post({ ...form, csrf: 'x'.repeat(43) }, { origin }),
    ],
    [
      'a foreign origin',
      403,
      'form from another page',
      (form) => post(form, { origin: 'https://evil.example' }),
    ],
    [
      'an origin that begins like ours',
      403,
      'form from another page',
      (form, origin) => post(form, { origin: `${origin}.evil.example` }),
    ],
    ['the origin null', 403, 'form from another page', (form) => post(form, { origin: 'null' })],
    ['no origin', 403, 'form from another page', (form) => post(form, {})],
    [
      'JSON',
      415,
      'a form that cannot be read',
      (form, origin) => ({ method: 'POST', headers: { ...json, origin }, body: JSON.stringify(form) }),
    ],
    [
      'plain text',
      415,
      'a form that cannot be read',
      (form, origin) => ({
        method: 'POST',
        headers: { 'content-type': 'text/plain', origin },
        body: String(new URLSearchParams(form)),
      }),
    ],
    [
      'a form of parts',
      415,
      'a form that cannot be read',
      (form, origin) => ({ method: 'POST', headers: { origin }, body: partsOf(form) }),
    ],
  ];
  return ways.map(([name, status, detail, init]) => ({
    name: `${what} with ${name}`,
    status,
    audit: { ...alice, elicitationId: detail === 'form from another page' ? elicitationId : '', detail },
    async arrange({ at, publicUrl }) {
      const { browser, page } = await at('alice', 'q1');
      const form = formOf(page, button);
      return () => browser.send(publicUrl + path, init(form, publicUrl));
    },
  }));
}

type Form = Record<string, string>;

function post(form: Form, headers: Record<string, string>): RequestInit {
  return { method: 'POST', headers, body: new URLSearchParams(form) };
}

function partsOf(form: Form): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(form)) data.set(name, value);
  return data;
}

describe('refused, without effect, and on record', () => {
  test.each(attacks)('$name', async ({ status, audit, arrange }) => {
    const setup = await createAttackedPages();
    const attack = await arrange(setup);
    const [before, linesBefore] = [setup.state(), setup.audited().length];
    const answers = setup.answers.length;
    const shown = await attack();
    expect(shown.status).toBe(status);
    expect(setup.state()).toEqual(before);
    expect(setup.answers).toHaveLength(answers);
    const lines = setup.audited().slice(linesBefore);
    const line = { elicitation_id: audit?.elicitationId ?? '', action: 'refused', address: '127.0.0.1' };
    const { elicitationId: _, ...rest } = audit ?? {};
    expect(lines).toMatchObject(audit === null ? [] : [{ ...rest, ...line }]);
  });

  test('the table is all there', () => {
    expect(attacks.length).toBeGreaterThan(80);
  });
});

describe('open redirects', () => {
  const entrances: [path: string, form?: Record<string, string>][] = [
    ['/auth/connect?e=q1'],
    ['/auth/done?e=q1'],
    ['/auth/login?e=q1'],
    ['/auth/login?to=connections&as=other'],
    ['/connections'],
    ['/connections?connected=tracker'],
    ['/connections/disconnect?server=tracker'],
    ['/auth/connect', { action: 'decline' }],
    ['/auth/connect', { action: 'connect' }],
    ['/connections', { action: 'connect', server: 'tracker' }],
    ['/auth/logout', {}],
  ];

  test.each(entrances)('%s %j leads nowhere but where it may', async (path, button) => {
    const setup = await createAttackedPages();
    const { browser, page } = await setup.at('alice', 'q1');
    const before = setup.state();
    const openRedirects = Object.values(sent.openRedirects).flat();
    for (const returnUrl of openRedirects) {
      const url = new URL(path, setup.publicUrl);
      if (!button) url.searchParams.set('returnUrl', returnUrl);
      const init = button
        ? post({ ...formOf(page, button), returnUrl }, { origin: setup.publicUrl })
        : { method: 'GET' };
      const shown = await browser.send(url.href, init);
      expect([returnUrl, shown.status, shown.trail]).toEqual([returnUrl, 400, []]);
      expect(shown.text).not.toMatch(/evil|app\.example|<script|javascript/i);
    }
    expect(setup.state()).toEqual(before);
    const lines = setup.audited();
    expect(lines).toHaveLength(openRedirects.length);
    for (const { detail, action, actor } of lines) {
      expect([action, actor]).toEqual(['refused', 'alice']);
      // The host and nothing else: the rest may be a secret.
      expect(detail).toMatch(/^a way back that is not allowed: (no web address|[a-z0-9.:[\]%-]+)$/);
    }
  });

  test('no other parameter leads anywhere, and neither does the host that a request names', async () => {
    const setup = await createAttackedPages();
    const { browser } = await setup.at('alice', 'q1');
    const elsewhere = 'https://evil.example/';
    for (const name of ['to', 'next', 'url', 'redirect', 'redirect_uri', 'return_to', 'goto', 'continue']) {
      for (const path of ['/auth/connect?e=q1', '/auth/login?e=q1', '/connections']) {
        const url = new URL(path, setup.publicUrl);
        url.searchParams.set(name, elsewhere);
        const shown = await browser.open(url.href);
        expect(shown.trail.filter((hop) => new URL(hop).host === 'evil.example')).toEqual([]);
        expect(shown.text).not.toContain('evil.example');
      }
    }
    const headers = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      'x-original-url': elsewhere,
    };
    const signIn = await new Browser().send(setup.link('q1'), { headers });
    expect(signIn.trail[0]).toBe(`${setup.publicUrl}/auth/login?e=q1`);
    expect((await browser.send(setup.link('q1'), { headers })).text).not.toContain('evil.example');
  });
});

describe('answers of sign-in servers that are not the ones that were asked', () => {
  const foreign = 'a callback from another sign-in server: tracker';
  const useless = 'a callback that cannot be used: tracker';
  const cases: [name: string, detail: string, change: (own: URL, other: URL) => void][] = [
    ['another issuer', foreign, ({ searchParams }) => searchParams.set('iss', 'https://evil.example')],
    ['no issuer, where it promised one', foreign, ({ searchParams }) => searchParams.delete('iss')],
    [
      'the code of somebody else',
      useless,
      (own, other) => own.searchParams.set('code', other.searchParams.get('code') ?? ''),
    ],
    ['a code that nobody gave', useless, ({ searchParams }) => searchParams.set('code', 'x'.repeat(43))],
    ...[`/${issuerTag('https://another.example')}`, '/x'].map((end): (typeof cases)[number] => [
      `an answer at the address of another one: "${end}"`,
      foreign,
      (own) => (own.pathname = `/auth/callback${end}`),
    ]),
    ['no code', useless, ({ searchParams }) => searchParams.delete('code')],
  ];

  test.each(cases)('%s connects nobody', async (_, detail, change) => {
    const setup = await createAttackedPages();
    const { callback: bobs } = await setup.backFromProvider('bob', 'q2');
    const { browser, callback } = await setup.backFromProvider('alice', 'q1');
    change(callback, bobs);
    const shown = await browser.open(callback.href);
    expect(shown.status).toBe(502);
    expect(connectionsIn(setup)).toEqual([]);
    expect(await setup.storage.elicitations.get('q1')).toMatchObject({ status: 'pending' });
    expect(shown.text).not.toContain('evil.example');
    expect(setup.audited()).toMatchObject([
      { ...alice, elicitation_id: 'q1', action: 'refused', detail, address: '127.0.0.1' },
    ]);
    // The person can go on right there.
    expect(words(shown)).toMatch(/Try again Not now/);
  });

  test('the answer of one server, with the state of another, connects neither', async () => {
    const setup = await createAttackedPages();
    const { browser, callback: first } = await setup.backFromProvider('alice', 'q1');
    const page = await browser.open(`${setup.publicUrl}/connections`);
    const leaving = onward(await browser.press(page, { action: 'connect', server: 'ledger' }));
    expect(new URL(leaving).origin).toBe(setup.ledger.authorization.issuer);
    const state = new URL(leaving).searchParams.get('state') ?? '';
    first.searchParams.set('state', state);
    const shown = await browser.open(first.href);
    expect(shown.status).toBe(502);
    expect(connectionsIn(setup)).toEqual([]);
    expect(setup.audited().at(-1)?.detail).toBe('a callback from another sign-in server: ledger');
    expect(setup.ledger.authorization.tokenRequests).toEqual([]);
  });
});

describe('sessions', () => {
  test('a session that somebody planted before is not the one that is signed in', async () => {
    const setup = await createAttackedPages();
    const { browser: attacker } = await setup.at('bob', 'q2');
    await setup.ask();
    const victim = new Browser();
    victim.adopt(attacker, (cookie) => cookie === 'interlude-session');
    const planted = victim.cookies.get('interlude-session');
    const refused = await victim.open(setup.link('q1'));
    expect(words(refused)).toContain('You are signed in as Bob');
    const other = unescaped(/href="([^"]*as=other)"/.exec(refused.text)?.[1] ?? '');
    const page = await victim.press(await victim.open(other), { user: 'alice' });
    expect(words(page)).toContain('Signed in as Alice');
    expect(victim.cookies.get('interlude-session')).not.toBe(planted);
    expect(attacker.cookies.get('interlude-session')).toBe(planted);
    expect((await attacker.open(setup.link('q1'))).status).toBe(403);
    expect((await attacker.press(page, { action: 'connect' })).status).toBe(403);
  });

  test('signing out ends it; what was on the screen does nothing any more', async () => {
    const setup = await createAttackedPages();
    const { browser, page } = await setup.at('alice', 'q1');
    const { csrf = '' } = formOf(page, {});
    await browser.post(`${setup.publicUrl}/auth/logout`, { e: 'q1', csrf }, setup.publicUrl);
    expect((await browser.press(page, { action: 'decline' })).status).toBe(403);
    expect(setup.answers).toEqual([]);
  });
});

describe('link scanners', () => {
  const paths = [
    '/auth/connect?e=q1',
    '/auth/connect?e=q1&returnUrl=https%3A%2F%2Fapp.example%2Fchat%2F42',
    '/auth/connect?e=q1&action=connect&csrf=x',
    '/auth/connect?e=q1&action=decline&csrf=x',
    '/auth/done?e=q1',
    '/auth/login?e=q1',
    '/auth/login?to=connections',
    '/connections',
    '/connections?server=tracker&action=disconnect',
    '/connections/disconnect?server=tracker',
    `/auth/client/${issuerTag('https://sign-in.example')}.json`,
  ];

  test.each(['GET', 'HEAD'])('%s of every address changes nothing and signs nobody in', async (method) => {
    const setup = await createAttackedPages();
    const { browser } = await setup.at('alice', 'q1');
    await setup.openAs('bob', 'q1');
    // The issuer knows Alice's browser and signs her in again, which ends the session that her browser had.
    const state = () => ({ ...setup.dump(), ended_sessions: [] });
    const before = state();
    for (const path of paths) {
      for (const how of [{}, { purpose: 'prefetch', 'sec-purpose': 'prefetch' }]) {
        const response = await fetch(setup.publicUrl + path, { method, headers: how, redirect: 'manual' });
        await response.body?.cancel();
        expect([path, response.status < 400]).toEqual([path, true]);
        expect(response.headers.getSetCookie().join()).not.toContain('-session=');
        await browser.send(setup.publicUrl + path, { method, headers: how });
      }
    }
    expect(state()).toEqual(before);
    expect(Object.values(before).flat().length).toBeGreaterThan(3);
    expect((await browser.open(setup.link('q1'))).text).toContain('Connect Tracker');
  });
});

/** Opening a question leaves a row without an account, to be locked. */
function connectionsIn(setup: Pick<Awaited<ReturnType<typeof createAttackedPages>>, 'state'>) {
  return setup.state()['connections']?.filter((row) => (row as { version: number }).version > 0);
}
