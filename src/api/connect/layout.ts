/** The frame around every page, and the headers every page goes out with. */
import type { FastifyReply } from 'fastify';
import { html } from './html.ts';
import type { Html } from './html.ts';
import { icon } from './marks.ts';
import { style, styleHash } from './style.ts';

export interface Page {
  status: number;
  title: string;
  body: Html;
  footer?: Html;
  /** Has more to show than fits a card. */
  isWide?: boolean;
  /** Where the browser goes by itself; a link in the body is there for browsers that do not. */
  onwardUrl?: string;
}

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src '${styleHash}'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  // Not `no-referrer`: with it browsers send `Origin: null` with our own forms, and the origin check needs it.
  'referrer-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
};

export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  return reply.code(page.status).headers(headers).send(render(page));
}

function render({ title, body, footer, isWide, onwardUrl }: Page): string {
  // The sheet is ours and its hash is in the policy: it must not be escaped.
  const sheet: Html = { markup: `<style>${style}</style>` };
  const onward = onwardUrl !== undefined && html`<meta http-equiv="refresh" content="0; url=${onwardUrl}" />`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="icon" href="${icon}" />
        ${onward} ${sheet}
      </head>
      <body>
        <main${isWide === true && html` class="wide"`}>${body}</main>
        ${footer && html`<footer>${footer}</footer>`}
      </body>
    </html> `.markup;
}
