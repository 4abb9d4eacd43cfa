/** The frame around every page, and the headers every page goes out with. */
import type { FastifyReply } from 'fastify';
import { html } from '../../html/html.ts';
import type { Html } from '../../html/html.ts';
import { icon } from './marks.ts';
import { style, styleHash } from './style.ts';
import { timesScript, timesScriptHash } from './times.ts';

export interface Page {
  status: number;
  title: string;
  body: Html;
  footer?: Html;
  /** Has more to show than fits a card. */
  isWide?: boolean;
  /** Has lists that take the width of a screen. */
  isFull?: boolean;
  /** Nothing is left to decide: here stands the way back, for whoever came with one. How its button looks. */
  wayBack?: 'button' | 'button quiet';
  /** Where the browser goes by itself; a link in the body is there for browsers that do not. */
  onwardUrl?: string;
  /** Does more for browsers that run it; without it the page works as well. */
  script?: PageScript;
}

/** Instead of a page: where the browser gets it, so that loading it again sends nothing again. */
export interface Redirect {
  redirectTo: string;
}

/** Ours, from our own origin. */
export interface PageScript {
  src: string;
  /** The one other origin that it may talk to. */
  connectTo: string;
}

/** `scripts`: besides the one for times. */
function policy(scripts = '', more = ''): string {
  return `default-src 'none'; script-src '${timesScriptHash}'${scripts}; style-src '${styleHash}'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'${more}`;
}

/** Redirects between pages have them, too. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': policy(),
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  // Not `no-referrer`: with it browsers send `Origin: null` with our own forms, and the origin check needs it.
  'referrer-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
};

export function sendPage(reply: FastifyReply, page: Page | Redirect): FastifyReply {
  if ('redirectTo' in page) return reply.redirect(page.redirectTo, 303);
  const { status, script } = page;
  return reply
    .code(status)
    .headers({ ...pageHeaders, ...(script && headersWith(script)) })
    .send(render(page, reply.request.returnUrl));
}

function headersWith({ connectTo }: PageScript): Record<string, string> {
  return {
    'content-security-policy': policy(" 'self'", `; connect-src 'self' ${connectTo}`),
    // Windows that the page opens stay its own; whoever opened the page gets no hold of it.
    'cross-origin-opener-policy': 'same-origin-allow-popups',
  };
}

function render(page: Page, returnUrl: string | null): string {
  const { title, body, footer, isWide, isFull, wayBack, onwardUrl, script } = page;
  const width = (isFull === true && 'full') || (isWide === true && 'wide');
  // The sheet is ours and its hash is in the policy: it must not be escaped.
  const sheet: Html = { markup: `<style>${style}</style>` };
  const onward = onwardUrl !== undefined && html`<meta http-equiv="refresh" content="0; url=${onwardUrl}" />`;
  const back =
    wayBack !== undefined &&
    returnUrl !== null &&
    html`<div class="actions">
      <a class="${wayBack}" href="${returnUrl}" referrerpolicy="no-referrer"
        >Back to ${new URL(returnUrl).host}</a
      >
    </div>`;
  return html`<!doctype html>
    <html lang="en">
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
