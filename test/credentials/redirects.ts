import { openBrowser } from '../browsers/plain-browser.ts';

/** A person's browser at a provider, until it is sent to our callback. Pass the same one again for a person who is still signed in. */
export async function followRedirects(url: string, until: string, browser = openBrowser()): Promise<URL> {
  const page = await browser.get(url, {}, ({ href }) => href.startsWith(until));
  if (page.status !== 0) throw new Error(`stuck with ${page.status}: ${page.html}`);
  return page.url;
}

/** The callback URL for this authorization request, with the provider's answer. */
export function callbackFor(leaving: URL, answer: Record<string, string>): URL {
  const callback = new URL(leaving.searchParams.get('redirect_uri') ?? '');
  const state = leaving.searchParams.get('state') ?? '';
  callback.search = new URLSearchParams({ state, ...answer }).toString();
  return callback;
}
