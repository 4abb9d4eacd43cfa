/** Small elements of the pages: icons, which are decoration only, lines of details, and times. */
import { hash } from 'node:crypto';
import type { Context } from '@interlude-ai/core/elicitation/elicitation.ts';
import { firstLetter, lookOf } from '@interlude-ai/core/elicitation/server-look.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';
import type { PageWords } from './words.ts';

/** The picture of a server, or its first letter on its colour; in an SVG, because the policy forbids styles of elements. */
export function serverMark(server: Parameters<typeof lookOf>[0]): Html {
  const { picture, letter, colour, ink } = lookOf(server);
  const drawn =
    picture === null
      ? html`<svg viewBox="0 0 48 48">
          <rect width="48" height="48" fill="${colour}" />
          <text x="24" y="25" fill="${ink}" text-anchor="middle" dominant-baseline="central">${letter}</text>
        </svg>`
      : html`<img src="${picture}" alt="" />`;
  return html`<div class="mark server" aria-hidden="true">${drawn}</div>`;
}

/** The mark of the server or agent that asks, as its question describes it. */
export function askerMark({ server, colour, picture }: Context, title: string): Html {
  return serverMark({ name: server ?? title, title, colour, picture });
}

/** The mark of something other than a server, such as Slack. */
export function monogram(title: string): Html {
  return html`<div class="mark" aria-hidden="true">${firstLetter(title)}</div>`;
}

export const tick = sign('good', 'm5 12.5 4.5 4.5L19 7.5');
export const exclamation = sign('warn', 'M12 7v6M12 17v.01');
/** For questions that need no answer any more. */
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

/** For a button without text. */
export const cross = html`<svg viewBox="0 0 24 24" aria-hidden="true">
  <path d="M6 6l12 12M18 6 6 18" />
</svg>`;

/** In the browser's tab. Inline, because the policy forbids /favicon.ico. */
export const icon =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><rect width='16' height='16' rx='4' fill='%233056d3'/><path d='M6 5v6M10 5v6' stroke='white' stroke-width='2' stroke-linecap='round'/></svg>";

/** For use inside `<dl>`. */
export function detail(term: string, description: Html): Html {
  return html`<div>
    <dt>${term}</dt>
    <dd>${description}</dd>
  </div>`;
}

export function scopeList(scopes: string[]): Html {
  return html`<ul class="scopes">
    ${scopes.map((scope) => html`<li>${scope}</li>`)}
  </ul>`;
}

const formats = {
  clock: { timeStyle: 'short' },
  day: { dateStyle: 'long' },
  second: { dateStyle: 'medium', timeStyle: 'medium' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;
/** English dates and times as outside the United States. */
const locales: Partial<Record<string, string>> = { en: 'en-GB' };

export function timeOf(
  at: Date | number,
  shown: keyof typeof formats,
  { language }: Pick<PageWords, 'language'>,
): Html {
  const time = new Date(at);
  const options = { ...formats[shown], timeZone: 'UTC' };
  const text = new Intl.DateTimeFormat(locales[language] ?? language, options).format(time);
  const zone = shown === 'day' ? '' : ' UTC';
  return html`<time datetime="${time.toISOString()}" data-shown="${shown}">${text}${zone}</time>`;
}

/**
 * Shows times in the reader's time zone; the UTC time becomes the title. Inputs for times show local times, and send instants; an
 * unchanged one is sent as it came. A date that is not complete is reported, because browsers send it as an empty one.
 */
const script = `const { lang } = document.documentElement;
const locale = ${JSON.stringify(locales)}[lang] ?? lang;
for (const time of document.querySelectorAll('time[data-shown]')) {
  const options = ${JSON.stringify(formats)}[time.dataset.shown];
  time.title = time.textContent;
  time.textContent = new Intl.DateTimeFormat(locale, options).format(new Date(time.dateTime));
}
for (const input of document.querySelectorAll('input[type=datetime-local]')) {
  const given = input.value;
  if (given) {
    const time = new Date(given + 'Z');
    const local = new Date(time - time.getTimezoneOffset() * 60000);
    input.value = local.toISOString().slice(0, given.length);
  }
  const shown = input.value;
  document.getElementById(input.id + '-zone').remove();
  input.form.addEventListener('formdata', ({ formData }) => {
    const { value } = input;
    if (value) formData.set(input.name, value === shown ? given : new Date(value).toISOString());
  });
}
for (const form of document.querySelectorAll('form[novalidate]'))
  form.addEventListener('submit', (event) => {
    const isAnswer = event.submitter?.value === 'accept';
    const unfinished = isAnswer && [...form.elements].find((element) => element.validity.badInput);
    if (!unfinished) return;
    event.preventDefault();
    unfinished.reportValidity();
  });`;

/** For the end of a page with times. */
export const timesScript: Html = { markup: `<script>${script}</script>` };
export const timesScriptHash = `sha256-${hash('sha256', script, 'base64')}`;
