/** The settings page in a real browser: every state it can be in, with and without scripts. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startGuardedServer, serverConfig } from '../../credentials/guarded-server.ts';
import { openPersonsBrowser } from '../../e2e/person.ts';
import type { Person } from '../../e2e/person.ts';
import { launchChromium } from '../../browsers/chromium.ts';
import { setUpPages } from '../pages/pages-setup.ts';
import { putAccount } from './accounts.ts';

let browser: Browser;
let person: Person;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
afterEach(() => person.leave());

type PagesSetup = Awaited<ReturnType<typeof setUpPages>>;

const alices = (server: string) => ({ tenant: 'demo', server, user: 'alice' });

async function signIn(setup: PagesSetup, { scripts = true } = {}): Promise<void> {
  person = await openPersonsBrowser(browser, { scripts });
  await person.open(`${setup.publicUrl}/connections`);
  await person.press('Continue as Alice');
}

test.each([
  ['with', true],
  ['without', false],
])('alice connects, connects again and disconnects, %s JavaScript', async (_, scripts) => {
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config);
  await signIn(setup, { scripts });
  await person.sees('Your connections');
  expect(await person.text()).toContain('Not connected');

  await person.press('Connect Tracker');
  await person.sees('Your connections');
  expect(await person.text()).toMatch(
    /Tracker is connected as alice@example\.com\. Conversations that waited for it go on/,
  );
  expect(person.page.url()).not.toMatch(/code|state/);
  expect(await person.text()).toMatch(/Since\s+\d+ \w+ 20\d\d\s+Permissions\s+issues:read\s/);

  await person.press('Reconnect Tracker');
  await person.sees('Your connections');
  expect(await setup.storage.connections.get(alices('tracker'))).toMatchObject({ version: 2 });

  await person.follow('Disconnect Tracker');
  await person.sees('Disconnect Tracker?');
  await person.follow('Keep it');
  await person.sees('Your connections');
  await person.follow('Disconnect Tracker');
  await person.press('Disconnect Tracker');
  await person.sees('Tracker is disconnected');
  expect(await person.text()).toContain('ended at Tracker');
  await person.follow('Your connections');
  await person.sees('Your connections');
  expect(await person.text()).toContain('Not connected');
});

test('every kind of connection is shown for what it is', async () => {
  const of = (name: string, title: string, more = {}) =>
    serverConfig(`https://${name}.example.com/mcp`, { name, title, ...more });
  const more = [
    of('wiki', 'Wiki'),
    of('calendar', 'Calendar'),
    of('chat', 'Chat'),
    of('storage', 'A server with a long title that does not fit into one line on a telephone'),
    of('billing', 'Billing', { credentialScope: 'project' }),
    of('open', 'Open to everybody', { credentialScope: 'none' }),
  ];
  const setup = await setUpPages(of('tracker', 'Tracker'), {}, more);
  const put = (
    server: string,
    serverUrl = `https://${server}.example.com/mcp`,
    user: string | null = 'alice',
  ) => putAccount(setup, { key: { tenant: 'demo', server, user }, serverUrl });
  await put('tracker');
  await put('wiki');
  await setup.storage.connections.markBroken(alices('wiki'), 1, 'revoked');
  await put('calendar', 'https://old-calendar.example.com/mcp');
  const unreadable = { store: 'oauth', account: null, scopes: [], sealed: 'lost', freshUntil: null };
  await setup.storage.connections.establish(alices('storage'), unreadable);
  await put('billing', 'https://billing.example.com/mcp', null);
  await put('gone');

  await signIn(setup);
  await person.sees('Your connections');
  const items = await person.page.locator('.connections > li').allInnerTexts();
  const shown = items.map((item) => item.replaceAll(/\s+/g, ' '));
  expect(shown).toEqual([
    expect.stringMatching(
      /^T Tracker tracker\.example\.com Connected Connected as alice@example\.com Since .* Permissions issues:read Reconnect Tracker Disconnect Tracker$/,
    ),
    expect.stringMatching(
      /Not working Access was withdrawn at Wiki, or has run out\. .*Reconnect Wiki Disconnect Wiki$/,
    ),
    expect.stringMatching(/^C Calendar calendar\.example\.com Not working Calendar has moved/),
    expect.stringMatching(/^C Chat chat\.example\.com Not connected Connect Chat$/),
    expect.stringMatching(/Not working It is kept with a key that is missing/),
    expect.stringMatching(
      /^B Billing billing\.example\.com Connected One account for everybody in your organisation\. Operators look after it\. Ask the operator of this service\. Since [^@]*$/,
    ),
    expect.stringMatching(
      /^G gone gone\.example\.com Not in use No agent uses this server any more.* Disconnect gone$/,
    ),
  ]);
});

test('who has nothing to connect is told so', async () => {
  const setup = await setUpPages(serverConfig('http://127.0.0.1:9/mcp', { credentialScope: 'none' }));
  await signIn(setup);
  await person.sees('Your connections');
  expect(await person.text()).toContain('Nothing here needs an account of yours');
});

test('a provider that is away keeps nobody from disconnecting, and the page says what is left to do', async () => {
  const setup = await setUpPages(serverConfig('http://127.0.0.1:9/mcp'));
  await putAccount(setup, { key: alices('tracker'), serverUrl: 'http://127.0.0.1:9/mcp' });
  await signIn(setup);
  await person.follow('Disconnect Tracker');
  await person.press('Disconnect Tracker');
  await person.sees('Tracker is disconnected');
  expect(await person.text()).toContain('Tracker could not be told');
  expect(setup.log.join()).not.toMatch(/the-access-token|the-refresh-token/);
});

test('disconnecting again, by loading the page again, is harmless', async () => {
  const setup = await setUpPages(serverConfig('http://127.0.0.1:9/mcp'));
  await putAccount(setup, { key: alices('tracker'), serverUrl: 'http://127.0.0.1:9/mcp' });
  await signIn(setup);
  await person.follow('Disconnect Tracker');
  await person.press('Disconnect Tracker');
  await person.sees('Tracker is disconnected');
  await person.page.reload();
  await person.sees('Tracker is disconnected');
  expect(await person.text()).toContain('It was disconnected before');
});

test('who says no at the provider, or whose provider fails, can try again', async () => {
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config);
  tracker.authorization.person.agrees = 'to nothing';
  await signIn(setup);
  await person.press('Connect Tracker');
  await person.sees('Tracker was not connected');
  tracker.authorization.person.agrees = 'to all';
  tracker.authorization.refuse.tokens = 'broken';
  await person.press('Try again');
  await person.sees('Tracker could not be connected');
  tracker.authorization.refuse.tokens = 'no';
  await person.press('Try again');
  await person.sees('Your connections');
  expect(await person.text()).toContain('Tracker is connected');
});

test('a server that is away is said to be so, and one can go back', async () => {
  const setup = await setUpPages(serverConfig('http://127.0.0.1:9/mcp'));
  await signIn(setup);
  await person.press('Connect Tracker');
  await person.sees('Tracker could not be connected');
  await person.follow('Your connections');
  await person.sees('Your connections');
});

test('“Not you?” signs out, and somebody else sees only their own', async () => {
  const setup = await setUpPages(serverConfig('http://127.0.0.1:9/mcp'));
  await putAccount(setup, { key: alices('tracker'), serverUrl: 'http://127.0.0.1:9/mcp' });
  await signIn(setup);
  await person.press('Not you?');
  await person.sees('You are signed out');
  expect(await person.text()).toContain('Sign in again to see your connections');
  await person.follow('Sign in');
  await person.press('Continue as Bob');
  await person.sees('Your connections');
  expect(await person.text()).not.toContain('alice@example.com');
  expect(await person.text()).toContain('Not connected');
});

test('a session that ended while the page was open changes nothing and leads back', async () => {
  const setup = await setUpPages(serverConfig('http://127.0.0.1:9/mcp'));
  await putAccount(setup, { key: alices('tracker'), serverUrl: 'http://127.0.0.1:9/mcp' });
  await signIn(setup);
  await person.follow('Disconnect Tracker');
  await person.page.context().clearCookies({ name: 'interlude-session' });
  await person.press('Disconnect Tracker');
  await person.sees('You are no longer signed in');
  expect(await setup.storage.connections.get(alices('tracker'))).toMatchObject({ status: 'active' });
  await person.follow('Try again');
  await person.sees('Your connections');
});

test('the whole way works with the keyboard alone', async () => {
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config);
  await signIn(setup);
  await person.page.getByRole('heading', { name: 'Your connections' }).waitFor();
  await person.tabTo('Connect');
  await person.page.getByText('Tracker is connected').waitFor();
  await person.tabTo('Disconnect');
  await person.page.getByRole('heading', { name: 'Disconnect Tracker?' }).waitFor();
  await person.tabTo('Disconnect Tracker');
  await person.sees('Tracker is disconnected');
});
