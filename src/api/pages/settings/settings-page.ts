/** The frame of the three pages of a person: their accounts, what waits for them, and what they have answered. Pure. */
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { signedIn } from '../guarded-form.ts';
import type { SignedIn } from '../guarded-form.ts';
import type { Page } from '../layout.ts';
import { pathOf } from '../login/routes.ts';
import { keepingReturn } from '../return-url.ts';

export interface SettingsView extends SignedIn {
  /** How many open questions the person has. */
  waiting: number;
}

const paths = { waiting: pathOf.waiting, accounts: pathOf.connections, history: pathOf.history };

export function settingsPage(
  view: SettingsView,
  current: keyof typeof paths,
  { heading, lead, body }: { heading: string; lead: string; body: Html },
): Page {
  const { words, publicUrl, waiting } = view;
  const { nav } = words.settings;
  const link = ([name, path]: [string, string]) =>
    html`<a
      href="${keepingReturn(`${publicUrl}${path}`, view)}"
      ${name === current && html`aria-current="page"`}
      >${nav[name as keyof typeof paths]}${name === 'waiting' && waiting > 0 && html` <b>${waiting}</b>`}</a
    >`;
  return {
    status: 200,
    title: heading,
    isWide: true,
    body: html`<nav aria-label="${nav.label}">${Object.entries(paths).map(link)}</nav>
      <h1>${heading}</h1>
      <p class="lead">${lead}</p>
      ${body}
      ${
        view.returnUrl === null &&
        html`<div class="actions">
          <a class="button quiet" href="${publicUrl}/">${words.goToStart}</a>
        </div>`
      }`,
    wayBack: 'button quiet',
    footer: signedIn(view, null),
  };
}
