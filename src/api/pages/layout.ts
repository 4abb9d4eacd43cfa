/** The frame and the response headers of every page. */
import type { FastifyReply } from 'fastify';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { icon, timesScript, timesScriptHash } from './elements.ts';
import { style, styleHash } from './style.ts';
import { wordsOf } from './words.ts';
import type { PageWords } from './words.ts';

export interface Page {
  status: number;
  title: string;
  body: Html;
  footer?: Html;
  /** Wider than a card. */
  isWide?: boolean;
  /** For lists, as wide as the screen. */
  isFull?: boolean;
  /** Show the button to `returnUrl` if there is one, with this class. */
  wayBack?: 'button' | 'button quiet';
  /** The browser is sent there at once; the body also has a link. */
  onwardUrl?: string;
  /** Optional: the page works without it, too. */
  script?: PageScript;
}

/** After a POST, so that reloading does not send the form again. */
export interface Redirect {
  redirectTo: string;
}

export interface PageScript {
  src: string;
  /** The only other origin that it may connect to. */
  connectTo: string;
}

function policy(scripts = '', more = ''): string {
  return `default-src 'none'; script-src '${timesScriptHash}'${scripts}; style-src '${styleHash}'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'${more}`;
}

/** Also for redirects between pages. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy(),
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  // Not `no-referrer`: with it browsers send `Origin: null` with our own forms, and the origin check needs it.
  'referrer-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
  vary: 'accept-language',
  'x-robots-tag': 'noindex',
};

export function sendPage(reply: FastifyReply, page: Page | Redirect): FastifyReply {
  if ('redirectTo' in page) return reply.redirect(page.redirectTo, 303);
  const { status, script } = page;
  return reply
    .code(status)
    .headers({ ...pageHeaders, ...(script && headersWith(script)) })
    .send(render(page, wordsOf(reply.request), reply.request.returnUrl));
}

function headersWith({ connectTo }: PageScript): Record<string, string> {
  return {
    'content-security-policy': policy(" 'self'", `; connect-src 'self' ${connectTo}`),
    // The page keeps access to windows that it opens; its own opener gets none.
    'cross-origin-opener-policy': 'same-origin-allow-popups',
  };
}

function render(page: Page, words: PageWords, returnUrl: string | null): string {
  const { title, body, footer, isWide, isFull, wayBack, onwardUrl, script } = page;
  const width = (isFull === true && 'full') || (isWide === true && 'wide');
  // Not escaped, because its hash is in the policy.
  const sheet: Html = { markup: `<style>${style}</style>` };
  const onward = onwardUrl !== undefined && html`<meta http-equiv="refresh" content="0; url=${onwardUrl}" />`;
  const back =
    wayBack !== undefined &&
    returnUrl !== null &&
    html`<div class="actions">
      <a class="${wayBack}" href="${returnUrl}" referrerpolicy="no-referrer"
        >${words.backTo(new URL(returnUrl).host)}</a
      >
    </div>`;
  return html`<!doctype html>
    <html lang="${words.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="${icon}" />
        ${onward} ${sheet} ${script && html`<script type="module" src="${script.src}"></script>`}
      </head>
      <body>
        <main${width !== false && html` class="${width}"`}>${body} ${back}</main>
        ${footer && html`<footer>${footer}</footer>`} ${body.markup.includes('data-shown=') && timesScript}
      </body>
    </html> `.markup;
}
