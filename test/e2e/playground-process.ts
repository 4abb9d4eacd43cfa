/** `npm start`, and people who have signed in. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { freePort } from '../free-port.ts';
import { launchChromium } from '../browsers/chromium.ts';
import { spawnService, untilReady } from './processes.ts';

export interface PlaygroundProcess {
  baseUrl: string;
  browser: Browser;
  /** A browser of their own, with the playground open in it. */
  signIn(user: 'Alice' | 'Bob'): Promise<BrowserContext>;
  stop(): Promise<void>;
}

export async function startPlayground(): Promise<PlaygroundProcess> {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-playground-'));
  const ports = ['PORT', 'DEMO_IDENTITY_PORT', 'DEMO_TRACKER_PORT', 'DEMO_TRAVEL_PORT', 'DEMO_DESK_PORT']
    .concat('DEMO_FLIGHTS_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT')
    .map(async (name) => [name, String(await freePort())] as const);
  const env = Object.fromEntries(await Promise.all(ports));
  const baseUrl = `http://127.0.0.1:${env['PORT']}`;
  const service = spawnService('start', { ...env, INTERLUDE_DATA: folder });
  const browser = await launchChromium();
  await untilReady(service, baseUrl);

  return {
    baseUrl,
    browser,
    async signIn(user) {
      const context = await browser.newContext({ locale: 'en', viewport: { width: 1100, height: 700 } });
      const page = await context.newPage();
      await page.goto(baseUrl);
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: `Continue as ${user}` }).click();
      await page.getByText('What can I do for you?').waitFor();
      await page.close();
      return context;
    },
    async stop() {
      await browser.close();
      await service.kill('SIGTERM');
      await rm(folder, { recursive: true });
    },
  };
}

export async function say(page: Page, text: string): Promise<void> {
  await page.locator('textarea').fill(text);
  await page.locator('.composer button:not([type]):enabled').waitFor();
  await page.keyboard.press('Enter');
}

/** Begins a turn that waits for an account. */
export async function ask(page: Page): Promise<void> {
  await say(page, 'List my open issues in Tracker.');
  await page.locator('.card').waitFor();
}

export function events(page: Page): Promise<string[]> {
  return page.locator('aside li strong').allInnerTexts();
}

/** Requests that are on their way, or still answered, of a path like this. */
export function openRequests(page: Page, wanted: RegExp): { count(): number } {
  const open = new Set<unknown>();
  page.on('request', (request) => {
    if (wanted.test(new URL(request.url()).pathname)) open.add(request);
  });
  for (const over of ['requestfinished', 'requestfailed'] as const)
    page.on(over as 'requestfailed', (request) => open.delete(request));
  return { count: () => open.size };
}

/** As in a window that another one covers, and out of it. */
export async function look(page: Page, isLookedAt: boolean): Promise<void> {
  await page.evaluate((isHidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: isHidden });
    document.dispatchEvent(new Event('visibilitychange'));
  }, !isLookedAt);
}
