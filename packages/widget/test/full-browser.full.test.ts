/** The widget in a browser that has all that people's browsers have, where the others have it switched off or left out. */
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { names, storageApart } from '../../../test/browsers/chromium.ts';
import { launchFound } from '../../../test/browsers/launch.ts';
import type { Launched } from '../../../test/browsers/launch.ts';
import { findProgram } from '../../../test/programs/find-program.ts';
import type { Program } from '../../../test/programs/find-program.ts';
import { useDevelopmentServer } from '../../../test/service/use-development-server.ts';
import { connectJourney } from './connect-journey.ts';
import { declineElsewhere, setUpWidgetPage } from './widget-page.ts';
import type { WidgetPageSetup } from './widget-page.ts';

/**
 * A full Chromium, headless: the machine's own (CHROMIUM_PATH, or on the PATH), else Debian's. Unlike the small one of most
 * tests, it has a popup blocker and a back-forward cache.
 */
const program: Program = {
  given: 'CHROMIUM_PATH',
  names,
  package: 'chromium',
  executable: 'usr/lib/chromium/chromium',
};

async function launchFullChromium(): Promise<Launched> {
  return launchFound(await findProgram(program), ({ executable, env }) =>
    chromium.launch({
      executablePath: executable,
      env: { ...process.env, ...env },
      ignoreDefaultArgs: ['--disable-popup-blocking', '--disable-back-forward-cache'],
      args: ['--headless=new', ...storageApart],
    }),
  );
}

// The first one waits for a browser that has just been started.
vi.setConfig({ testTimeout: 60_000 });

const fetchingMs = 180_000;
const stack = new AsyncDisposableStack();
const temporal = useDevelopmentServer();
let launched: Launched;
let browser: Browser;
let setup: WidgetPageSetup;

beforeAll(async () => {
  launched = await launchFullChromium();
  if (launched.kind === 'missing') return void process.stderr.write(`No full Chromium: ${launched.why}\n`);
  browser = launched.browser;
  stack.defer(() => browser.close());
  setup = await setUpWidgetPage({ browser, temporal });
  stack.defer(() => setup.stop());
}, fetchingMs);
afterAll(() => stack.disposeAsync());
beforeEach(({ skip }) => {
  if (launched.kind === 'missing') skip(launched.why);
});

describe.each([
  { where: 'in the page', isFramed: false },
  { where: 'in a frame of another site', isFramed: true },
])('$where', ({ isFramed }) => {
  test('alice connects in a second window, which no popup blocker stops', () =>
    connectJourney(setup, { isFramed }));

  test('a window that nobody has clicked for is stopped', async () => {
    const context = await browser.newContext({ locale: 'en' });
    await context.addInitScript(() =>
      Object.assign(globalThis, { isStopped: window.open('about:blank') === null }),
    );
    const { view, leave } = await setup.visit({ user: 'bob', context, isFramed });
    expect(await view.evaluate(() => (globalThis as never)['isStopped'])).toBe(true);
    expect(context.pages()).toHaveLength(1);
    await leave();
    await context.close();
  });
});

test('what is begun to be written is kept in a frame of another site, apart from what its own site has', async () => {
  const own = await setup.visit({ user: 'bob' });
  await own.view.evaluate(() => localStorage.setItem('whose', 'its own'));
  const framed = await setup.visit({ user: 'bob', context: own.context, isFramed: true });
  expect(await framed.view.evaluate(() => localStorage.getItem('whose'))).toBe(null);
  await framed.view.locator('textarea').fill('half a sent');
  await expect
    .poll(() => framed.view.evaluate(() => JSON.stringify(sessionStorage)))
    .toContain('half a sent');
  await framed.leave();
  await own.leave();
});

/** Notes when the page comes back, and whether as it was. */
function watchReturns(page: Page): Promise<void> {
  return page.evaluate(() => {
    Object.assign(globalThis, { returns: [] });
    addEventListener('pageshow', ({ persisted }) => {
      (globalThis as unknown as { returns: boolean[] }).returns.push(persisted);
    });
  });
}

test.each(['while the page is away', 'in the page that has come back'])(
  'a page that is left while a question waits is kept aside; answered %s, it shows how it ended',
  async (where) => {
    const { page, say, conversation, leave } = await setup.visit({ user: 'bob' });
    await say('list my open issues');
    await page.locator('.card').waitFor();
    const asked = await conversation();
    await watchReturns(page);
    await page.goto('about:blank');
    if (where === 'while the page is away') await declineElsewhere(setup, asked);
    await page.goBack({ waitUntil: 'commit' });
    await expect.poll(() => page.evaluate(() => (globalThis as never)['returns'])).toEqual([true]);
    if (where !== 'while the page is away') await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByText('Tracker: You said “not now”').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await page.locator('.settled').count()).toBe(1);
    expect(await page.locator('.card').count()).toBe(0);
    expect(await page.locator('.bubble').allInnerTexts()).toEqual(['list my open issues']);
    await leave();
  },
);
