/** A person at a real browser: what they press, what they see, and that nothing is wrong with any page on the way. */
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { isFavicon } from '../browsers/chromium.ts';
import { axeFindings, picture } from '../browsers/findings.ts';

export type Person = Awaited<ReturnType<typeof openPersonsBrowser>>;

const looks = {
  narrow: { colorScheme: 'light', width: 360, height: 740 },
  dark: { colorScheme: 'dark', width: 900, height: 760 },
  light: { colorScheme: 'light', width: 900, height: 760 },
} as const;

/** `mayAsk`: what the addresses begin with that a page's own script may ask for, and may be refused. */
export async function openPersonsBrowser(browser: Browser, { scripts = true, mayAsk = [] as string[] } = {}) {
  const context = await browser.newContext({ javaScriptEnabled: scripts, locale: 'en' });
  const page = await context.newPage();
  const complaints: string[] = [];
  const isAllowed = (url: string) => mayAsk.some((one) => url.startsWith(one));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // A page with a status of 400 and more is reported as such; the tests look at what it says.
    // A library asks once whether it may make code, and goes on without.
    if (message.text().includes("'unsafe-eval'")) return;
    const { url } = message.location();
    const isKnown = url === page.url() || isFavicon(url) || isAllowed(url);
    if (!isKnown || !message.text().startsWith('Failed to load resource')) complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.isNavigationRequest() && !isAllowed(request.url()))
      complaints.push(`asked for ${request.url()}`);
  });

  async function inspect(): Promise<void> {
    const problems: string[] = [];
    for (const [name, { colorScheme, width, height }] of Object.entries(looks)) {
      // Both need scripts of their own on the page; the pages are the same without.
      if (!scripts) break;
      // A card that is still fading in has too little contrast.
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height });
      if (name !== 'narrow') problems.push(...(await axeFindings(page)).map((found) => `${name}: ${found}`));
      if (await isTooWide(page)) problems.push(`${name}: wider than the window`);
      await picture(page, `${await page.title()} ${name}`);
    }
    problems.push(...complaints);
    if (problems.length > 0) throw new Error(`"${await page.title()}" has problems:\n${problems.join('\n')}`);
  }

  return {
    page,
    open: async (url: string) => void (await page.goto(url)),
    press: (button: string) => page.getByRole('button', { name: button }).click(),
    follow: (link: string) => page.getByRole('link', { name: link }).click(),
    /** Waits for the heading, and looks at the page in light, in dark and on a narrow phone. */
    async sees(heading: string) {
      await page.getByRole('heading', { name: heading, exact: true }).waitFor();
      await inspect();
    },
    text: () => page.innerText('body'),
    /** Moves there with the Tab key and presses Enter. */
    async tabTo(words: string) {
      const focused = page.locator(':focus');
      for (let presses = 0; presses < 12; presses++) {
        await page.keyboard.press('Tab');
        if ((await focused.count()) > 0 && (await focused.innerText()).includes(words)) {
          const outline = await focused.evaluate((element) => getComputedStyle(element).outlineStyle);
          expect(outline, `${words}: one can see where one is`).toBe('solid');
          return page.keyboard.press('Enter');
        }
      }
      throw new Error(`"${words}" cannot be reached with the Tab key`);
    },
    leave: () => context.close(),
  };
}

function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
}
