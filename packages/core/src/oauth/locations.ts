/** Documents of a sign-in can be at one of several places. One that cannot be used is noted, and the next place is tried. */
import type { FetchLike } from '@modelcontextprotocol/client';
import { isRecord } from '../elicitation/form/schema-keywords.ts';

/** Documents that could not be used, for operators: where, and what is wrong with them. */
export type Broken = string[];

/** `what`: the rest of a sentence that begins with the address. */
export function noteBroken(broken: Broken, address: string | URL, what: string): void {
  const { origin, pathname } = new URL(address);
  broken.push(`${origin}${pathname} ${what}`.slice(0, 300));
}

/**
 * For a library that tries several places and stops at the first one that does not answer 404: turns an answer that is not
 * a document with this member into a 404.
 */
export function skippingBroken(fetch: FetchLike, member: string, broken: Broken): FetchLike {
  return async (url, init) => {
    try {
      const response = await fetch(url, init);
      const fault = response.ok ? faultOf(await response.clone().text(), member) : faultOfStatus(response);
      if (fault === undefined) return response;
      if (fault !== null) noteBroken(broken, url, fault);
    } catch (error) {
      if (!(error instanceof OutboundError && error.failure === 'too-large')) throw error;
      noteBroken(broken, url, error.happened);
    }
    return new Response(null, { status: 404 });
  };
}

/** `skippingBroken` for all requests of a sign-in; requests for other documents pass unchanged. */
export function skippingBrokenDocuments(fetch: FetchLike): FetchLike {
  const broken: Broken = [];
  const resources = skippingBroken(fetch, 'resource', broken);
  const metadata = skippingBroken(fetch, 'issuer', broken);
  return (url, init) => {
    const { pathname } = new URL(url);
    if (pathname.includes('/.well-known/oauth-protected-resource')) return resources(url, init);
    return pathname.includes('/.well-known/') ? metadata(url, init) : fetch(url, init);
  };
}

/** Null: there is no document, which is not an error. */
export function faultOfStatus({ status }: Response): string | null {
  return status >= 500 ? `answers with ${status}` : null;
}

function faultOf(body: string, member: string): string | undefined {
  try {
    const document: unknown = JSON.parse(body);
    return isRecord(document) && typeof document[member] === 'string' ? undefined : `has no "${member}"`;
  } catch {
    return /^\s*</.test(body) ? 'is a page and no JSON' : 'is no JSON';
  }
}

/** Why a request to a host that a server's documents name has failed. */
type OutboundFailure =
  | 'unreachable'
  | 'timeout'
  | 'too-large'
  | 'redirected'
  | 'forbidden'
  | 'plain-http'
  | 'not-public';

/** Contains the host and what happened; never a path, query, header or body. */
export class OutboundError extends Error {
  override name = 'OutboundError';
  readonly failure: OutboundFailure;
  readonly host: string;
  constructor(failure: OutboundFailure, host: string) {
    super(`${host} ${words[failure]}`);
    this.failure = failure;
    this.host = host;
  }
  get happened(): string {
    return words[this.failure];
  }
}

const words: Record<OutboundFailure, string> = {
  unreachable: 'cannot be reached',
  timeout: 'did not answer in time',
  'too-large': 'answered with too much data',
  redirected: 'answered with a redirect, which is not followed here',
  forbidden: 'is not an http or https address without a password in it',
  'plain-http': 'is not reached by https',
  'not-public': 'is not at an address of the internet',
};
