/**
 * Every request the OAuth client makes, to hosts that an MCP server's documents name. Those hosts are as
 * trustworthy as the servers an operator configured, no more: http and https only, ten seconds in all, one
 * megabyte at most, no credentials in URLs, and no redirect for a request that carries a secret.
 */
import type { FetchLike } from '@modelcontextprotocol/client';

export type OutboundFailure = 'unreachable' | 'timeout' | 'too-large' | 'redirected' | 'forbidden';

/** Knows the host and what happened; never a path, query, header or body. */
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
};

export interface Outbound {
  /** A response whose body has been read already. */
  fetch: FetchLike;
  /** Status and headers only; the body, which may be an endless stream, is dropped. */
  head: FetchLike;
}

interface Options {
  fetch?: FetchLike | undefined;
  timeoutMs?: number | undefined;
  maxBytes?: number | undefined;
}

export function createOutbound({
  fetch = globalThis.fetch,
  timeoutMs = 10_000,
  maxBytes = 1_048_576,
}: Options): Outbound {
  async function request(
    address: string | URL,
    init: RequestInit,
    read: (response: Response) => Promise<Response>,
  ) {
    const url = new URL(address);
    if (!/^https?:$/.test(url.protocol) || url.username || url.password)
      throw new OutboundError('forbidden', url.host);
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal });
      if (isRedirect(response) && (init.method ?? 'GET') !== 'GET')
        throw new OutboundError('redirected', url.host);
      return await read(response);
    } catch (error) {
      if (error instanceof OutboundError) throw error;
      throw new OutboundError(timeout.aborted ? 'timeout' : 'unreachable', url.host);
    }
  }

  return {
    fetch: (url, init = {}) =>
      request(url, init, async (response) => {
        const body = await readAtMost(response, maxBytes, new URL(url).host);
        return copyOf(response, body.length === 0 ? null : body);
      }),
    head: (url, init = {}) =>
      request(url, init, async (response) => {
        await response.body?.cancel();
        return copyOf(response, null);
      }),
  };
}

function isRedirect(response: Response): boolean {
  return response.status >= 300 && response.status < 400;
}

async function readAtMost(
  response: Response,
  maxBytes: number,
  host: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    // Leaving the loop cancels the body.
    if (length > maxBytes) throw new OutboundError('too-large', host);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** The body is decoded by now, so the headers that described its encoding go. */
function copyOf(response: Response, body: Uint8Array<ArrayBuffer> | null): Response {
  const headers = new Headers(response.headers);
  headers.delete('content-encoding');
  headers.delete('content-length');
  return new Response(body, { status: response.status, headers });
}
