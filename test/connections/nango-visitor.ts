/** A person's browser at the pages that connect through Nango, with their popups. */
import type { Browser, BrowserContext, Page } from 'playwright-core';

export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** Waits for this heading. */
  sees(heading: string): Promise<void>;
  press(button: string): Promise<void>;
  /** Presses it and gets to the provider, in a window beside this one or in this one. */
  pressAndGetThere(button: string): Promise<Page>;
  /** Presses it and waits for the window that opens, until the provider's page is in it. */
  pressAndGetWindow(button: string): Promise<Page>;
  /** The same address in a window that no page can close. */
  alsoOpen(window: Page): Promise<Page>;
  leave(): Promise<void>;
}

/** Opens the link and signs in. */
export async function comeToThePage(
  browser: Browser,
  url: string,
  user: 'alice' | 'bob',
  context?: BrowserContext,
): Promise<Visitor> {
  const own = context ?? (await browser.newContext({ locale: 'en' }));
  const page = await own.newPage();
  await page.goto(url);
  if (!context)
    await page
      .getByRole('button', { name: user === 'alice' ? 'Continue as Alice' : 'Continue as Bob' })
      .click();
  return visitorAt(page);
}

export function visitorAt(page: Page): Visitor {
  const context = page.context();
  const press = (button: string) => page.getByRole('button', { name: button }).click();
  return {
    page,
    context,
    sees: (heading) => page.getByRole('heading', { name: heading, exact: true }).waitFor(),
    press,
    async pressAndGetThere(button) {
      const opened = page.waitForEvent('popup').catch(() => page);
      const there = atProvider(page).then(() => page);
      await press(button);
      const [beside] = await Promise.race([
        opened.then(async (popup) => atProvider(popup).then(() => [popup])),
        there.then((same) => [same]),
      ]);
      return beside ?? page;
    },
    async pressAndGetWindow(button) {
      await page.locator('[data-is-ready]').waitFor();
      const opened = page.waitForEvent('popup');
      await press(button);
      const beside = await opened;
      await atProvider(beside);
      return beside;
    },
    async alsoOpen(window) {
      const own = await context.newPage();
      await own.goto(window.url());
      await page.bringToFront();
      return own;
    },
    leave: () => context.close(),
  };
}

export async function atProvider(page: Page): Promise<void> {
  await page.getByRole('heading', { name: 'Sign in to Acme' }).waitFor();
}

/** At the provider's page. */
export async function allow(page: Page, person: 'Alice' | 'Bob' = 'Alice'): Promise<void> {
  await page.getByLabel(person).check();
  await page.getByRole('button', { name: 'Allow' }).click();
}

export async function deny(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Deny' }).click();
}
