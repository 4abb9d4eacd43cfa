/** Whole ways through the widget, in a browser with a popup blocker and with storage kept apart by site. */
import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../../test/browsers/chromium.ts';
import { useDevelopmentServer } from '../../../test/service/use-development-server.ts';
import { startOffice } from '../../../test/servers/office-server.ts';
import type { Office } from '../../../test/servers/office-server.ts';
import { startTcpProxy } from '../../../test/servers/tcp-proxy.ts';
import type { TcpProxy } from '../../../test/servers/tcp-proxy.ts';
import { connectJourney, disconnect, issue } from './connect-journey.ts';
import { focusIsKept, isFocused, tabTo } from './keyboard.ts';
import { setUpWidgetPage } from './widget-page.ts';
import type { WidgetPageSetup, Visitor } from './widget-page.ts';
import { tripJourney } from './trip-form.ts';

const temporal = useDevelopmentServer();
let browser: Browser;
let office: Office;
let setup: WidgetPageSetup;
let line: TcpProxy;

beforeAll(async () => {
  [browser, office] = await Promise.all([launchChromium({ isStrict: true }), startOffice()]);
  const env = { OFFICE_URL: office.config.url };
  setup = await setUpWidgetPage({ browser, temporal, env, agents: 'journey-agents.yaml' });
  line = await startTcpProxy({ to: Number(new URL(setup.service.baseUrl).port) });
});
afterAll(async () => {
  await line.stop();
  await setup.stop();
  await office.stop();
  await browser.close();
});

describe.each([
  { where: 'in the page', isFramed: false },
  { where: 'in a frame of another site', isFramed: true },
])('$where', ({ isFramed }) => {
  test('alice connects in a second window; the answer goes on by itself, once, and nobody asks after the window', () =>
    connectJourney(setup, { isFramed }));
});

test('with the keyboard alone, from the first word to the answer, nobody loses their place', async () => {
  await disconnect(setup, 'alice');
  const { page, view, context, leave } = await setup.visit({ attributes: 'floating' });
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect.poll(() => isFocused(view.locator('textarea'))).toBe(true);
  await page.keyboard.press('Escape');
  const launcher = view.getByRole('button', { name: 'Open the conversation' });
  await expect.poll(() => isFocused(launcher)).toBe(true);
  await page.keyboard.press('Space');
  await expect.poll(() => isFocused(view.locator('textarea'))).toBe(true);
  await page.keyboard.type('list my open issues');
  await page.keyboard.press('Enter');
  await tabTo(page, view.getByRole('button', { name: 'Show' }));
  await page.keyboard.press('Enter');
  await expect.poll(() => isFocused(view.locator('.card'))).toBe(true);
  await tabTo(page, view.getByRole('link', { name: 'Connect Tracker' }));
  const opened = context.waitForEvent('page');
  await page.keyboard.press('Enter');
  const window = await opened;
  for (const name of ['Continue as Alice', 'Connect Tracker', 'Continue as alice', 'Allow'])
    await pressByKeyboard(window, name);
  await window.getByRole('heading', { name: 'Tracker is connected' }).waitFor();
  await window.close();
  await view.locator('.markdown').getByText(issue).waitFor();
  expect(await focusIsKept(page)).toBe(true);
  // Enter says nothing while the agent is at work.
  await view.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  await tabTo(page, view.locator('textarea'));
  await page.keyboard.type('thanks');
  await page.keyboard.press('Enter');
  await view.getByText('You said: thanks').waitFor();
  expect(await isFocused(view.locator('textarea'))).toBe(true);
  await leave();
});

async function pressByKeyboard(page: Page, name: string): Promise<void> {
  const button = page.getByRole('button', { name });
  await button.waitFor();
  for (let presses = 0; presses < 12 && !(await isFocused(button)); presses++)
    await page.keyboard.press('Tab');
  expect(await isFocused(button)).toBe(true);
  await page.keyboard.press('Enter');
  await button.waitFor({ state: 'detached' });
}

test('a form with a field of every kind is filled in with the keyboard alone, corrected where it is wrong, and arrives as typed', async () => {
  const context = await browser.newContext({
    locale: 'en-US',
    timezoneId: 'Europe/Berlin',
    viewport: { width: 900, height: 800 },
  });
  const visitor = await setup.visit({ user: 'bob', context });
  await tripJourney(setup, visitor, { fromDayToTime: ['ArrowRight'] });
  await visitor.leave(/status of 422/);
  await context.close();
});

test.each([
  { button: 'Confirm', action: 'accept', settled: 'You answered Office' },
  { button: 'Not now', action: 'decline', settled: 'Office: You said “not now”' },
])('a question without fields is approved or declined: $button', async ({ button, action, settled }) => {
  const { page, view, say, leave } = await setup.visit({ user: 'bob' });
  await say('call office__delete {"what":"the archive"}');
  const card = view.locator('.card', { hasText: 'Delete the archive?' });
  await card.waitFor();
  expect(await card.getByRole('button').allInnerTexts()).toEqual(['', 'Confirm', 'Not now']);
  await tabTo(page, card.getByRole('button', { name: button }), 'Shift+Tab');
  await page.keyboard.press('Space');
  await view.getByText(settled).waitFor();
  await view.locator('.markdown').getByText(`the archive: ${action}`).waitFor();
  expect(await focusIsKept(page)).toBe(true);
  await leave();
});

test('a page of the server’s own is opened with its whole address in sight, which is the consent; the server says when it is done', async () => {
  const { view, context, say, leave } = await setup.visit({ user: 'bob' });
  await say('call travel__pay_deposit {"trip":"T-1001"}');
  const card = view.locator('.card', { hasText: 'Pay the deposit' });
  const link = card.getByRole('link', { name: 'Open the page' });
  const url = new URL((await link.getAttribute('href')) ?? '');
  expect(await card.locator('.address').innerText()).toBe(url.href);
  expect(await card.locator('.address strong').innerText()).toBe(url.host);
  expect(await card.locator('p.warning').count()).toBe(0);
  const [window] = await Promise.all([context.waitForEvent('page'), link.click()]);
  await view.getByText('You answered Travel Desk').waitFor();
  expect(await view.locator('.markdown').count()).toBe(0);
  await window.getByRole('button', { name: /^Pay / }).click();
  await view
    .locator('.markdown')
    .getByText(/is paid/)
    .waitFor();
  await window.close();
  expect(setup.travel.books.trips[0]?.deposit.paidAt).not.toBe(null);
  await leave();
});

test.each([
  { url: 'https://xn--pple-43d.example/pay', host: 'xn--pple-43d.example', warning: 'look-alike letters' },
  { url: 'https://192.0.2.7:8443/pay', host: '192.0.2.7:8443', warning: 'bare number' },
  { url: 'http://shop.example/pay?id=1#top', host: 'shop.example', warning: 'not encrypted' },
  { url: 'https://bank.example@shop.example/', host: 'shop.example', warning: 'hides a name' },
])('what is wrong with an address is said before it is opened: $url', async ({ url, host, warning }) => {
  const { view, say, leave } = await setup.visit({ user: 'bob' });
  await say(`call office__show ${JSON.stringify({ url })}`);
  const card = view.locator('.card');
  await card.locator('p.warning', { hasText: warning }).waitFor();
  expect(await card.locator('p.warning').count()).toBe(1);
  expect(await card.locator('.address').innerText()).toBe(url);
  expect(await card.locator('.address strong').innerText()).toBe(host);
  await card.getByRole('button', { name: 'Not now' }).click();
  await view.locator('.markdown').getByText('shown: decline').waitFor();
  await leave();
});

/** Bob's two tabs; the first one hears nothing of what happens in the second. */
async function deafTab(text: string): Promise<{ deaf: Visitor; other: Visitor }> {
  const deaf = await setup.visit({ user: 'bob', api: line.url });
  await deaf.page.clock.install();
  await deaf.say(text);
  await deaf.view.locator('.card').waitFor();
  const attributes = `conversation="${await deaf.conversation()}"`;
  const other = await setup.visit({ user: 'bob', context: deaf.context, attributes });
  await other.view.locator('.card').waitFor();
  line.stall();
  // A connection that is stalled must not be taken for the answer.
  await deaf.page.route('**/elicitation-responses', async (route) => {
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: setup.service.baseUrl + pathname }) });
  });
  return { deaf, other };
}

test.each([
  { button: 'Not now', counts: 'Office: You said “not now”' },
  { button: 'Stop', counts: 'Office: No longer needed' },
])(
  'whoever is too late sees what counted, on a line on which nothing had come for long: $button',
  async ({ button, counts }) => {
    const { deaf, other } = await deafTab('call office__delete {"what":"the attic"}');
    await other.view.getByRole('button', { name: button }).click();
    await other.view.getByText(counts).waitFor();
    const tooLate = deaf.page.waitForResponse(/elicitation-responses/);
    await deaf.view.getByRole('button', { name: 'Confirm' }).click();
    expect([409, 410]).toContain((await tooLate).status());
    expect(await deaf.view.locator('.problem').count()).toBe(0);
    await deaf.page.clock.fastForward('00:46');
    await deaf.view.getByText(counts).waitFor();
    expect(await deaf.view.locator('.card').count()).toBe(0);
    expect(await deaf.view.locator('.settled').count()).toBe(1);
    expect(office.deleted).not.toContain('the attic');
    await other.leave();
    await deaf.leave(/status of 4(?:09|10)/);
    await deaf.context.close();
  },
);

/** As in a phone's pocket, and out of it. What a browser says of a page that it has kept aside is only `pageshow`. */
async function hide(view: Frame, isHidden: boolean, type: string): Promise<void> {
  await view.evaluate(
    ([hidden, name]) => {
      Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
      if (name === 'pageshow') window.dispatchEvent(new PageTransitionEvent(name, { persisted: true }));
      else document.dispatchEvent(new Event(name));
    },
    [isHidden, type] as const,
  );
}

test.each(['hidden', 'kept aside', 'left'] as const)(
  'what happened elsewhere while the page was %s is there when somebody looks again',
  async (how) => {
    const first = await setup.visit({ user: 'bob' });
    await first.say('hello');
    await first.view.getByText('You said: hello').waitFor();
    const attributes = `conversation="${await first.conversation()}"`;
    if (how === 'left') await first.comeBack();
    if (how === 'hidden' || how === 'kept aside') await hide(first.view, true, 'visibilitychange');
    if (how === 'left') await first.page.goto(`${setup.service.baseUrl}/healthz`);
    const second = await setup.visit({ user: 'bob', attributes });
    await second.say('call office__delete {"what":"the garden"}');
    await second.view.getByRole('button', { name: 'Confirm' }).click();
    await second.view.locator('.markdown').getByText('the garden: accept').waitFor();
    await second.say('call office__delete {"what":"the garage"}');
    await second.view.locator('.card').waitFor();
    if (how === 'hidden') await hide(first.view, false, 'visibilitychange');
    if (how === 'kept aside') await hide(first.view, false, 'pageshow');
    if (how === 'left') await first.page.goBack();
    await first.view.getByRole('button', { name: 'Not now' }).click();
    for (const { view } of [first, second]) {
      await view.locator('.markdown').getByText('the garage: decline').waitFor();
      expect(await view.locator('.markdown').allInnerTexts()).toEqual([
        'You said: hello',
        'the garden: accept',
        'the garage: decline',
      ]);
      expect(await view.locator('.settled').count()).toBe(2);
    }
    await second.leave();
    await first.leave();
  },
);
