/** Faults around the playground (lost addresses, ended sign-ins, failing requests), and how the conversation recovers. */
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ask, events, look, openRequests, say, startPlayground } from './playground-process.ts';
import type { PlaygroundProcess } from './playground-process.ts';

let setup: PlaygroundProcess;
let alice: BrowserContext;
/** Uncaught errors of the pages: any fails its test. */
const pageErrors: string[] = [];

beforeAll(async () => {
  setup = await startPlayground();
  alice = await setup.signIn('Alice');
});
afterAll(() => setup.stop());
afterEach(async () => {
  for (const page of alice.pages()) await page.close();
  if (pageErrors.length > 0) throw new Error(pageErrors.splice(0).join('\n'));
});

async function open(address = '/', context = alice): Promise<Page> {
  const page = await context.newPage();
  page.on('pageerror', ({ message }) => pageErrors.push(message));
  await page.goto(setup.baseUrl + address);
  return page;
}

function feedsOf(page: Page) {
  return openRequests(page, /\/events$/);
}

test('an address that names no conversation begins a new one, says so, and its events are shown', async () => {
  const page = await open('/#gone-with-the-data');
  await page.getByText('is not there, or not yours').waitFor();
  expect(new URL(page.url()).hash).toBe('');
  await ask(page);
  await page.locator('aside').getByText('was asked to connect Tracker').waitFor();
  expect(await page.getByText('is not there, or not yours').count()).toBe(0);
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.locator('aside').getByText('Turn completed').waitFor();
});

test('another conversation is a step back, or written into the address', async () => {
  const page = await open();
  await page.locator('select').selectOption('researcher');
  await say(page, 'Thanks!');
  await page.locator('aside').getByText('Turn completed').waitFor();
  const { hash } = new URL(page.url());
  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByText('What can I do for you?').waitFor();
  expect(await events(page)).toEqual([]);
  await page.goBack();
  await page.getByText('Thanks!').waitFor();
  await page.goForward();
  await page.getByText('What can I do for you?').waitFor();
  await page.evaluate((address) => location.assign(address), hash);
  await page.getByText('Thanks!').waitFor();
  await page.locator('aside').getByText('Turn completed').waitFor();
});

test('a conversation comes back with its agent, and so does the next one', async () => {
  const page = await open();
  await expect.poll(() => page.locator('select').inputValue()).toBe('assistant');
  await page.locator('select').selectOption('researcher');
  await say(page, 'Thanks!');
  await page.getByText('welcome').waitFor();
  await page.reload();
  await page.getByText('welcome').waitFor();
  expect(await page.locator('select').inputValue()).toBe('researcher');
  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByText('What can I do for you?').waitFor();
  await say(page, 'Thanks!');
  await page.getByText('welcome').waitFor();
  await page.locator('aside').getByText('researcher').first().waitFor();
});

test('the next conversation has the same agent also while the list of agents is on its way', async () => {
  const page = await open();
  await expect.poll(() => page.locator('select').inputValue()).toBe('assistant');
  await page.locator('select').selectOption('researcher');
  await say(page, 'Thanks!');
  await page.getByText('welcome').waitFor();
  const released = Promise.withResolvers<void>();
  await page.route('**/run/v1/models', async (route) => {
    await released.promise;
    await route.continue();
  });
  await page.reload();
  await page.getByText('welcome').waitFor();
  expect(await page.locator('select').inputValue()).toBe('researcher');
  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByText('What can I do for you?').waitFor();
  released.resolve();
  await page.locator('option', { hasText: 'assistant' }).waitFor({ state: 'attached' });
  expect(await page.locator('select').inputValue()).toBe('researcher');
});

test('a person who signs in first comes to the conversation in the address', async () => {
  const context = await setup.signIn('Alice');
  const page = await open('/', context);
  await ask(page);
  const { hash } = new URL(page.url());
  await context.clearCookies();
  await page.reload();
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Continue as Alice' }).click();
  await page.locator('.card').waitFor();
  expect(new URL(page.url()).hash).toBe(hash);
  // Once, and not whenever the page is opened.
  await page.goto(`${setup.baseUrl}/healthz`);
  await page.goto(setup.baseUrl);
  await page.getByText('What can I do for you?').waitFor();
  await context.close();
});

test('somebody else who signs in first comes to a conversation of their own', async () => {
  const page = await open();
  await ask(page);
  const { hash } = new URL(page.url());
  const context = await setup.browser.newContext({ locale: 'en' });
  const other = await open(`/${hash}`, context);
  await other.getByRole('link', { name: 'Sign in' }).click();
  await other.getByRole('button', { name: 'Continue as Bob' }).click();
  await other.getByText('is not there, or not yours').waitFor();
  await ask(other);
  await other.locator('aside').getByText('was asked to connect Tracker').waitFor();
  await context.close();
});

/** Makes the service refuse the page's access token, as when it has expired. */
async function spoilTokens(page: Page): Promise<void> {
  await page.route(/\/run\//, (route) =>
    route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer spoilt' } }),
  );
}

test('a sign-in that ends in the middle of a turn is said, and leads back to it with what was begun to be written', async () => {
  const context = await setup.signIn('Alice');
  const page = await open('/', context);
  await ask(page);
  await page.locator('textarea').fill('half a sent');
  await context.clearCookies();
  await spoilTokens(page);
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.getByText('Your sign-in has ended.').waitFor();
  await page.locator('.card').waitFor();
  await page.unroute(/\/run\//);
  await page.getByRole('link', { name: 'Sign in again' }).click();
  await page.getByRole('button', { name: 'Continue as Alice' }).click();
  await page.locator('.card').waitFor();
  expect(await page.locator('textarea').inputValue()).toBe('half a sent');
  expect(await page.getByText('Your sign-in has ended.').count()).toBe(0);
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.locator('.settled').waitFor();
  await context.close();
});

test('a window goes on by itself when its sign-in is renewed in another, and not as somebody else', async () => {
  const context = await setup.signIn('Alice');
  const page = await open('/', context);
  await ask(page);
  await context.clearCookies();
  await spoilTokens(page);
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.getByText('Your sign-in has ended.').waitFor();

  const second = await open('/', context);
  await second.getByRole('link', { name: 'Sign in' }).click();
  await second.getByRole('button', { name: 'Continue as Bob' }).click();
  await page.getByText('Another user has signed in').waitFor();
  expect(await page.locator('.settled').count()).toBe(0);

  await page.unroute(/\/run\//);
  await second.getByRole('link', { name: 'Switch user' }).click();
  await second.getByRole('button', { name: 'Continue as Alice' }).click();
  await page.locator('.settled').waitFor();
  expect(await page.getByText('Another user has signed in').count()).toBe(0);
  await context.close();
});

test('new events do not move a list that was scrolled up, and keep one at its end there', async () => {
  const page = await open();
  await page.setViewportSize({ width: 1100, height: 320 });
  await page.locator('select').selectOption('researcher');
  const list = page.locator('aside ol');
  const ended = list.getByText('Turn completed');
  for (let turn = 0; turn < 5; turn += 1) {
    await say(page, 'Thanks!');
    await ended.nth(turn).waitFor();
  }
  const fromEnd = () => list.evaluate((ol) => ol.scrollHeight - ol.scrollTop - ol.clientHeight);
  await expect.poll(fromEnd).toBeLessThan(2);
  expect(await list.evaluate((ol) => ol.scrollHeight - ol.clientHeight)).toBeGreaterThan(160);
  await list.evaluate((ol) => {
    ol.scrollTop = 0;
    return new Promise((resolve) => {
      requestAnimationFrame(() => requestAnimationFrame(resolve));
    });
  });
  await say(page, 'Thanks!');
  await ended.nth(5).waitFor();
  expect(await list.evaluate((ol) => ol.scrollTop)).toBe(0);
});

test('agents that could not be read are asked for once more', async () => {
  const page = await alice.newPage();
  const failing = /\/run\/v1\/models$/;
  await page.route(failing, (route) => route.fulfill({ status: 500, body: 'out of order' }));
  await page.goto(setup.baseUrl);
  await page.getByText('Which agents there are could not be read').waitFor();
  expect(await page.locator('select option').count()).toBe(0);
  await page.unroute(failing);
  await page.locator('.notices').getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => page.locator('select option').count()).toBe(3);
  expect(await page.locator('.notices').innerText()).toBe('');
});

test('events that could not be read are asked for once more', async () => {
  const page = await open();
  const failing = /\/events(?:\?|$)/;
  // The page tries again by itself when there is news of the turn, so the fault lasts until the button is pressed.
  await page.route(failing, async (route) => {
    const isPressed = await page.evaluate(() => document.body.dataset['pressed'] !== undefined);
    return isPressed ? route.fallback() : route.fulfill({ status: 500, body: 'out of order' });
  });
  await page.evaluate(() => {
    const press = ({ target }: Event) => {
      if ((target as Element).closest('aside')) document.body.dataset['pressed'] = '';
    };
    document.addEventListener('click', press, { capture: true });
  });
  await ask(page);
  const retry = page.locator('aside').getByRole('button', { name: 'Try again' });
  await retry.click();
  await page.locator('aside').getByText('was asked to connect Tracker').waitFor();
  expect(await retry.count()).toBe(0);
});

test('no connection is held for the events of a turn that waits for somebody, and none is missing afterwards', async () => {
  const page = await open();
  const feeds = feedsOf(page);
  await ask(page);
  await page.locator('aside').getByText('was asked to connect Tracker').waitFor();
  await expect.poll(feeds.count).toBe(0);
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.locator('aside').getByText('Turn completed').waitFor();
  const shown = await events(page);
  expect(shown.filter((title) => title.includes('was asked'))).toHaveLength(1);
  // A window that reads them all at once tells the same.
  const second = await open(`/${new URL(page.url()).hash}`);
  await second.locator('aside').getByText('Turn completed').waitFor();
  expect(await events(second)).toEqual(shown);
});

test('a window that nobody looks at holds no connection, and shows what it missed', async () => {
  const page = await open();
  const feeds = feedsOf(page);
  await page.locator('select').selectOption('researcher');
  await say(page, 'Thanks!');
  await page.locator('aside').getByText('Turn completed').waitFor();
  await look(page, false);
  await expect.poll(feeds.count).toBe(0);
  const second = await open(`/${new URL(page.url()).hash}`);
  await second.getByText('welcome').waitFor();
  await say(second, 'Thanks!');
  await second.locator('aside').getByText('Turn completed').nth(1).waitFor();
  expect(await page.locator('aside').getByText('Turn completed').count()).toBe(1);
  await look(page, true);
  await page.locator('aside').getByText('Turn completed').nth(1).waitFor();
  expect(await events(page)).toEqual(await events(second));
});

test('four windows with a question each leave room for a fifth, and for an answer', async () => {
  const pages: Page[] = [];
  for (let window = 0; window < 4; window += 1) {
    const page = await open();
    await ask(page);
    await page.locator('aside').getByText('was asked to connect Tracker').waitFor();
    pages.push(page);
  }
  const fifth = await open();
  await fifth.getByText('What can I do for you?').waitFor();
  await pages[1]?.getByRole('button', { name: 'Not now' }).click();
  await pages[1]?.locator('.settled').waitFor();
});
