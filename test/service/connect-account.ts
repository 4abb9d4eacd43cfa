import { openBrowser } from '../browsers/plain-browser.ts';
import type { Browser, Page } from '../browsers/plain-browser.ts';

/** A person opens the link of a question, signs in, says yes here and at Tracker. Ends on our last page. */
export async function connectAccount(user: 'alice' | 'bob', url: string): Promise<Page> {
  const browser = openBrowser();
  const page = await signIn(browser, user, url);
  return allowAtTracker(browser, await browser.press(page, 'Connect'), user);
}

/** Opens the link as this user: our sign-in page, then the question. */
export async function signIn(browser: Browser, user: 'alice' | 'bob', url: string): Promise<Page> {
  const name = user === 'alice' ? 'Alice' : 'Bob';
  return browser.press(await browser.get(url), `Continue as ${name}`);
}

async function allowAtTracker(browser: Browser, page: Page, account: 'alice' | 'bob'): Promise<Page> {
  return browser.press(await browser.press(page, `Continue as ${account}`), 'Allow');
}
