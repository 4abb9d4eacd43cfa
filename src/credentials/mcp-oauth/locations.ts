/** Documents of a sign-in may be at one of several places. One that cannot be used is noted, and the next place is asked. */
import type { FetchLike } from '@modelcontextprotocol/client';
import { isRecord } from '../../elicitation/form/schema-keywords.ts';
import { OutboundError } from './outbound-error.ts';

/** A document that cannot be used, in words for operators: where it is and what is wrong with it. */
export type Broken = string[];

/** `what`: the rest of a sentence that begins with the document. */
export function noteBroken(broken: Broken, address: string | URL, what: string): void {
  const { origin, pathname } = new URL(address);
  broken.push(`${origin}${pathname} ${what}`.slice(0, 300));
}

/**
 * For a library that asks one place after the other and ends at the first that does not answer 404: what is no document with
 * this member becomes one.
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

/** As `skippingBroken`, for all requests of a sign-in: those for other documents pass. */
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

/** Null: there is none, which is no fault. */
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
