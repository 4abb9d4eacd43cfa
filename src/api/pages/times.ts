/** Times on pages: in UTC as they are sent, and in the reader's time zone where their browser runs this one script. */
import { hash } from 'node:crypto';
import { html } from '../../html/html.ts';
import type { Html } from '../../html/html.ts';

/** Languages and options of `Intl.DateTimeFormat`. Swedes write dates as ISO 8601 has them. */
const formats = {
  clock: ['en-GB', { timeStyle: 'short' }],
  day: ['en-GB', { dateStyle: 'long' }],
  second: ['sv-SE', { dateStyle: 'short', timeStyle: 'medium' }],
} as const satisfies Record<string, [string, Intl.DateTimeFormatOptions]>;

export function timeOf(at: Date | number, shown: keyof typeof formats): Html {
  const time = new Date(at);
  const [language, options] = formats[shown];
  const text = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' }).format(time);
  const zone = shown === 'day' ? '' : ' UTC';
  return html`<time datetime="${time.toISOString()}" data-shown="${shown}">${text}${zone}</time>`;
}

/** What was in UTC is the title. */
const script = `for (const time of document.querySelectorAll('time[data-shown]')) {
  const [language, options] = ${JSON.stringify(formats)}[time.dataset.shown];
  time.title = time.textContent;
  time.textContent = new Intl.DateTimeFormat(language, options).format(new Date(time.dateTime));
}`;

/** At the end of a page that has times. */
export const timesScript: Html = { markup: `<script>${script}</script>` };
export const timesScriptHash = `sha256-${hash('sha256', script, 'base64')}`;
