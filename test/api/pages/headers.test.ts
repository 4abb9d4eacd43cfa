/** What every page tells the browser to forbid, whichever page it is and however it came about. */
import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { serverConfig, startGuardedServer } from '../../credentials/guarded-server.ts';
import { vaultServer } from '../../credentials/vault/vault-store.ts';
import { nangoUnderTest } from '../../servers/nango/nango-under-test.ts';
import { Browser, hiddenFields, onward, unescaped, words } from './browser.ts';
import type { Shown } from './browser.ts';
import { setUpPages } from './pages-setup.ts';
import { endQuestion } from '../../storage/end-question.ts';

const basic = (scripts: string) =>
  `default-src 'none'; script-src 'sha256-[^']+'${scripts}; style-src 'sha256-[^']+'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`;
/** None but the one that shows times in the reader's time zone. */
const withoutScript = new RegExp(`^${basic('')}$`);

async function setUpAllStores() {
  const tracker = await startGuardedServer();
  const nango = await nangoUnderTest();
  const { host, apiKey, webhookSigningKey, integration } = nango;
  const crm = serverConfig('http://127.0.0.1:9/crm', {
    name: 'crm',
    title: 'CRM',
    store: 'nango',
    nango: { integration },
  });
  const notes = vaultServer('http://127.0.0.1:9/notes', { name: 'notes', title: 'Notes' });
  const setup = await setUpPages(
    tracker.config,
    {},
    [crm, notes],
    { returnUrls: ['https://app.example/'] },
    { host, apiKey, publicUrl: host, websocketsPath: '/', webhookSigningKey },
  );
  return { ...setup, tracker, nangoOrigin: host };
}

function linkIn(page: Shown, part: string): string {
  const [, address = ''] = new RegExp(`href="([^"]*${part}[^"]*)"`).exec(page.text) ?? [];
  return unescaped(address);
}

test('every page forbids frames, caching, foreign scripts and foreign form targets, and tells other sites nothing', async () => {
  const setup = await setUpAllStores();
  const { publicUrl, ask } = setup;
  for (const id of ['q1', 'q2', 'decline', 'cancel', 'expired']) await ask({ id });
  await ask({ id: 'crm', server: 'crm' });
  await ask({ id: 'notes', server: 'notes' });
  await ask({ id: 'bobs', user: 'bob' });
  for (const outcome of ['decline', 'cancel', 'expired'] as const)
    await endQuestion(setup.storage, outcome, outcome);
  const { browser: alice, page: question } = await setup.openAs('alice');
  const seen: [expected: string, page: Shown][] = [['Connect Tracker', question]];
  const note = (expected: string, page: Shown) => {
    seen.push([expected, page]);
    return page;
  };
  const open = async (expected: string, path: string) => note(expected, await alice.open(publicUrl + path));
  const press = async (expected: string, page: Shown, fields: Record<string, string>) =>
    note(expected, await alice.press(page, fields));
  const form = (path: string, fields: Record<string, string>) =>
    alice.post(publicUrl + path, fields, publicUrl);

  const settingsUrl = `${publicUrl}/connections`;

  await open('This service runs agents', '/');

  // Questions, and how they end.
  await open('You said', '/auth/connect?e=decline');
  await open('This question is closed', '/auth/connect?e=cancel');
  await open('This question has expired', '/auth/done?e=expired');
  await open('Nothing is asked here', '/auth/connect?e=unknown');
  await open('This question is for another person', '/auth/connect?e=bobs');
  await open('a place that is not allowed', '/auth/connect?e=q2&returnUrl=https://evil.example');
  note('Nothing was changed', await alice.press(question, { action: 'connect' }, { csrf: 'x' }));
  note('Nothing was changed', await form('/auth/connect', {}));
  note(
    'This form is not understood',
    await alice.send(`${publicUrl}/auth/connect`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    }),
  );
  note(
    'You are no longer signed in',
    await new Browser().post(
      `${publicUrl}/auth/connect`,
      { ...hiddenFields(question.text), action: 'decline' },
      publicUrl,
    ),
  );
  note('This cannot be finished here', await alice.open(`${publicUrl}/auth/callback/x?state=x`));
  note('This sign-in cannot be finished here', await alice.open(`${publicUrl}/auth/login/callback?state=x`));

  setup.tracker.authorization.person.agrees = 'to nothing';
  const denied = onward(await alice.press(question, { action: 'connect' }));
  note('Tracker is not connected', await alice.open(denied));
  const deniedHere = onward(await alice.press(await alice.open(settingsUrl), { action: 'connect' }));
  note('Tracker was not connected', await alice.open(deniedHere));
  setup.tracker.authorization.person.agrees = 'to all';
  setup.tracker.authorization.refuse.tokens = 'broken';
  const failed = onward(await alice.press(question, { action: 'connect' }));
  note('Tracker could not be connected', await alice.open(failed));
  setup.tracker.authorization.refuse.tokens = 'no';
  const leaving = await press('Taking you to Tracker', question, { action: 'connect' });
  note('Tracker is connected', await alice.open(onward(leaving)));

  // An API key, and Nango.
  const key = await open('Connect Notes', '/auth/connect?e=notes');
  await press('Enter', key, { action: 'connect', key: ' ' });
  await press('Not now, then', key, { action: 'decline' });
  const crm = await open('Connect CRM', '/auth/connect?e=crm');
  await press('Taking you to CRM', crm, { action: 'connect' });

  // The settings.
  const settings = await open('Your connections', '/connections?returnUrl=https://app.example/chat');
  const confirm = note('Disconnect Tracker?', await alice.open(linkIn(settings, '/connections/disconnect')));
  await press('Tracker is disconnected', confirm, { action: 'disconnect' });
  note('Connect Notes', await alice.open(linkIn(settings, '/connections/key')));
  note('Connect CRM', await alice.open(linkIn(settings, '/connections/connect')));
  const { csrf = '' } = hiddenFields(settings.text);
  note(
    'You have no such connection',
    await form('/connections', { csrf, action: 'connect', server: 'none' }),
  );

  // The end.
  note('You are signed out', await form('/auth/logout', { csrf }));
  const alone = await setUpPages();
  await alone.identity.stop();
  note('Signing in is not possible right now', await new Browser().open(alone.link('q1')));

  const { host } = new URL(setup.nangoOrigin);
  const withScript = new RegExp(`^${basic(" 'self'")}; connect-src 'self' wss?://${host}/?$`);
  for (const [expected, page] of seen) {
    expect(words(page)).toContain(expected);
    const header = (name: string) => page.headers.get(name);
    const scripts = page.text.match(/<script [^>]*>/g) ?? [];
    const policy = header('content-security-policy') ?? '';
    for (const [, script = ''] of page.text.matchAll(/<script>(.*?)<\/script>/gs))
      expect(policy).toContain(`script-src 'sha256-${hash('sha256', script, 'base64')}'`);
    const isScripted = scripts.length > 0;
    expect([expected, policy]).toEqual([
      expected,
      expect.stringMatching(isScripted ? withScript : withoutScript),
    ]);
    expect(scripts.filter((tag) => !tag.includes(` src="${publicUrl}/auth/assets/`))).toEqual([]);
    expect([expected, isScripted]).toEqual([expected, expected === 'Connect CRM']);
    expect(header('x-frame-options')).toBe('DENY');
    expect(header('cache-control')).toBe('no-store');
    expect(header('x-content-type-options')).toBe('nosniff');
    expect(header('referrer-policy')).toBe('same-origin');
    expect(header('content-type')).toBe('text/html; charset=utf-8');
    expect(header('x-robots-tag')).toBe('noindex');
    expect(header('access-control-allow-origin')).toBeNull();
    // Nothing that loads or runs by itself.
    expect(page.text).not.toMatch(
      /\sstyle=|\son\w+="|javascript:|<(iframe|object|embed|base|img|link rel="(?!icon"))/i,
    );
  }
  expect(seen.length).toBeGreaterThan(29);
});

test('redirects between the pages are not cached either, and no address tells what a code or a cookie is', async () => {
  const setup = await setUpAllStores();
  await setup.ask();
  for (const path of ['/auth/connect?e=q1', '/auth/login?e=q1', '/connections']) {
    const { status, headers } = await fetch(setup.publicUrl + path, { redirect: 'manual' });
    expect([status, headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([
      303,
      'no-store',
      'same-origin',
    ]);
  }
  const { browser, page } = await setup.openAs('alice');
  const done = await browser.open(onward(await browser.press(page, { action: 'connect' })));
  expect(done.url).toBe(`${setup.publicUrl}/auth/done?e=q1`);
  expect(page.url).toBe(setup.link('q1'));
});
