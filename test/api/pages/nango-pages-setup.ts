/** The pages with a server whose accounts are kept at Nango, with Nango and a browser. */
import type { Browser, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { NangoConfig, ServerConfig } from '../../../src/platform/config/config.ts';
import { serverConfig } from '../../credentials/guarded-server.ts';
import { openPersonsBrowser } from '../../e2e/person.ts';
import type { Person } from '../../e2e/person.ts';
import { startNangoDouble } from '../../servers/nango/nango-double.ts';
import type { NangoDouble } from '../../servers/nango/nango-double.ts';
import type { NangoDoubleOptions } from '../../servers/nango/nango-state.ts';
import { setUpPages } from './pages-setup.ts';

export const alices = { tenant: 'demo', server: 'tracker', user: 'alice' };

export interface NangoPagesSetup extends Awaited<ReturnType<typeof setUpPages>> {
  nango: NangoDouble;
  tracker: ServerConfig;
  /** A signed-in person's browser at an address. */
  openBrowserAs(
    who: 'Alice' | 'Bob',
    browser: Browser,
    url: string,
    options?: { scripts?: boolean },
  ): Promise<Person>;
}

export async function setUpNangoPages(
  options: NangoDoubleOptions = {},
  changes: Partial<NangoConfig> = {},
  returnUrls: string[] = [],
): Promise<NangoPagesSetup> {
  const nango = await startNangoDouble({ requestsPerMinute: null, ...options });
  const { host, apiKey, webhookSigningKey, integration } = nango;
  const websocketsPath = options.websocketsPath ?? '/';
  const config = { host, publicUrl: host, apiKey, webhookSigningKey, websocketsPath, ...changes };
  const tracker: ServerConfig = serverConfig('http://127.0.0.1:9/mcp', {
    store: 'nango',
    nango: { integration },
  });
  const setup = await setUpPages(tracker, {}, [], { returnUrls }, config);
  return {
    ...setup,
    nango,
    tracker,
    async openBrowserAs(who, browser, url, { scripts = true } = {}) {
      const person = await openPersonsBrowser(browser, { scripts, mayAsk: [`${setup.publicUrl}/auth/`] });
      onTestFinished(() => person.leave());
      await person.open(url);
      await person.press(`Continue as ${who}`);
      return person;
    },
  };
}

/** A click before that opens no window. */
export async function isReady({ page }: Person): Promise<void> {
  await page.locator('[data-is-ready]').waitFor();
}

/** Presses, and answers with the window that opens. */
export async function opensWindow(person: Person, button: string): Promise<Page> {
  await isReady(person);
  const opened = person.page.waitForEvent('popup');
  await person.press(button);
  const popup = await opened;
  await popup.getByRole('button', { name: 'Allow' }).waitFor();
  return popup;
}
