/**
 * The way back: whoever sends somebody to these pages may name an address that their last page offers as a button.
 * Only addresses that the operator allows, and only those that everybody reads alike. Nobody is sent there without
 * pressing, and what is carried along is checked again on every page.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { html } from '../../html/html.ts';
import type { Html } from '../../html/html.ts';
import { sendPage } from './layout.ts';
import { notice } from './outcome-pages.ts';
import type { Refusals } from './refusals.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the person wants to go back to when they are done here; checked. */
    returnUrl: string | null;
  }
}

const maxLength = 2_000;
const given = z.object({ returnUrl: z.unknown() });
/** Answers of others, whose parameters are theirs to name. */
const answers = ['/auth/callback', '/auth/login/callback', '/slack/link/callback', '/slack/oauth/callback'];

/** Every page of `pages` and below refuses an address that is not allowed; `request.returnUrl` has the one that is. */
export function acceptReturnUrls(pages: FastifyInstance, allowed: string[], refusals: Refusals): void {
  pages.decorateRequest('returnUrl', null);
  pages.addHook('preHandler', async (request, reply) => {
    if (answers.includes(request.routeOptions.url ?? '')) return undefined;
    const texts = [request.query, request.body].flatMap(
      (fields) => given.safeParse(fields).data?.returnUrl ?? [],
    );
    const [text] = texts;
    if (text === undefined) return undefined;
    request.returnUrl = new Set(texts).size === 1 ? allowedReturnUrl(text, allowed) : null;
    if (request.returnUrl !== null) return undefined;
    await refusals.record(request, 'a way back that is not allowed', { detail: hostOf(text) });
    return sendPage(reply, notAllowed);
  });
}

const notAllowed = notice(
  400,
  'This link leads back to a place that is not allowed',
  'Nothing was changed. Open the link from your conversation, or tell whoever gave it to you.',
);

/** The address as it may be shown and followed, or null. */
export function allowedReturnUrl(text: unknown, allowed: string[]): string | null {
  if (typeof text !== 'string' || text.length > maxLength) return null;
  // What another reader than this one could take for something else is out before anything is read.
  if (!/^https?:\/\/[!-[\]-~]+$/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const [, authority = '', path = ''] = /^[^:]+:\/\/([^/?#]*)([^?#]*)/.exec(text) ?? [];
  if (authority.includes('@') || !isPlainPath(path === '' ? '/' : path, url)) return null;
  // Reading it may have made it longer, and it has to pass here again on every page.
  const isShort = url.href.length <= maxLength;
  return isShort && allowed.some((one) => isBelow(url, new URL(one))) ? url.href : null;
}

/** Means the same before and after it is decoded, whoever decodes it: no dots, slashes or controls in disguise. */
function isPlainPath(path: string, { pathname }: URL): boolean {
  if (path !== pathname || path.includes('//')) return false;
  if (/%(?![0-9a-f]{2})/i.test(path) || /%(?:2[ef]|5c|25|[01][0-9a-f]|7f)/i.test(path)) return false;
  return !path.split('/').some((segment) => /^\.{1,2}(?:;|$)/.test(segment));
}

function isBelow({ origin, pathname }: URL, allowed: URL): boolean {
  const folder = allowed.pathname.endsWith('/') ? allowed.pathname : `${allowed.pathname}/`;
  return origin === allowed.origin && (pathname === allowed.pathname || pathname.startsWith(folder));
}

/** For the audit: the host and nothing else of an address that may hold anything. */
function hostOf(text: unknown): string {
  if (typeof text !== 'string' || !/^https?:/i.test(text) || !URL.canParse(text)) return 'no web address';
  return new URL(text).host.slice(0, 255);
}

/** An address of ours that keeps the way back. */
export function keepingReturn(address: string, { returnUrl }: Pick<FastifyRequest, 'returnUrl'>): string {
  if (returnUrl === null) return address;
  const parameter = new URLSearchParams({ returnUrl }).toString();
  return `${address}${address.includes('?') ? '&' : '?'}${parameter}`;
}

/** The same for a form. */
export function returnField({ returnUrl }: Pick<FastifyRequest, 'returnUrl'>): Html | false {
  return returnUrl !== null && html`<input type="hidden" name="returnUrl" value="${returnUrl}" />`;
}
