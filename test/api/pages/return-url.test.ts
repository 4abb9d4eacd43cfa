import { describe, expect, test } from 'vitest';
import { allowedReturnUrl } from '../../../src/api/pages/return-url.ts';
import { serverConfig, startGuardedServer } from '../../credentials/guarded-server.ts';
import { vaultServer } from '../../credentials/vault/vault-store.ts';
import { nangoUnderTest } from '../../servers/nango/nango-under-test.ts';
import { connectPage, walkThrough } from '../../servers/nango/walk.ts';
import { Browser, hiddenFields, onward, unescaped, words } from './browser.ts';
import type { Shown } from './browser.ts';
import sent from './open-redirects.json' with { type: 'json' };
import { setUpPages } from './pages-setup.ts';
import { endQuestion } from '../../storage/end-question.ts';

const { returnUrls } = sent;
const openRedirects = Object.values(sent.openRedirects).flat();

const chat = 'https://app.example/chat/42?tab=open&q=%C3%A9#last';
const back = 'Back to app.example';

async function setUpWithReturnUrl() {
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config, {}, [], { returnUrls });
  const link = (id: string, returnUrl: string) =>
    `${setup.link(id)}&${new URLSearchParams({ returnUrl }).toString()}`;
  return { ...setup, tracker, linkBack: link };
}

function leadsBack(page: Shown, address = chat): boolean {
  return page.text.includes(`href="${address.replaceAll('&', '&amp;')}"`);
}

describe('which addresses are allowed', () => {
  test.each([
    ['https://app.example/chat/', 'https://app.example/chat/'],
    [chat, chat],
    ['https://app.example/chat/a.b/..c/%C3%BC;x=1', 'https://app.example/chat/a.b/..c/%C3%BC;x=1'],
    ['HTTPS://APP.example:443/chat/42', 'https://app.example/chat/42'],
    [
      'https://app.example/chat/42?next=https://evil.example/',
      'https://app.example/chat/42?next=https://evil.example/',
    ],
    ['http://[::1]:5173', 'http://[::1]:5173/'],
    ['http://[::1]:5173/any/where', 'http://[::1]:5173/any/where'],
    ['https://exact.example/done', 'https://exact.example/done'],
    ['https://exact.example/done/', 'https://exact.example/done/'],
    [`https://app.example/chat/${'a'.repeat(1_975)}`, `https://app.example/chat/${'a'.repeat(1_975)}`],
  ])('%s', (given, followed) => {
    expect(allowedReturnUrl(given, returnUrls)).toBe(followed);
  });

  test.each(openRedirects)('not %s', (given) => {
    expect(allowedReturnUrl(given, returnUrls)).toBeNull();
  });

  test('none at all where none is configured', () => {
    expect(allowedReturnUrl(chat, [])).toBeNull();
  });

  test.each([[undefined], [null], [42], [['https://app.example/chat/']], [{ href: chat }]])(
    'and not %j, which is no text',
    (given) => {
      expect(allowedReturnUrl(given, returnUrls)).toBeNull();
    },
  );
});

test('the way back goes along through signing in, the provider and home, and stands on the last page', async () => {
  const setup = await setUpWithReturnUrl();
  await setup.ask();
  const browser = new Browser();
  const page = await browser.press(await browser.open(setup.linkBack('q1', chat)), { user: 'alice' });
  expect(words(page)).toContain('Connect Tracker');
  expect(leadsBack(page)).toBe(false);
  const leaving = await browser.press(page, { action: 'connect' });
  expect(onward(leaving)).not.toContain('app.example');
  const done = await browser.open(onward(leaving));
  expect(words(done)).toContain('Tracker is connected');
  expect(words(done)).toContain(back);
  expect(leadsBack(done)).toBe(true);
  expect(done.trail.some((url) => new URL(url).host === 'app.example')).toBe(false);
  expect(done.text).not.toMatch(/http-equiv|<script/);
});

test.each(['decline', 'cancel', 'expired'] as const)(
  'it stands where a question ended with %s',
  async (outcome) => {
    const setup = await setUpWithReturnUrl();
    await setup.ask();
    await endQuestion(setup.storage, 'q1', outcome);
    const browser = new Browser();
    const page = await browser.press(await browser.open(setup.linkBack('q1', chat)), { user: 'alice' });
    expect([page.status, words(page).includes(back), leadsBack(page)]).toEqual([410, true, true]);
  },
);

test('it stands after "not now", and after the provider was told no', async () => {
  const setup = await setUpWithReturnUrl();
  await setup.ask();
  await setup.ask({ id: 'q2' });
  const browser = new Browser();
  const first = await browser.press(await browser.open(setup.linkBack('q1', chat)), { user: 'alice' });
  const declined = await browser.press(first, { action: 'decline' });
  expect(words(declined)).toContain(`Not now, then`);
  expect(leadsBack(declined)).toBe(true);

  setup.tracker.authorization.person.agrees = 'to nothing';
  const second = await browser.open(setup.linkBack('q2', chat));
  const denied = await browser.open(onward(await browser.press(second, { action: 'connect' })));
  expect(words(denied)).toContain('Tracker is not connected');
  expect(leadsBack(await browser.press(denied, { action: 'decline' }))).toBe(true);
});

test('on the settings page it survives connecting, disconnecting and signing in as somebody else', async () => {
  const setup = await setUpWithReturnUrl();
  const browser = new Browser();
  const settings = `${setup.publicUrl}/connections?${new URLSearchParams({ returnUrl: chat }).toString()}`;
  const page = await browser.press(await browser.open(settings), { user: 'alice' });
  expect(leadsBack(page)).toBe(true);
  const connected = await browser.open(onward(await browser.press(page, { action: 'connect' })));
  expect(words(connected)).toContain('Tracker is connected');
  expect(leadsBack(connected)).toBe(true);

  const [, confirmUrl = ''] = /href="([^"]*\/connections\/disconnect[^"]*)"/.exec(connected.text) ?? [];
  const confirm = await browser.open(unescaped(confirmUrl));
  const ended = await browser.press(confirm, { action: 'disconnect' });
  expect(words(ended)).toContain('Tracker is disconnected');
  expect(leadsBack(ended)).toBe(true);

  const out = await browser.post(
    `${setup.publicUrl}/auth/logout`,
    { csrf: hiddenFields(connected.text)['csrf'] ?? '', returnUrl: chat },
    setup.publicUrl,
  );
  const [, again = ''] = /href="([^"]*\/auth\/login[^"]*)"/.exec(out.text) ?? [];
  const bob = await browser.press(await browser.open(unescaped(again)), { user: 'bob' });
  expect(words(bob)).toContain('Signed in as Bob');
  expect(leadsBack(bob)).toBe(true);
});

test('it goes along where an API key is entered, for a question and from the settings', async () => {
  const notes = vaultServer('http://127.0.0.1:9/mcp', { vault: { header: 'x-api-key', check: false } });
  const setup = await setUpPages(notes, {}, [], { returnUrls });
  await setup.ask();
  const way = new URLSearchParams({ returnUrl: chat }).toString();
  const browser = new Browser();
  const page = await browser.press(await browser.open(`${setup.link('q1')}&${way}`), { user: 'alice' });
  const refused = await browser.press(page, { action: 'connect', key: 'two words' });
  expect([refused.status, leadsBack(refused)]).toEqual([422, false]);
  const done = await browser.press(refused, { action: 'connect', key: 'a-good-key' });
  expect(words(done)).toContain('Tracker is connected');
  expect(leadsBack(done)).toBe(true);

  const settings = await browser.open(`${setup.publicUrl}/connections?${way}`);
  const [, keyUrl = ''] = /href="([^"]*\/connections\/key[^"]*)"/.exec(settings.text) ?? [];
  const replaced = await browser.press(await browser.open(unescaped(keyUrl)), {
    action: 'connect',
    key: 'another-good-key',
  });
  expect(words(replaced)).toContain('Your connections');
  expect(leadsBack(replaced)).toBe(true);
});

test('it goes along by way of Nango, also where a script does the asking', async () => {
  const nango = await nangoUnderTest();
  const { host, apiKey, webhookSigningKey, integration } = nango;
  const crm = serverConfig('http://127.0.0.1:9/mcp', { store: 'nango', nango: { integration } });
  const account = { host, publicUrl: host, apiKey, webhookSigningKey, websocketsPath: '/' };
  const setup = await setUpPages(crm, {}, [], { returnUrls }, account);
  await setup.ask();
  const browser = new Browser();
  const link = `${setup.link('q1')}&${new URLSearchParams({ returnUrl: chat }).toString()}`;
  const page = await browser.press(await browser.open(link), { user: 'alice' });
  const ask = (path: string, fields: object) =>
    browser.send(`${setup.publicUrl}/auth/connect/nango${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        origin: setup.publicUrl,
        'x-csrf-token': hiddenFields(page.text)['csrf'] ?? '',
      },
      body: JSON.stringify({ e: 'q1', ...fields }),
    });
  expect((await ask('', { returnUrl: 'https://evil.example/' })).status).toBe(400);
  const { attempt, token } = JSON.parse((await ask('', { returnUrl: chat })).text) as Record<string, string>;
  await walkThrough(connectPage(host, integration, token ?? ''));
  const { url } = JSON.parse((await ask('/look', { attempt, returnUrl: chat })).text) as Record<
    string,
    string
  >;
  const done = await browser.open(url ?? '');
  expect(words(done)).toContain('Tracker is connected');
  expect(leadsBack(done)).toBe(true);
  // Without the script: what has happened meanwhile is noticed, and the way back is still there.
  const posted = await browser.press(page, { action: 'connect' });
  expect([words(posted).includes('Tracker is connected'), leadsBack(posted)]).toEqual([true, true]);
});

test('without one, the pages are as they are', async () => {
  const setup = await setUpWithReturnUrl();
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const done = await browser.open(onward(await browser.press(page, { action: 'connect' })));
  expect(done.url).toBe(`${setup.publicUrl}/auth/done?e=q1`);
  expect(done.text).not.toMatch(/Back to|returnUrl/);
});

test('the address cannot break out of the page it stands on', async () => {
  const setup = await setUpWithReturnUrl();
  await setup.ask();
  await endQuestion(setup.storage, 'q1', 'decline');
  const nasty = `https://app.example/chat/?x="><script>alert(1)</script>&y='onclick='#<b>`;
  const browser = new Browser();
  const page = await browser.press(await browser.open(setup.linkBack('q1', nasty)), { user: 'alice' });
  expect(page.status).toBe(410);
  expect(words(page)).toContain(back);
  expect(page.text).not.toMatch(/<script|<b>|'onclick/);
});

test('a way back that was allowed when the person left, and is not any more, is left out', async () => {
  const setup = await setUpWithReturnUrl();
  await setup.ask();
  const allowed = returnUrls.splice(0);
  returnUrls.push(...allowed);
  const browser = new Browser();
  const page = await browser.press(await browser.open(setup.linkBack('q1', chat)), { user: 'alice' });
  const leaving = await browser.press(page, { action: 'connect' });
  returnUrls.splice(0);
  try {
    const done = await browser.open(onward(leaving));
    expect(words(done)).toContain('Tracker is connected');
    expect(done.text).not.toContain('app.example');
  } finally {
    returnUrls.push(...allowed);
  }
});

test('eight long ways back do not make a browser’s headers too large to be taken', async () => {
  const setup = await setUpWithReturnUrl();
  await setup.ask();
  const long = `https://app.example/chat/${'a'.repeat(1_900)}`;
  const browser = new Browser();
  for (let round = 0; round < 8; round += 1)
    await browser.until(`${setup.publicUrl}/auth/login?e=q1&returnUrl=${long}`, setup.identity.issuer);
  const signIn = await browser.open(setup.linkBack('q1', long));
  const page = await browser.press(signIn, { user: 'alice' });
  expect([page.status, page.url.endsWith(long.slice(-100))]).toEqual([200, true]);
});
