import { unescaped } from './browser.ts';
import type { Shown } from './browser.ts';

/** Where the page that leads to the provider leads to. */
export function onward(page: Pick<Shown, 'text'>): string {
  const [, url = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(page.text) ?? [];
  return unescaped(url);
}
