/**
 * The way back: a link to these pages may have a `returnUrl`, which the last page offers as a button. It must be below a URL that
 * the operator allows, and all URL parsers must read it alike. It is never followed automatically, and checked on every page.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { connectionsAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import { sendPage } from './layout.ts';
import { notice } from './outcome-pages.ts';
import type { Refusals } from './refusals.ts';
import { wordsOf } from './words.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Where the person wants to go back to; checked. */
    returnUrl: string | null;
  }
}

const maxLength = 2_000;
const given = z.object({ returnUrl: z.unknown() });
/** Callbacks, whose parameters are not ours. */
const answers = [
  '/auth/callback/:issuer',
  '/auth/login/callback',
  '/slack/link/callback',
  '/slack/oauth/callback',
];

/** Sets `request.returnUrl`, or refuses the request if the URL is not allowed. */
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
    return sendPage(reply, notice(wordsOf(request), 400, 'wayBackNotAllowed'));
  });
}

/** The normalized URL, or null if it is not allowed. */
export function allowedReturnUrl(text: unknown, allowed: string[]): string | null {
  if (typeof text !== 'string' || text.length > maxLength) return null;
  // Refuse characters that other parsers may read differently.
  if (!/^https?:\/\/[!-[\]-~]+$/i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const [, authority = '', path = ''] = /^[^:]+:\/\/([^/?#]*)([^?#]*)/.exec(text) ?? [];
  if (authority.includes('@') || !isPlainPath(path === '' ? '/' : path, url)) return null;
  // Normalizing may have made it longer, and it is checked again on every page.
  const isShort = url.href.length <= maxLength;
  return isShort && allowed.some((one) => isBelow(url, new URL(one))) ? url.href : null;
}

/** The path means the same before and after decoding: no encoded dots, slashes or controls. */
function isPlainPath(path: string, { pathname }: URL): boolean {
  if (path !== pathname || path.includes('//')) return false;
  if (/%(?![0-9a-f]{2})/i.test(path) || /%(?:2[ef]|5c|25|[01][0-9a-f]|7f)/i.test(path)) return false;
  return !path.split('/').some((segment) => /^\.{1,2}(?:;|$)/.test(segment));
}

function isBelow({ origin, pathname }: URL, allowed: URL): boolean {
  const folder = allowed.pathname.endsWith('/') ? allowed.pathname : `${allowed.pathname}/`;
  return origin === allowed.origin && (pathname === allowed.pathname || pathname.startsWith(folder));
}

/** For the audit: only the host of an untrusted URL. */
function hostOf(text: unknown): string {
  if (typeof text !== 'string' || !/^https?:/i.test(text) || !URL.canParse(text)) return 'no web address';
  return new URL(text).host.slice(0, 255);
}

/** Adds the `returnUrl` to an address of ours. */
export function keepingReturn(address: string, { returnUrl }: Pick<FastifyRequest, 'returnUrl'>): string {
  if (returnUrl === null) return address;
  const parameter = new URLSearchParams({ returnUrl }).toString();
  return `${address}${address.includes('?') ? '&' : '?'}${parameter}`;
}

export function settingsUrl(publicUrl: string, from: Pick<FastifyRequest, 'returnUrl'>): string {
  return keepingReturn(connectionsAddress(publicUrl), from);
}
