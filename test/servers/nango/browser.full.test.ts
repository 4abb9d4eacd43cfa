/** What was measured of Nango's browser side, with its own library, and takes a knob of the double to see. */
import { Nango } from '@nangohq/node';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { launchChromium } from '../../browsers/chromium.ts';
import { startFrontendPage } from './frontend-page.ts';
import type { FrontendPage } from './frontend-page.ts';
import { startNangoDouble } from './nango-double.ts';
import type { NangoDouble } from './nango-double.ts';
import { comeBack, connectPage, decide, goToProvider, walkThrough } from './walk.ts';

let browser: Browser;
let double: NangoDouble;
let nango: Nango;
let pages: FrontendPage;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium({ isStrict: true });
});
afterAll(() => browser.close());
beforeEach(async () => {
  [double, pages] = await Promise.all([startNangoDouble(), startFrontendPage()]);
  nango = new Nango({ host: double.host, apiKey: double.apiKey });
  context = await browser.newContext();
  page = await context.newPage();
});
afterEach(() => context.close());

async function session(more: object = {}): Promise<string> {
  const { data } = await nango.createConnectSession({
    tags: { attempt: 'one' },
    allowed_integrations: ['tracker'],
    ...more,
  });
  return data.token;
}

async function openPage(
  more: { detectsClosing?: boolean; connects?: string; token?: string } = {},
): Promise<void> {
  await page.goto(pages.url({ host: double.host, token: await session(), ...more }));
  await page.locator('html[data-ready]').waitFor();
}

async function clickConnect(): Promise<Page> {
  const popup = page.waitForEvent('popup');
  await page.getByRole('button', { name: 'Connect' }).click();
  return popup;
}

async function allowAs(popup: Page, name: 'Alice' | 'Bob'): Promise<void> {
  await popup.getByLabel(name).check();
  await popup.getByRole('button', { name: 'Allow' }).click();
}

const said = (words: string | RegExp) => page.locator('output', { hasText: words }).waitFor();

test('what the server pinned wins over what the browser sends, and PKCE and a state go along', async () => {
  const token = await session({
    integrations_config_defaults: {
      tracker: {
        authorization_params: { prompt: 'consent' },
        connection_config: { oauth_scopes_override: 'issues:read' },
      },
    },
  });
  const url = `${connectPage(double.host, 'tracker', token)}&authorization_params[prompt]=none&params[oauth_scopes_override]=everything`;
  const asked = new URL((await goToProvider(url)).url).searchParams;
  expect(asked.get('prompt')).toBe('consent');
  expect(asked.get('scope')).toBe('issues:read');
  expect(asked.get('code_challenge_method')).toBe('S256');
  expect(asked.get('state')).toMatch(/^[0-9a-f-]{36}$/);
});

test('a token leads to the integrations it was made for, and leaves no choice of id', async () => {
  const token = await session();
  const elsewhere = await fetch(connectPage(double.host, 'notes', token), { redirect: 'manual' });
  expect(elsewhere.status).toBe(400);
  const chosen = await fetch(`${connectPage(double.host, 'tracker', token)}&connection_id=mine`, {
    redirect: 'manual',
  });
  expect(chosen.status).toBe(400);
  const forged = await fetch(connectPage(double.host, 'tracker', `nango_connect_session_${'0'.repeat(64)}`), {
    redirect: 'manual',
  });
  expect(forged.status).toBe(401);
});

test('a provider that gives no token is an unknown error', async () => {
  double.provider.refuseCodes = true;
  await openPage();
  await allowAs(await clickConnect(), 'Alice');
  await said('unknown_err');
});

test('a closed window leaves the promise open forever', async () => {
  await openPage();
  const popup = await clickConnect();
  await popup.getByRole('heading', { name: 'Sign in to Acme' }).waitFor();
  await popup.close();
  await page.waitForTimeout(1_200);
  expect(await page.innerText('output')).toBe('');
});

test('detecting closed windows takes a severed one for closed, though the account is connected', async () => {
  double.provider.severs = true;
  await openPage({ detectsClosing: true });
  const popup = await clickConnect();
  await said('window_closed');
  await allowAs(popup, 'Alice');
  await expect.poll(() => double.connections()).toHaveLength(1);
});

test('without detection a severed window does no harm', async () => {
  double.provider.severs = true;
  await openPage();
  await allowAs(await clickConnect(), 'Alice');
  await said('connected');
});

test.each([
  ['was cut', () => double.cutSockets()],
  ['lost its frame', () => (double.dropSuccessFrame = true)],
])('when the line %s, the page is never told although the account is connected', async (_, spoil) => {
  await openPage();
  const popup = await clickConnect();
  await popup.getByRole('heading', { name: 'Sign in to Acme' }).waitFor();
  spoil();
  await allowAs(popup, 'Alice');
  await popup.getByText('You can close this window.').waitFor();
  expect(double.connections()).toHaveLength(1);
  expect(await page.innerText('output')).toBe('');
});

test('a page that was reloaded meanwhile is never told', async () => {
  await openPage();
  const popup = await clickConnect();
  await popup.getByRole('heading', { name: 'Sign in to Acme' }).waitFor();
  await page.reload();
  await allowAs(popup, 'Alice');
  await popup.getByText('You can close this window.').waitFor();
  expect(double.connections()).toHaveLength(1);
  expect(await page.innerText('output')).toBe('');
});

test('a policy without the WebSocket leaves an empty window and no word', async () => {
  await openPage({ connects: `'self'` });
  const popup = await clickConnect();
  await page.waitForTimeout(700);
  expect(popup.url()).toBe('about:blank');
  expect(await page.innerText('output')).toBe('');
  expect(double.socketsEver()).toBe(0);
});

test('without a popup one ends on a page of Nango, and nothing leads back', async () => {
  await page.goto(connectPage(double.host, 'tracker', await session()));
  await allowAs(page, 'Alice');
  await page.getByText('You can close this window.').waitFor();
  expect(page.url()).toContain(`${double.host}/oauth/callback`);
  expect(await page.getByRole('link').count()).toBe(0);
  expect(double.connections()).toHaveLength(1);
});

test('the callback works in another browser unless Nango is told to look', async () => {
  const url = connectPage(double.host, 'tracker', await session());
  const elsewhere = { cookie: '' };
  expect(await comeBack(await decide(await goToProvider(url), 'bob'), elsewhere)).toMatchObject({
    status: 200,
  });
  expect(double.connections()).toHaveLength(1);
  double.enforceStateCookie = true;
  const refused = await comeBack(await decide(await goToProvider(url), 'bob'), elsewhere);
  expect(refused.text).toContain('not the one that began this');
  expect(double.connections()).toHaveLength(1);
  await walkThrough(url);
  expect(double.connections()).toHaveLength(2);
});

test('a state is good for one time', async () => {
  const there = await goToProvider(connectPage(double.host, 'tracker', await session()));
  const callback = await decide(there);
  await comeBack(callback, there);
  expect((await comeBack(callback, there)).status).toBe(400);
  expect(double.connections()).toHaveLength(1);
});

test('somebody may complete it long after the session has ended', async () => {
  const there = await goToProvider(connectPage(double.host, 'tracker', await session()));
  double.advance(24 * 3_600_000);
  expect(await comeBack(await decide(there), there)).toMatchObject({ status: 200 });
  expect(double.connections()).toMatchObject([{ tags: { attempt: 'one' } }]);
});

test('where no window may open, the library says so at once', async () => {
  await using stack = new AsyncDisposableStack();
  const strict = await launchChromium({ isStrict: true, opensNoWindows: true });
  stack.defer(() => strict.close());
  page = await strict.newPage();
  await openPage();
  await page.getByRole('button', { name: 'Connect' }).click();
  await said('blocked_by_browser');
});

test('storage is kept apart by the site that one is on', async () => {
  const here = `${double.host}/oauth/callback`;
  const there = `${double.provider.origin}/authorize`;
  const seen: (string | null)[] = [];
  for (const top of [here, here.replace('127.0.0.1', 'localhost')]) {
    await page.goto(top);
    await page.setContent(`<iframe src="${there}"></iframe>`);
    await page.frameLocator('iframe').getByRole('heading').waitFor();
    const [, frame] = page.frames();
    seen.push((await frame?.evaluate(() => localStorage.getItem('seen'))) ?? null);
    await frame?.evaluate(() => localStorage.setItem('seen', 'yes'));
  }
  expect(seen).toEqual([null, null]);
});
