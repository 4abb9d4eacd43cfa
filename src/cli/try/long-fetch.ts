/**
 * `fetch` for calls that may wait for people: Node's own gives up a response that rests for five minutes. Its replacement is
 * loaded with the first call, so that a program which only lists tools starts without it.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import { errorCodeOf } from '../../remote/error-code.ts';
import { readableResponse } from '../../remote/mcp/readable-messages.ts';
import { limitedBody } from '../../remote/response-body.ts';

export interface LongFetch {
  fetch: FetchLike;
  /** Of the latest request: its status, or why there is none, or no whole answer. */
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
        return await readableResponse(limited(response, (failure) => (last.failure = failure)));
      } catch (failure) {
        delete last.status;
        last.failure = failure;
        throw failure;
      }
    },
  };
}

function limited(response: Response, onFailure: (failure: unknown) => void): Response {
  if (response.body === null) return response;
  const { status, statusText, headers, url } = response;
  const body = limitedBody(response.body, { onFailure, onEnd: () => undefined });
  // By its address the SDK sees where a redirect has led.
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: url });
}

const send: FetchLike = async (url, init) => {
  if (!mayRest(init)) return fetch(url, init).catch((error: unknown) => sendAgain(error, url, init));
  const { Agent, fetch: undiciFetch } = await import('undici');
  agent ??= new Agent({ bodyTimeout: 0, headersTimeout: 0, pipelining: 0 });
  const patient = undiciFetch as unknown as (url: string | URL, init: object) => Promise<Response>;
  return patient(url, { ...init, dispatcher: agent });
};

/** Over connections of their own: a call that meets one which the server is about to close could not be made again. */
let agent: object | undefined;

/** What only reads can, once: the server has closed a connection that was kept. */
function sendAgain(error: unknown, url: string | URL, init: RequestInit | undefined): Promise<Response> {
  if (init?.signal?.aborted || !['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(errorCodeOf(error)))
    throw error;
  return fetch(url, init);
}

/** Calls, and the standing stream of the old era while a call goes on. */
function mayRest(init: RequestInit | undefined): boolean {
  return typeof init?.body === 'string' && init.body.includes('"tools/call"');
}
