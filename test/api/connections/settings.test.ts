/** The settings page over plain HTTP: what it refuses, and that looking changes nothing. */
import { expect, test } from 'vitest';
import { timesScript } from '../../../src/api/pages/elements.ts';
import { startGuardedServer, serverConfig } from '../../credentials/guarded-server.ts';
import { Browser, onward, words } from '../pages/browser.ts';
import type { Shown } from '../pages/browser.ts';
import { setUpPages } from '../pages/pages-setup.ts';
import { putAccount } from './accounts.ts';

const alices = { tenant: 'demo', server: 'tracker', user: 'alice' };
const away = 'http://127.0.0.1:9/mcp';

type PagesSetup = Awaited<ReturnType<typeof setUpPages>>;

async function openAs(setup: PagesSetup, user: string, browser = new Browser()) {
  const signIn = await browser.open(`${setup.publicUrl}/connections`);
  return { browser, page: await browser.press(signIn, { user }) };
}

function csrfOf(page: Shown): string {
  return /name="csrf"\s+value="([^"]+)"/.exec(page.text)?.[1] ?? '';
}

/** A setup in which alice has an account at a provider that is unreachable. */
async function setUpConnected() {
  const setup = await setUpPages(serverConfig(away));
  await putAccount(setup, { key: alices, serverUrl: away });
  const press = (
    browser: Browser,
    fields: Record<string, string>,
    origin: string | undefined = setup.publicUrl,
  ) => browser.post(`${setup.publicUrl}/connections`, fields, origin);
  return { ...setup, press };
}

test('signing in leads to the settings page and nowhere else', async () => {
  const setup = await setUpPages();
  const { page } = await openAs(setup, 'alice');
  expect(page.url).toBe(`${setup.publicUrl}/connections`);
  expect(words(page)).toContain('Signed in as Alice');
  for (const query of [
    '',
    '?to=https://evil.example',
    '?to=//evil.example',
    '?to=connections/../x',
    '?to=',
  ]) {
    const response = await fetch(`${setup.publicUrl}/auth/login${query}`, { redirect: 'manual' });
    expect([query, response.status]).toEqual([query, 404]);
  }
});

test('whoever connects here tells every turn of theirs that waits, without a question of their own', async () => {
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config);
  const { browser, page } = await openAs(setup, 'alice');
  const leaving = await browser.press(page, { action: 'connect' }, { csrf: csrfOf(page), server: 'tracker' });
  const done = await browser.open(onward(leaving));
  expect(done.url).toBe(`${setup.publicUrl}/connections?connected=tracker`);
  expect(words(done)).toContain('Tracker is connected as alice@example.com');
  expect(setup.confirmed).toEqual([[alices, 1]]);
  expect(await setup.storage.audit.ofElicitation('')).toMatchObject([
    { action: 'connected', actor: 'alice', detail: 'tracker' },
  ]);
});

test('connecting again asks for what was granted before', async () => {
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config);
  const scopes = ['issues:write', 'offline_access'];
  const { issuer } = tracker.authorization;
  await putAccount(setup, { key: alices, serverUrl: tracker.config.url, scopes, issuer });
  const { browser, page } = await openAs(setup, 'alice');
  const leaving = await browser.press(page, { action: 'connect' });
  await browser.open(onward(leaving));
  expect(tracker.authorization.authorizations.at(-1)?.get('scope')).toBe(
    'issues:write offline_access openid email',
  );
});

test('what the page says of a new connection, it says only of one', async () => {
  const setup = await setUpConnected();
  const { browser } = await openAs(setup, 'bob');
  for (const news of ['tracker', 'unknown', '%00', 'a&connected=b']) {
    const page = await browser.open(`${setup.publicUrl}/connections?connected=${news}`);
    expect([news, page.status, page.text.includes('class="news"')]).toEqual([news, 200, false]);
  }
  const alice = (await openAs(setup, 'alice')).browser;
  for (const [news, isSaid] of [['tracker', true] as const, ['unknown', false] as const]) {
    const page = await alice.open(`${setup.publicUrl}/connections?connected=${news}`);
    expect([news, page.text.includes('class="news"')]).toEqual([news, isSaid]);
  }
});

test('looking changes nothing, signed in or not, whatever the address says', async () => {
  const setup = await setUpConnected();
  const { browser, page } = await openAs(setup, 'alice');
  const before = setup.dump();
  const action = `server=tracker&action=disconnect&csrf=${csrfOf(page)}`;
  for (const path of [
    '',
    `?${action}`,
    `/disconnect?${action}`,
    '/disconnect',
    '/disconnect?server=unknown',
  ]) {
    expect((await browser.open(`${setup.publicUrl}/connections${path}`)).status).toBe(200);
    await new Browser().open(`${setup.publicUrl}/connections${path}`);
  }
  expect(setup.dump()).toEqual(before);
  expect(before['connections']).toHaveLength(1);
});

test('a form counts only with the token and the origin of our own page; refusals are audited', async () => {
  const setup = await setUpConnected();
  const { browser, page } = await openAs(setup, 'alice');
  const bobs = csrfOf((await openAs(setup, 'bob')).page);
  const good = { server: 'tracker', action: 'disconnect', csrf: csrfOf(page) };
  const { csrf: _, ...withoutToken } = good;
  expect(bobs).not.toBe(good.csrf);

  expect((await setup.press(browser, withoutToken)).status).toBe(400);
  expect((await setup.press(browser, { ...good, action: 'forget' })).status).toBe(400);
  expect((await setup.press(browser, { ...good, csrf: '' })).status).toBe(403);
  expect((await setup.press(browser, { ...good, csrf: bobs })).status).toBe(403);
  expect((await setup.press(browser, good, 'https://evil.example')).status).toBe(403);
  expect((await setup.press(browser, good, 'null')).status).toBe(403);
  expect((await browser.post(`${setup.publicUrl}/connections`, good)).status).toBe(403);
  expect((await setup.press(browser, { ...good, action: 'connect', csrf: bobs })).status).toBe(403);
  expect((await setup.press(new Browser(), good)).status).toBe(403);
  expect(await setup.storage.connections.get(alices)).toMatchObject({ status: 'active' });
  expect(setup.dump()['oauth_attempts']).toEqual([]);
  const audited = await setup.storage.audit.ofElicitation('');
  expect(audited.map(({ actor, action, detail }) => [actor, action, detail])).toEqual([
    ...Array.from({ length: 2 }, () => ['alice', 'refused', 'an incomplete form']),
    ...Array.from({ length: 6 }, () => ['alice', 'refused', 'form from another page']),
    [null, 'refused', 'a form without a session'],
  ]);

  expect((await setup.press(browser, good)).status).toBe(200);
  expect(await setup.storage.connections.get(alices)).toBeNull();
});

test('bob with a form of his own ends and replaces nothing of alice’s', async () => {
  const setup = await setUpConnected();
  const before = await setup.storage.connections.get(alices);
  const { browser, page } = await openAs(setup, 'bob');
  expect(page.text).not.toContain('alice@example.com');
  const csrf = csrfOf(page);
  const done = await setup.press(browser, { server: 'tracker', action: 'disconnect', csrf, user: 'alice' });
  expect(words(done)).toContain('It was disconnected before');
  expect(await setup.storage.connections.get(alices)).toEqual(before);
});

test('a user of the same name in another tenant has other connections', async () => {
  const setup = await setUpConnected();
  const elsewhere = { ...alices, tenant: 'acme' };
  await putAccount(setup, { key: elsewhere, serverUrl: away, account: 'alice@acme.example' });
  const { browser, page } = await openAs(setup, 'alice');
  expect(words(page)).not.toContain('acme');
  await setup.press(browser, { server: 'tracker', action: 'disconnect', csrf: csrfOf(page) });
  expect(await setup.storage.connections.get(elsewhere)).toMatchObject({ status: 'active' });
});

test('a shared account and one that does not exist cannot be changed here; it is audited', async () => {
  const shared = serverConfig(away, { credentialScope: 'project' });
  const setup = await setUpPages(shared);
  const key = { ...alices, user: null };
  await putAccount(setup, { key, serverUrl: away });
  const { browser, page } = await openAs(setup, 'alice');
  expect(page.text).not.toContain('action="connect"');
  for (const server of ['tracker', 'unknown'])
    for (const action of ['connect', 'disconnect']) {
      const fields = { server, action, csrf: csrfOf(page) };
      const refused = await browser.post(`${setup.publicUrl}/connections`, fields, setup.publicUrl);
      expect([server, action, refused.status]).toEqual([server, action, 404]);
    }
  expect(await setup.storage.connections.get(key)).toMatchObject({ version: 1, status: 'active' });
  expect(setup.dump()['oauth_attempts']).toEqual([]);
  const refusals = (await setup.storage.audit.ofElicitation('')).map(({ detail }) => detail);
  expect(refusals).toEqual([
    'connecting what is not a connection of their own',
    'tracker: disconnecting a shared account',
    'connecting what is not a connection of their own',
    'disconnecting what is not a connection of their own',
  ]);
});

test('a callback in another browser is refused and audited, and the right one can still finish', async () => {
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config);
  const { browser, page } = await openAs(setup, 'alice');
  const leaving = await browser.press(page, { action: 'connect' });
  const callback = await browser.until(onward(leaving), `${setup.publicUrl}/auth/callback`);

  const victim = await openAs(setup, 'bob');
  expect(words(await victim.browser.open(callback.url))).toContain('Connecting was begun in another browser');
  const otherWindow = await openAs(setup, 'alice');
  expect((await otherWindow.browser.open(callback.url)).status).toBe(400);
  expect((await new Browser().open(callback.url)).status).toBe(400);
  expect(await setup.storage.connections.get(alices)).toBeNull();
  expect(await setup.storage.connections.get({ ...alices, user: 'bob' })).toBeNull();
  expect(await setup.storage.audit.ofElicitation('')).toMatchObject([
    { action: 'refused', actor: 'bob' },
    { action: 'refused', actor: 'alice' },
    { action: 'refused', actor: null },
  ]);

  expect(words(await browser.open(callback.url))).toContain('Tracker is connected as alice@example.com');
  // Used up.
  expect((await browser.open(callback.url)).status).toBe(400);
  expect(await setup.storage.connections.get(alices)).toMatchObject({ version: 1 });
});

test('whoever signs in as somebody else in between connects nothing for either', async () => {
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config);
  const { browser, page } = await openAs(setup, 'alice');
  const leaving = await browser.press(page, { action: 'connect' });
  const callback = await browser.until(onward(leaving), `${setup.publicUrl}/auth/callback`);
  await browser.post(`${setup.publicUrl}/auth/logout`, { csrf: csrfOf(page) }, setup.publicUrl);
  const signIn = await browser.open(`${setup.publicUrl}/auth/login?to=connections&as=other`);
  expect(words(await browser.press(signIn, { user: 'bob' }))).toContain('Signed in as Bob');
  expect((await browser.open(callback.url)).status).toBe(400);
  for (const user of ['alice', 'bob'])
    expect(await setup.storage.connections.get({ ...alices, user })).toBeNull();
});

test('every page of it forbids other scripts, frames, caching and foreign form targets', async () => {
  const setup = await setUpConnected();
  const { browser, page } = await openAs(setup, 'alice');
  const good = { server: 'tracker', action: 'disconnect', csrf: csrfOf(page) };
  const pages = [
    page,
    await browser.open(`${setup.publicUrl}/connections/disconnect?server=tracker`),
    await setup.press(browser, { ...good, csrf: 'x' }),
    await setup.press(browser, { ...good, action: 'connect' }),
    await setup.press(browser, good),
    await setup.press(browser, {}),
  ];
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 403, 502, 200, 400]);
  for (const { headers, text } of pages) {
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text.replace(timesScript.markup, '')).not.toMatch(/<script|style=|\son\w+="/i);
    expect(text).not.toMatch(/the-access-token|the-refresh-token/);
  }
});

test('markup in a title, an account, a host or a scope is shown, not obeyed', async () => {
  const attack = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`;
  const setup = await setUpPages(serverConfig(away, { title: attack }));
  await putAccount(setup, { key: alices, serverUrl: away, account: attack, scopes: [attack] });
  const { browser, page } = await openAs(setup, 'alice');
  const confirm = await browser.open(`${setup.publicUrl}/connections/disconnect?server=tracker`);
  const gone = await browser.post(
    `${setup.publicUrl}/connections`,
    { server: 'tracker', action: 'disconnect', csrf: csrfOf(page) },
    setup.publicUrl,
  );
  for (const { status, text } of [page, confirm, gone]) {
    expect(status).toBe(200);
    expect(text.replace(timesScript.markup, '')).not.toMatch(/<script|<img/);
    expect(text.split('&lt;script&gt;').length).toBeGreaterThan(2);
  }
});

test('a page that cannot read the database says so and changes nothing', async () => {
  const setup = await setUpConnected();
  const { browser, page } = await openAs(setup, 'alice');
  await setup.storage.close();
  for (const shown of [
    await browser.open(`${setup.publicUrl}/connections`),
    await setup.press(browser, { server: 'tracker', action: 'disconnect', csrf: csrfOf(page) }),
  ]) {
    expect(shown.status).toBe(503);
    expect(words(shown)).toContain('Not available right now');
  }
});
