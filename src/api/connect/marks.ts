/** The sign above a page's heading. Decoration: the heading says the same in words. */
import { html } from './html.ts';
import type { Html } from './html.ts';

export function monogram(title: string): Html {
  const [first] = new Intl.Segmenter().segment(title);
  return html`<div class="mark" aria-hidden="true">${first?.segment.toUpperCase()}</div>`;
}

export const tick = html`<div class="mark good" aria-hidden="true">
  <svg viewBox="0 0 24 24"><path d="m5 12.5 4.5 4.5L19 7.5" /></svg>
</div>`;
export const exclamation = html`<div class="mark warn" aria-hidden="true">
  <svg viewBox="0 0 24 24"><path d="M12 7v6M12 17v.01" /></svg>
</div>`;
