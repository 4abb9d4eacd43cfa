/** The first thing a new user sees: `npm start`, and the page it names. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { launchChromium } from '../browsers/chromium.ts';
import { inspectPage } from '../browsers/inspect-page.ts';
import { openPersonsBrowser } from './person.ts';
import type { Person } from './person.ts';
import { spawnService, untilReady } from './processes.ts';
import type { ServiceProcess } from './processes.ts';

let service: ServiceProcess;
let browser: Browser;
let baseUrl: string;
let folder: string;
let person: Person;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-playground-'));
  const names = [
    'PORT',
    'DEMO_IDENTITY_PORT',
    'DEMO_TRACKER_PORT',
    'DEMO_TRAVEL_PORT',
    'DEMO_DESK_PORT',
    'DEMO_FLIGHTS_PORT',
    'TEMPORAL_PORT',
    'TEMPORAL_UI_PORT',
  ];
  const ports = await Promise.all(names.map(async (name) => [name, String(await freePort())] as const));
  const env = Object.fromEntries(ports);
  baseUrl = `http://127.0.0.1:${env['PORT']}`;
  service = spawnService('start', { ...env, INTERLUDE_DATA: folder });
  browser = await launchChromium();
  await untilReady(service, baseUrl);
  person = await openPersonsBrowser(browser, { mayAsk: [baseUrl] });
});
afterAll(async () => {
  await person.leave();
  await browser.close();
  await service.kill('SIGTERM');
  await rm(folder, { recursive: true });
});

/** Two dozen steps in a browser, on a busy machine. */
const longTimeout = { timeout: 90_000 };

test('from the first page to an answer that needed an account', longTimeout, async () => {
  const { page } = person;
  await expect.poll(() => service.output()).toMatch(new RegExp(`Playground +${baseUrl}`));
  await person.open(baseUrl);
  await person.sees('Interlude');
  await person.follow('Sign in');
  await person.press('Continue as Alice');
  await page.getByText('What can I do for you?').waitFor();
  await person.sees('Interlude');
  await person.press('List my open issues in Tracker.');
  await page.locator('.card').waitFor();
  await page.getByText('was asked to connect Tracker').waitFor();
  await person.sees('Behind the scenes');
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('link', { name: 'Connect Tracker' }).click(),
  ]);
  // The page knows who is signed in already.
  await popup.getByRole('button', { name: 'Connect Tracker' }).click();
  await popup.getByRole('button', { name: 'Continue as alice' }).click();
  await popup.getByRole('button', { name: 'Allow' }).click();
  await popup.close();
  await page.locator('.settled', { hasText: 'Tracker is connected' }).waitFor();
  await page.locator('aside').getByText('Turn completed').waitFor();
  await page.locator('.markdown').getByText('open issues').waitFor();
  const events = await page.locator('aside li').allInnerTexts();
  expect(events[0]).toMatch(/^0\.0 s\s+Turn started assistant$/);
  expect(events.find((text) => text.includes('was asked'))).toMatch(
    /The user was asked to connect Tracker accepted after \d+(?:\.\d)? s/,
  );
  await person.sees('Behind the scenes');
  expect(await page.getByRole('link', { name: 'Open in Temporal' }).getAttribute('href')).toContain(
    '/workflows/turn%2F',
  );
  await page.reload();
  await page.locator('.markdown').getByText('open issues').waitFor();
  await page.getByRole('button', { name: 'New conversation' }).click();
  await page.getByText('What can I do for you?').waitFor();
});

test('a German browser gets the page, the conversation and the events in German', longTimeout, async () => {
  const context = await browser.newContext({ locale: 'de-DE' });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(baseUrl);
  await page.getByRole('link', { name: 'Anmelden' }).click();
  await page.getByRole('button', { name: 'Weiter als Bob' }).click();
  await page.getByText('Was kann ich für Sie tun?').waitFor();
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('de');
  await page.getByText('Schreiben Sie etwas').waitFor();
  await page.getByRole('button', { name: 'List my open issues in Tracker.' }).click();
  await page.locator('.card').getByText('Tracker braucht Ihren Zugang').waitFor();
  await page.locator('aside').getByText('Gesprächsschritt begonnen').waitFor();
  await page.locator('aside').getByText('Die Person sollte Tracker verbinden').waitFor();
  expect(await inspectPage(page, 'playground in German')).toEqual([]);
});

test('one Tab and Enter lead to the message, whatever is before it', longTimeout, async () => {
  const { page } = person;
  await page.goto(baseUrl);
  await page.getByText('What can I do for you?').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.type('Pay the deposit.');
  expect(await page.getByRole('textbox', { name: 'Your message' }).inputValue()).toBe('Pay the deposit.');
});

test.each([
  ['on a phone', { width: 390, height: 844 }, 100],
  ['on a phone, in letters of twice the size', { width: 390, height: 844 }, 200],
  ['on a phone at 200 percent', { width: 195, height: 422 }, 100],
  ['in a window at 200 percent', { width: 640, height: 400 }, 100],
])(
  '%s a question can be read when it comes, and axe finds nothing',
  longTimeout,
  async (name, viewport, percent) => {
    const { page } = person;
    await page.goto(baseUrl);
    await page.getByText('What can I do for you?').waitFor();
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.setViewportSize(viewport);
    await page.evaluate((size) => (document.documentElement.style.fontSize = size), `${percent}%`);
    await page.getByRole('combobox', { name: 'Agent' }).waitFor();
    await page.getByRole('textbox', { name: 'Your message' }).fill('Pay the deposit.');
    await page.keyboard.press('Enter');
    await page.locator('.card').waitFor();
    await expect.poll(() => isSeen(page, '.card .title')).toBe(true);
    await expect.poll(() => isSeen(page, '.card .message')).toBe(true);
    expect(await page.locator('.in-view').boundingBox()).toMatchObject({ width: 1 });
    const bar = await page.locator('.bar').boundingBox();
    expect(bar?.height).toBeLessThan(viewport.height / 4);
    expect(await inspectPage(page, `playground ${name}`)).toEqual([]);
  },
);

/** All of it is in the window, and nothing is over it. */
function isSeen(page: Page, selector: string): Promise<boolean> {
  return page.locator(selector).evaluate((element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const root = element.getRootNode() as ShadowRoot;
    const corners = [
      [left + 1, top + 1],
      [right - 1, bottom - 1],
    ];
    return corners.every(([x = 0, y = 0]) => {
      const there = root.elementFromPoint(x, y);
      return there !== null && (element.contains(there) || there.contains(element));
    });
  });
}
