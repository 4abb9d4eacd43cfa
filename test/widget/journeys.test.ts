/** Whole ways through the widget, in a browser with a popup blocker and with storage kept apart by site. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Frame, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDevelopmentServer } from '../development-server.ts';
import type { DevelopmentServer } from '../development-server.ts';
import { launchChromium } from '../peers/chromium.ts';
import { startOffice } from '../peers/office-server.ts';
import type { Office } from '../peers/office-server.ts';
import { startTcpProxy } from '../peers/tcp-proxy.ts';
import type { TcpProxy } from '../peers/tcp-proxy.ts';
import { createStage } from './stage.ts';
import type { Stage, Visitor } from './stage.ts';

let temporal: DevelopmentServer;
let browser: Browser;
let office: Office;
let stage: Stage;
let line: TcpProxy;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-widget-'));
  [temporal, browser, office] = await Promise.all([
    startDevelopmentServer(),
    launchChromium({ isStrict: true }),
    startOffice(),
  ]);
  const env = { OFFICE_URL: office.config.url };
  stage = await createStage({ browser, temporal, folder, env, agents: 'journey-agents.yaml' });
  line = await startTcpProxy({ to: Number(new URL(stage.service.baseUrl).port) });
});
afterAll(async () => {
  await line.stop();
  await stage.stop();
  await office.stop();
  await browser.close();
  await temporal.stop();
  await rm(folder, { recursive: true });
});

/** Moves there with the Tab key alone; one can see where one is on the whole way. */
async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 40; presses++) {
    if (await isFocused(target)) return;
    await page.keyboard.press(key);
    expect(await page.evaluate(hasVisibleFocus), 'one can see where one is').toBe(true);
  }
  throw new Error(`${String(target)} cannot be reached with the Tab key`);
}

function isFocused(target: Locator): Promise<boolean> {
  return target.evaluate((element) => (element.getRootNode() as ShadowRoot).activeElement === element);
}

/** Outlined, or in something that is. Between the last element and the first one, the browser itself has the focus. */
function hasVisibleFocus(): true | string {
  const focused = document.querySelector('interlude-chat')?.shadowRoot?.activeElement;
  if (!focused) return document.activeElement === document.body || 'nothing';
  // The browser's own button in it has the browser's own outline.
  if (focused.matches('[type^=date]')) return true;
  if (getComputedStyle(focused).outlineStyle !== 'none') return true;
  const around = focused.closest(':focus-within:not(:focus)');
  return (around !== null && getComputedStyle(around).boxShadow !== 'none') || focused.outerHTML;
}

/** Nobody who works with the keyboard has to begin at the top of the page again. */
function focusIsKept(page: Page): Promise<boolean> {
  return page.evaluate(
    () => document.querySelector('interlude-chat')?.shadowRoot?.activeElement instanceof HTMLElement,
  );
}

/** Bob and Alice begin without an account at Tracker. */
async function disconnect(user: 'alice' | 'bob'): Promise<void> {
  const caller = await stage.service.as(user);
  await caller.request('DELETE', '/run/v1/connections/tracker');
}

/** In the window that the card's link opened: our page, the identity provider and Tracker. */
async function connectIn(page: Page, isSignedIn = false): Promise<void> {
  if (!isSignedIn) await page.getByRole('button', { name: 'Continue as Alice' }).click();
  await page.getByRole('button', { name: 'Connect Tracker' }).click();
  await page.getByRole('button', { name: 'Continue as alice' }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'Tracker is connected' }).waitFor();
}

const issue = 'Checkout button stays disabled';
const callsOfTracker = () => stage.service.tracker.calls.length;

describe.each([
  { where: 'in the page', isFramed: false },
  { where: 'in a frame of another site', isFramed: true },
])('$where', ({ isFramed }) => {
  test('alice connects in a second window; the answer goes on by itself, once, and nobody asks after the window', async () => {
    await disconnect('alice');
    const { page, view, context, say, leave } = await stage.visit({ isFramed });
    const before = callsOfTracker();
    await say('list my open issues');
    const link = view.locator('.card').getByRole('link');
    const [first] = await Promise.all([context.waitForEvent('page'), link.click()]);
    await first.getByRole('button', { name: 'Continue as Alice' }).waitFor();
    expect(await first.evaluate(() => window.opener)).toBe(null);
    await view.getByText('Finish in the other window').waitFor();
    // Closed with nothing done, it changes nothing; the link opens another one.
    await first.close();
    await view.getByText('Waiting for you: Tracker').waitFor();
    const [second] = await Promise.all([context.waitForEvent('page'), link.click()]);
    await connectIn(second);
    // It stays open, and the page behind it has gone on.
    await view.locator('.markdown').getByText(issue).waitFor();
    await second.close();
    expect(await view.locator('.markdown').getByText(issue).count()).toBe(1);
    expect(await view.locator('.settled').allInnerTexts()).toEqual(['Tracker is connected']);
    expect(callsOfTracker() - before).toBe(1);
    expect(page.isClosed()).toBe(false);
    await leave();
  });
});

test('with the keyboard alone, from the first word to the answer, nobody loses their place', async () => {
  await disconnect('alice');
  const { page, view, context, leave } = await stage.visit({ attributes: 'floating' });
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
  const { page, view, say, leave } = await stage.visit({ user: 'bob', context });
  await say('call travel__book_trip {"destination":"Lisbon"}');
  const field = (name: string) => view.locator(`.card [name="${name}"]`);
  const write = async (name: string, ...keys: string[]) => {
    await tabTo(page, field(name));
    for (const text of keys)
      await (text.length > 1 && text.startsWith('Arrow')
        ? page.keyboard.press(text)
        : page.keyboard.type(text));
  };
  await tabTo(page, view.locator('.card [name="traveller"]'), 'Shift+Tab');
  await page.keyboard.type('Ada Lovelace');
  await write('email', 'bob@x');
  // In summer, so that it is two hours ahead there; a year from now, so that it is to come.
  const year = new Date().getUTCFullYear() + 1;
  await write('departure', `0702${year}`);
  await write('pickUp', `0630${year}`, 'ArrowRight', '0630AM');
  await write('nights');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('12');
  await write('budget', '1234.5');
  await tabTo(page, field('windowSeat'));
  await page.keyboard.press('Space');
  await tabTo(page, view.getByLabel('Economy', { exact: true }));
  await page.keyboard.press('ArrowDown');
  await tabTo(page, view.getByLabel('standard'));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await tabTo(page, view.getByLabel('Airport lounge'));
  await page.keyboard.press('Space');
  await tabTo(page, view.getByLabel('Train to the airport'));
  await page.keyboard.press('Space');
  await write('loyaltyNumber', 'AB 12-3456');
  await page.keyboard.press('Enter');

  // The service says what the browser could not know, and where.
  await view.locator('.card .field .problem').waitFor();
  await expect.poll(() => isFocused(field('email'))).toBe(true);
  expect(await field('email').getAttribute('aria-invalid')).toBe('true');
  expect(await view.locator('.card [aria-invalid=true]').count()).toBe(1);
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('ada@example.org');
  // And what the taxi's time is worth, only the desk knows: it asks once more, with what was written still there.
  await tabTo(page, field('pickUp'));
  await page.keyboard.type('0620');
  await page.keyboard.press('Enter');
  await view.getByText(/Please check your trip to Lisbon: the taxi has to come on/).waitFor();
  expect(await focusIsKept(page)).toBe(true);
  expect(await field('traveller').inputValue()).toBe('Ada Lovelace');
  await tabTo(page, field('pickUp'));
  await page.keyboard.type('0701');
  await page.keyboard.press('Enter');
  await view.locator('.markdown').getByText('Booked').waitFor();
  expect(stage.travel.books.trips.at(-1)).toMatchObject({
    destination: 'Lisbon',
    traveller: 'Ada Lovelace',
    email: 'ada@example.org',
    departure: `${year}-07-02`,
    pickUp: `${year}-07-01T04:30:00.000Z`,
    nights: 12,
    budget: 1234.5,
    windowSeat: false,
    class: 'premium',
    meals: 'vegan',
    extras: ['lounge', 'train'],
    loyaltyNumber: 'AB 12-3456',
  });
  expect(await focusIsKept(page)).toBe(true);
  await leave(/status of 422/);
  await context.close();
});

test.each([
  { button: 'Approve', action: 'accept', settled: 'You answered Office' },
  { button: 'Decline', action: 'decline', settled: 'Office: You said “not now”' },
])('a question without fields is approved or declined: $button', async ({ button, action, settled }) => {
  const { page, view, say, leave } = await stage.visit({ user: 'bob' });
  await say('call office__delete {"what":"the archive"}');
  const card = view.locator('.card', { hasText: 'Delete the archive?' });
  await card.waitFor();
  expect(await card.getByRole('button').allInnerTexts()).toEqual(['Approve', 'Decline']);
  await tabTo(page, card.getByRole('button', { name: button }), 'Shift+Tab');
  await page.keyboard.press('Space');
  await view.getByText(settled).waitFor();
  await view.locator('.markdown').getByText(`the archive: ${action}`).waitFor();
  expect(await focusIsKept(page)).toBe(true);
  await leave();
});

test('a page of the server’s own is opened with its whole address in sight, which is the consent; the server says when it is done', async () => {
  const { view, context, say, leave } = await stage.visit({ user: 'bob' });
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
  expect(stage.travel.books.trips[0]?.deposit.paidAt).not.toBe(null);
  await leave();
});

test.each([
  { url: 'https://xn--pple-43d.example/pay', host: 'xn--pple-43d.example', warning: 'look-alike letters' },
  { url: 'https://192.0.2.7:8443/pay', host: '192.0.2.7:8443', warning: 'bare number' },
  { url: 'http://shop.example/pay?id=1#top', host: 'shop.example', warning: 'not encrypted' },
  { url: 'https://bank.example@shop.example/', host: 'shop.example', warning: 'hides a name' },
])('what is wrong with an address is said before it is opened: $url', async ({ url, host, warning }) => {
  const { view, say, leave } = await stage.visit({ user: 'bob' });
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
  const deaf = await stage.visit({ user: 'bob', api: line.url });
  await deaf.page.clock.install();
  await deaf.say(text);
  await deaf.view.locator('.card').waitFor();
  const attributes = `conversation="${await deaf.conversation()}"`;
  const other = await stage.visit({ user: 'bob', context: deaf.context, attributes });
  await other.view.locator('.card').waitFor();
  line.stall();
  // A connection that is stalled must not be taken for the answer.
  await deaf.page.route('**/elicitation-responses', async (route) => {
    const { pathname } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: stage.service.baseUrl + pathname }) });
  });
  return { deaf, other };
}

test.each([
  { button: 'Decline', counts: 'Office: You said “not now”' },
  { button: 'Stop', counts: 'Office: No longer needed' },
])(
  'whoever is too late sees what counted, on a line on which nothing had come for long: $button',
  async ({ button, counts }) => {
    const { deaf, other } = await deafTab('call office__delete {"what":"the attic"}');
    await other.view.getByRole('button', { name: button }).click();
    await other.view.getByText(counts).waitFor();
    const tooLate = deaf.page.waitForResponse(/elicitation-responses/);
    await deaf.view.getByRole('button', { name: 'Approve' }).click();
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
    const first = await stage.visit({ user: 'bob' });
    await first.say('hello');
    await first.view.getByText('You said: hello').waitFor();
    const attributes = `conversation="${await first.conversation()}"`;
    if (how === 'left') await first.comeBack();
    if (how === 'hidden' || how === 'kept aside') await hide(first.view, true, 'visibilitychange');
    if (how === 'left') await first.page.goto(`${stage.service.baseUrl}/healthz`);
    const second = await stage.visit({ user: 'bob', attributes });
    await second.say('call office__delete {"what":"the garden"}');
    await second.view.getByRole('button', { name: 'Approve' }).click();
    await second.view.locator('.markdown').getByText('the garden: accept').waitFor();
    await second.say('call office__delete {"what":"the garage"}');
    await second.view.locator('.card').waitFor();
    if (how === 'hidden') await hide(first.view, false, 'visibilitychange');
    if (how === 'kept aside') await hide(first.view, false, 'pageshow');
    if (how === 'left') await first.page.goBack();
    await first.view.getByRole('button', { name: 'Decline' }).click();
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
