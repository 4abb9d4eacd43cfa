/** The signs above a page's heading and in its tab. Decoration: the heading says the same in words. */
import { html } from '../../html/html.ts';
import type { Html } from '../../html/html.ts';

export function monogram(title: string): Html {
  return html`<div class="mark" aria-hidden="true">${initial(title)}</div>`;
}

/** Something is under way. */
export function busyMonogram(title: string): Html {
  return html`<div class="mark busy" aria-hidden="true">${initial(title)}</div>`;
}

function initial(title: string): string | undefined {
  const [first] = new Intl.Segmenter().segment(title);
  return first?.segment.toUpperCase();
}

export const tick = sign('good', 'm5 12.5 4.5 4.5L19 7.5');
export const exclamation = sign('warn', 'M12 7v6M12 17v.01');
/** Nobody needs an answer any more. */
export const dash = sign('quiet', 'M7 12h10');
export const clock = sign('quiet', 'M12 4a8 8 0 1 0 0 16 8 8 0 1 0 0-16M12 8v4.5l3 1.5');
export const person = sign(
  'quiet',
  'M12 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 1 0 0-7M5 19.5c1-3.5 4-5 7-5s6 1.5 7 5',
);

function sign(mood: 'good' | 'warn' | 'quiet', path: string): Html {
  return html`<div class="mark ${mood}" aria-hidden="true">
    <svg viewBox="0 0 24 24"><path d="${path}" /></svg>
  </div>`;
}

/** On a button that has no other words. */
export const cross = html`<svg viewBox="0 0 24 24" aria-hidden="true">
  <path d="M6 6l12 12M18 6 6 18" />
</svg>`;

/** A pause, in the browser's tab. Without one of its own, a browser would ask for /favicon.ico and be refused by the policy. */
export const icon =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='%233056d3'/><path d='M6 5v6M10 5v6' stroke='white' stroke-width='2' stroke-linecap='round'/></svg>";
