/** Connecting by Nango for a question, in a real browser with its popup blocker on and storage kept apart by site. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../browsers/chromium.ts';
import { allow, deny } from '../../connections/nango-visitor.ts';
import { alices, setUpNangoPages, isReady, opensWindow } from './nango-pages-setup.ts';
import { endQuestion } from '../../storage/end-question.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium({ isStrict: true });
});
afterAll(() => browser.close());

const sessionToken = /nango_connect_session_[0-9a-f]+/;

test('alice connects in a window beside the page, which shows when she is done', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await person.sees('Connect Tracker');
  const popup = await opensWindow(person, 'Connect Tracker');
  await person.sees('Finish in the other window');
  await allow(popup);
  await person.sees('Tracker is connected');
  expect(await person.text()).toContain('Connected as alice');
  expect(await setup.storage.connections.get(alices)).toMatchObject({ status: 'active', version: 1 });
  expect(setup.confirmed).toContainEqual([alices, 1]);
  expect(await setup.storage.audit.ofElicitation('q1')).toMatchObject([
    { action: 'connected', actor: 'alice' },
  ]);
  await person.page.reload();
  await person.sees('Tracker is connected');
});

test('the session token is nowhere on the page, in its address, in storage or in the log', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  const popup = await opensWindow(person, 'Connect Tracker');
  // It was there, so that not to find it means something.
  expect(setup.nango.requests.some(({ path }) => path.startsWith('/oauth/connect/tracker'))).toBe(true);
  const kept = await person.page.evaluate(() => [
    document.documentElement.outerHTML,
    location.href,
    JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie,
  ]);
  expect(kept.join()).not.toMatch(sessionToken);
  await allow(popup);
  await person.sees('Tracker is connected');
  expect(setup.log.join()).not.toMatch(sessionToken);
  expect(JSON.stringify(setup.dump())).not.toMatch(sessionToken);
});

test('without JavaScript the same form leads there, and the link shows afterwards what came of it', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'), { scripts: false });
  await person.sees('Connect Tracker');
  await person.press('Connect Tracker');
  await allow(person.page);
  await person.page.getByText('close this window').waitFor();
  await person.open(setup.link('q1'));
  // No webhook came: pressing again finds the connection instead of connecting twice.
  await person.press('Connect Tracker');
  await person.sees('Tracker is connected');
  expect(setup.nango.connections()).toHaveLength(1);
});

test('a browser that opens no windows goes there in its own', async () => {
  const strictest = await launchChromium({ isStrict: true, opensNoWindows: true });
  try {
    const setup = await setUpNangoPages();
    await setup.ask();
    const person = await setup.openBrowserAs('Alice', strictest, setup.link('q1'));
    await isReady(person);
    await person.press('Connect Tracker');
    await allow(person.page);
    await person.page.getByText('close this window').waitFor();
    await person.open(setup.link('q1'));
    await person.sees('Tracker is connected');
  } finally {
    await strictest.close();
  }
});

test('who denies access is told so, and can try again', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await deny(await opensWindow(person, 'Connect Tracker'));
  await person.sees('Tracker is not connected');
  expect(await person.text()).toContain('Access was not given');
  await allow(await opensWindow(person, 'Try again'));
  await person.sees('Tracker is connected');
});

test('an account that the provider does not hand over is said to have failed, and can be tried again', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  setup.nango.provider.refuseCodes = true;
  await allow(await opensWindow(person, 'Connect Tracker'));
  await person.sees('Tracker could not be connected');
  setup.nango.provider.refuseCodes = false;
  await allow(await opensWindow(person, 'Try again'));
  await person.sees('Tracker is connected');
});

test.each([
  [
    'the news is lost on its way',
    async ({ nango }: { nango: { dropSuccessFrame: boolean } }) => void (nango.dropSuccessFrame = true),
  ],
  ['the line is cut', async ({ nango }: { nango: { cutSockets(): void } }) => nango.cutSockets()],
])('the page notices by itself when %s', async (_, loses) => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  const popup = await opensWindow(person, 'Connect Tracker');
  await loses(setup);
  await allow(popup);
  await person.sees('Tracker is connected');
});

test('a provider that cuts the window off from the page changes nothing', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  setup.nango.provider.severs = true;
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await allow(await opensWindow(person, 'Connect Tracker'));
  await person.sees('Tracker is connected');
});

test('who came with a way back has it at the end', async () => {
  const setup = await setUpNangoPages({}, {}, ['https://app.example/chat']);
  await setup.ask();
  const back = 'https://app.example/chat/42';
  const link = `${setup.link('q1')}&${new URLSearchParams({ returnUrl: back }).toString()}`;
  const person = await setup.openBrowserAs('Alice', browser, link);
  await allow(await opensWindow(person, 'Connect Tracker'));
  await person.sees('Tracker is connected');
  const way = person.page.getByRole('link', { name: 'Back to app.example' });
  expect(await way.getAttribute('href')).toBe(back);
});

test('a window that was closed can be opened again, and one connection comes of it', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await (await opensWindow(person, 'Connect Tracker')).close();
  await person.sees('Finish in the other window');
  // Sooner, it would be the second half of a double click.
  await person.page.waitForTimeout(800);
  await allow(await opensWindow(person, 'Try again'));
  await person.sees('Tracker is connected');
  expect(setup.nango.connections()).toHaveLength(1);
});

test('trying again closes the window that is still open', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  const first = await opensWindow(person, 'Connect Tracker');
  const closed = first.waitForEvent('close');
  // Sooner, it would be the second half of a double click.
  await person.page.waitForTimeout(800);
  await opensWindow(person, 'Try again');
  await closed;
});

test('the second half of a double click does nothing', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await isReady(person);
  await person.page.waitForResponse((response) => response.url().endsWith('/look'));
  const opened = person.page.waitForEvent('popup');
  // Both before the window is there: the browser would block a second one, and the page would go there itself.
  await person.page.getByRole('button', { name: 'Connect Tracker' }).evaluate((button: HTMLElement) => {
    button.click();
    button.click();
  });
  const popup = await opened;
  await person.sees('Finish in the other window');
  await allow(popup);
  await person.sees('Tracker is connected');
});

test('“Not now” closes the other window and answers the question', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  const popup = await opensWindow(person, 'Connect Tracker');
  const closed = popup.waitForEvent('close');
  await person.press('Not now');
  await person.sees('Not now, then');
  await closed;
  expect(setup.answers).toEqual([{ id: 'q1', action: 'decline', user: 'alice' }]);
});

test('who sees no other window goes on in this one', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await opensWindow(person, 'Connect Tracker');
  await person.press('Continue in this one');
  await allow(person.page);
  await person.page.getByText('close this window').waitFor();
  await person.open(setup.link('q1'));
  await person.sees('Tracker is connected');
});

test('where Nango cannot speak to the page, the page goes there itself', async () => {
  const setup = await setUpNangoPages({ websocketsPath: '/sockets' }, { websocketsPath: '/elsewhere' });
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await isReady(person);
  await person.press('Connect Tracker');
  await allow(person.page);
  await person.page.getByText('close this window').waitFor();
});

test('a browser that does not move on by itself shows where it goes', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await opensWindow(person, 'Connect Tracker');
  await person.page.route(`${setup.nango.host}/**`, (route) => route.abort('aborted'));
  await person.press('Continue in this one');
  await person.sees('Taking you to Tracker');
  await person.page.unrouteAll();
  await person.follow('Continue');
  await person.page.getByRole('button', { name: 'Allow' }).waitFor();
});

test('a page that is loaded again asks again, and shows what comes of the window that is still open', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  const popup = await opensWindow(person, 'Connect Tracker');
  await person.page.reload();
  await person.sees('Connect Tracker');
  await allow(popup);
  await person.sees('Tracker is connected');
  await person.page.reload();
  await person.sees('Tracker is connected');
});

test('two tabs: what is done in one is shown in the other', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  const other = await person.page.context().newPage();
  await other.goto(setup.link('q1'));
  await other.getByRole('heading', { name: 'Connect Tracker' }).waitFor();
  await person.page.bringToFront();
  await allow(await opensWindow(person, 'Connect Tracker'));
  await person.sees('Tracker is connected');
  await other.getByRole('heading', { name: 'Tracker is connected' }).waitFor();
});

test.each([
  ['decline', 'You said “not now”'],
  ['cancel', 'This question is closed'],
  ['expired', 'This question has expired'],
] as const)('a question that ends elsewhere (%s) ends on the page, too', async (outcome, heading) => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await opensWindow(person, 'Connect Tracker');
  await person.page.waitForResponse((response) => response.url().endsWith('/look'));
  await endQuestion(setup.storage, 'q1', outcome);
  await person.sees(heading);
});

test('an account that is connected after the question has expired is kept, and the page says so', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  const popup = await opensWindow(person, 'Connect Tracker');
  await person.page.goto('about:blank');
  await endQuestion(setup.storage, 'q1', 'expired');
  const closed = popup.waitForEvent('close');
  await allow(popup);
  await closed;
  const [attempt] = await setup.storage.connectAttempts.openOf(alices);
  await setup.stores.nango?.look(attempt?.id ?? '');
  await person.open(setup.link('q1'));
  await person.sees('Tracker is connected');
  expect(await person.text()).toContain('The question had expired meanwhile');
});

test('while Nango is away the page says so, and nothing is lost', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  await setup.nango.down();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await isReady(person);
  await person.press('Connect Tracker');
  await person.sees('Tracker could not be connected');
  await setup.nango.up();
  await allow(await opensWindow(person, 'Try again'));
  await person.sees('Tracker is connected');
});

test('Nango that is away while the window is open is waited for', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  const popup = await opensWindow(person, 'Connect Tracker');
  setup.nango.dropSuccessFrame = true;
  setup.nango.hang = true;
  const closed = popup.waitForEvent('close');
  await allow(popup);
  await closed;
  await person.sees('Finish in the other window');
  setup.nango.hang = false;
  await person.sees('Tracker is connected');
});

test('who disconnects meanwhile is asked anew, and what they began before comes to nothing', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await opensWindow(person, 'Connect Tracker');
  await setup.storage.connectAttempts.dropOf(alices);
  await person.sees('Connect Tracker');
  await allow(await opensWindow(person, 'Connect Tracker'));
  await person.sees('Tracker is connected');
});

test('a session that ran out while the page was open is made anew', async () => {
  const setup = await setUpNangoPages({ sessionLifeMs: 4_000 });
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await person.sees('Connect Tracker');
  const made = () => setup.nango.count('POST', '/connect/sessions');
  await expect.poll(made).toBeGreaterThan(2);
  await allow(await opensWindow(person, 'Connect Tracker'));
  await person.sees('Tracker is connected');
});

test('who is signed out meanwhile is asked to sign in again', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await opensWindow(person, 'Connect Tracker');
  await person.page.context().clearCookies();
  await person.page.getByRole('heading', { name: 'Who are you?' }).waitFor();
});

test('a wrong account is shown for what it is', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await allow(await opensWindow(person, 'Connect Tracker'), 'Bob');
  await person.sees('Tracker is connected');
  expect(await person.text()).toContain('Connected as bob');
});

test('the whole way works with the keyboard alone', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await setup.openBrowserAs('Alice', browser, setup.link('q1'));
  await person.page.getByRole('heading', { name: 'Connect Tracker' }).waitFor();
  await isReady(person);
  const opened = person.page.waitForEvent('popup');
  await person.tabTo('Connect Tracker');
  const popup = await opened;
  // Screen readers announce the new text.
  expect(await person.page.locator(':focus').innerText()).toBe('Finish in the other window');
  await allow(popup);
  await person.sees('Tracker is connected');
});
