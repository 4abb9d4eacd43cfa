import fastifyFactory from 'fastify';
import cookies from '@fastify/cookie';
import { expect, test } from 'vitest';
import { createSealedText } from '../../../src/service/sealed-text.ts';
import { createSessions } from '../../../src/api/pages/login/session.ts';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { demoLoginClient } from '../../../demo/identity.ts';
import { Browser, words } from './browser.ts';
import { setUpPages } from './pages-setup.ts';

const sessionCookie = 'interlude-session';

test('a sign-in that comes back to another browser is refused there and still works where it began', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const browser = new Browser();
  const signIn = await browser.open(setup.link('q1'));
  const [, action = ''] = /action="([^"]+)"/.exec(signIn.text) ?? [];
  const identityOnly = new Browser();
  identityOnly.adopt(browser, (cookie) => !cookie.startsWith('interlude'));
  // The identity provider's part, done by the attacker's browser; the code lands in the victim's.
  const refused = await identityOnly.post(new URL(action, signIn.url).href, { user: 'alice' });
  expect(refused.url).toContain('/auth/login/callback?');
  expect(refused.status).toBe(400);
  expect(identityOnly.cookies.has(sessionCookie)).toBe(false);
  expect(words(refused)).toContain('It was begun in another browser');

  const fresh = await setup.openAs('alice');
  expect(fresh.page.status).toBe(200);
});

test('two tabs can sign in at the same time', async () => {
  const setup = await setUpPages();
  await setup.ask();
  await setup.ask({ id: 'q2' });
  const browser = new Browser();
  const first = await browser.open(setup.link('q1'));
  const second = await browser.open(setup.link('q2'));
  expect((await browser.press(second, { user: 'alice' })).url).toBe(setup.link('q2'));
  expect((await browser.press(first, { user: 'alice' })).url).toBe(setup.link('q1'));
});

test('sign-ins that are never finished do not pile up in the browser', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const browser = new Browser();
  const pending = () => [...browser.cookies.keys()].filter((name) => name.startsWith('interlude-sign-in'));
  for (let round = 0; round < 12; round += 1)
    await browser.until(`${setup.publicUrl}/auth/login?e=q1`, setup.identity.issuer);
  expect(pending().length).toBeLessThanOrEqual(8);
  const signIn = await browser.open(setup.link('q1'));
  expect((await browser.press(signIn, { user: 'alice' })).url).toBe(setup.link('q1'));
});

test('an address that names no question is not worth a sign-in', async () => {
  const setup = await setUpPages();
  for (const path of ['connect?e=%00', 'connect?e=a%20b', 'login?e=%00', 'done?e=']) {
    const response = await fetch(`${setup.publicUrl}/auth/${path}`, { redirect: 'manual' });
    expect([path, response.status]).toEqual([path, 404]);
  }
});

test('a sign-in that the person broke off can be begun again', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const browser = new Browser();
  const { url } = await browser.until(`${setup.publicUrl}/auth/login?e=q1`, setup.identity.issuer);
  const state = new URL(url).searchParams.get('state') ?? '';
  const page = await browser.open(
    `${setup.publicUrl}/auth/login/callback?error=access_denied&state=${state}`,
  );
  expect(page.status).toBe(403);
  expect(page.text).toContain(`${setup.publicUrl}/auth/login?e=q1`);
  expect(browser.cookies.has(sessionCookie)).toBe(false);
});

test('an issuer that is away is said to be so', async () => {
  const setup = await setUpPages();
  await setup.ask();
  await setup.identity.stop();
  const page = await new Browser().open(setup.link('q1'));
  expect(page.status).toBe(503);
  expect(words(page)).toContain('Signing in is not possible right now');
});

test('the log says that the issuer refuses our client', async () => {
  const client = { id: demoLoginClient, secret: 'of yesterday' };
  const setup = await setUpPages(undefined, {}, [], {}, undefined, { client });
  await setup.ask();
  const { page } = await setup.openAs('alice');
  expect(page.status).toBe(502);
  const lines = setup.log.map((line) => JSON.parse(line) as object);
  expect(lines).toContainEqual(
    expect.objectContaining({
      level: 50,
      msg: expect.stringContaining('AUTH_CLIENT_SECRET'),
    }),
  );
});

test('a changed or forged session is no session', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const { browser } = await setup.openAs('alice');
  const real = browser.cookies.get(sessionCookie) ?? '';
  const forgeries = [
    `${real.slice(0, -2)}xx`,
    '',
    'v1.k1.AAAA',
    setup.keys.seal('{"user":"alice"}', sessionCookie),
  ];
  for (const forged of forgeries) {
    const response = await fetch(setup.link('q1'), {
      redirect: 'manual',
      headers: { cookie: `${sessionCookie}=${forged}` },
    });
    expect(response.headers.get('location')).toBe(`${setup.publicUrl}/auth/login?e=q1`);
  }
});

test('signing out needs our own form and ends the session, also for a copy of its cookie', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const [, csrf = ''] = /name="csrf"\s+value="([^"]+)"/.exec(page.text) ?? [];
  const url = `${setup.publicUrl}/auth/logout`;
  expect((await browser.post(url, { e: 'q1', csrf: 'wrong' }, setup.publicUrl)).status).toBe(403);
  expect(browser.cookies.has(sessionCookie)).toBe(true);
  const copy = new Browser();
  copy.adopt(browser, (cookie) => cookie === sessionCookie);
  expect((await copy.open(setup.link('q1'))).url).toBe(setup.link('q1'));
  const out = await browser.post(url, { e: 'q1', csrf }, setup.publicUrl);
  expect(words(out)).toContain('You are signed out');
  expect(browser.cookies.has(sessionCookie)).toBe(false);
  const { url: led } = await copy.until(setup.link('q1'), setup.identity.issuer);
  expect(led).toContain(setup.identity.issuer);
  const { status } = await copy.post(`${setup.publicUrl}/auth/logout`, { e: 'q1', csrf }, setup.publicUrl);
  expect(status).toBe(200);
});

test('signing in again ends the session before', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const { browser } = await setup.openAs('alice');
  const copy = new Browser();
  copy.adopt(browser, (cookie) => cookie === sessionCookie);
  const again = await browser.open(`${setup.publicUrl}/auth/login?e=q1&as=other`);
  expect((await browser.press(again, { user: 'alice' })).url).toBe(setup.link('q1'));
  expect((await browser.open(setup.link('q1'))).url).toBe(setup.link('q1'));
  const { url: led } = await copy.until(setup.link('q1'), setup.identity.issuer);
  expect(led).toContain(setup.identity.issuer);
});

test('no page, address or log line shows what the cookies hold', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const cookie = browser.cookies.get(sessionCookie) ?? 'none';
  expect(cookie.length).toBeGreaterThan(100);
  expect(setup.log.join() + page.text + page.trail.join()).not.toContain(cookie);
});

test('with https the cookies are secure and bound to the host; the session is not readable by script', async () => {
  const app = fastifyFactory();
  await app.register(cookies);
  const { endedSessions } = (await setUpPages()).storage;
  const sealedText = createSealedText(parseKeys(generateKey('k1')));
  const sessions = createSessions({ sealedText, endedSessions }, 'https://agents.example');
  app.get('/', async (request, reply) => {
    await sessions.start(request, reply, { kind: 'user', tenant: 'demo', user: 'alice' });
    return 'ok';
  });
  const { headers } = await app.inject('/');
  const cookie = String(headers['set-cookie']);
  expect(cookie).toMatch(/^__Host-interlude-session=v1\.k1\./);
  expect(cookie).toMatch(/Path=\/; HttpOnly; Secure; SameSite=Lax/);
  expect(cookie).not.toMatch(/Domain/i);
  expect(cookie).toContain('Max-Age=3600');
});

test('without https, on one machine, they are the same but for what needs https', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const { headers } = await fetch(`${setup.publicUrl}/auth/login?e=q1`, { redirect: 'manual' });
  const [cookie = '', ...more] = headers.getSetCookie();
  expect(more).toEqual([]);
  expect(cookie).toMatch(
    /^interlude-sign-in-[0-9a-f]{12}=v1\.k1\.[^;]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
  );
});

test('a session sealed before the key was replaced still counts', async () => {
  const [oldKey, newKey] = [generateKey('old'), generateKey('new')];
  const app = fastifyFactory();
  await app.register(cookies);
  const { endedSessions } = (await setUpPages()).storage;
  const sessionsWith = (keys: string) =>
    createSessions({ sealedText: createSealedText(parseKeys(keys)), endedSessions }, 'http://localhost');
  const before = sessionsWith(oldKey);
  const after = sessionsWith(`${newKey},${oldKey}`);
  app.get('/in', async (request, reply) => {
    await before.start(request, reply, { kind: 'user', tenant: 'demo', user: 'alice' });
    return 'ok';
  });
  app.get('/who', async (request) => {
    await after.open(request);
    return { user: after.read(request)?.user };
  });
  const { cookies: given } = await app.inject('/in');
  const { json } = await app.inject({ url: '/who', cookies: { [sessionCookie]: given[0]?.value ?? '' } });
  expect(json()).toEqual({ user: 'alice' });
});
