/**
 * `fetch` for calls that may wait for people: Node's own gives up a response that rests for five minutes. Its replacement is
 * loaded with the first call, so that a program which only lists tools starts without it.
 */
import type { FetchLike } from '@modelcontextprotocol/client';

export interface LongFetch {
  fetch: FetchLike;
  /** Of the latest request: its status, or why there is none. */
  last: { status?: number; failure?: unknown };
}

export function createLongFetch(): LongFetch {
  const last: LongFetch['last'] = {};
  return {
    last,
    async fetch(url, init) {
      try {
        const response = await send(url, init);
        last.status = response.status;
        delete last.failure;
        return response;
      } catch (failure) {
        delete last.status;
        last.failure = failure;
        throw failure;
      }
    },
  };
}

const send: FetchLike = async (url, init) => {
  if (!mayRest(init)) return fetch(url, init);
  const { Agent, fetch: undiciFetch } = await import('undici');
  agent ??= new Agent({ bodyTimeout: 0, headersTimeout: 0 });
  const patient = undiciFetch as unknown as (url: string | URL, init: object) => Promise<Response>;
  return patient(url, { ...init, dispatcher: agent });
};

let agent: object | undefined;

/** Calls, and the standing stream of the old era while a call goes on. */
function mayRest(init: RequestInit | undefined): boolean {
  return typeof init?.body === 'string' && init.body.includes('"tools/call"');
}
