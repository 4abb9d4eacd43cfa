/**
 * All requests of the OAuth client, to hosts that an MCP server's documents name. These are untrusted, so a server on the
 * internet can only make us send https requests to internet addresses; one in the operator's own network may also name
 * hosts there. For all requests: only http and https, ten seconds in total, one megabyte at most, no credentials in URLs,
 * and redirects are not followed.
 */
import { OutboundError } from '@interlude-ai/core/oauth/locations.ts';
import { isIP } from 'node:net';
import type { FetchLike } from '@modelcontextprotocol/client';
import { fetch as undiciFetch } from 'undici';
import type { Dispatcher, RequestInit as UndiciRequestInit } from 'undici';
import { allowsAddress, bareHost, isLocalHost } from '../../platform/network/addresses.ts';
import { AddressRefused, createGuardedAgent } from '../../platform/network/guarded-agent.ts';
import type { Reach } from '../../platform/network/addresses.ts';
import { readOAuthDocument, rewriteJson, withoutOddities } from '@interlude-ai/core/oauth/documents.ts';
import type { ServerConfig } from '../../platform/config/agents-file/server-config.ts';

/** The server whose documents name the addresses. */
type Namer = Pick<ServerConfig, 'url' | 'local'>;

export interface Outbound {
  /** Requests to addresses that this server names. */
  of(server: Namer): ServerOutbound;
}

interface ServerOutbound {
  /** The body has been read already. OAuth documents are reduced to the members that are used. */
  fetch: FetchLike;
  /** Only status and headers: the body may be an endless stream. */
  head: FetchLike;
  /** Throws an `OutboundError` if the address may not be used, neither by us nor in a browser. */
  check(address: string | URL): void;
}

interface Options {
  fetch?: FetchLike | undefined;
  timeoutMs?: number | undefined;
  maxBytes?: number | undefined;
  agentOf?: ((reach: Reach) => Dispatcher) | undefined;
}

export function createOutbound({
  fetch,
  timeoutMs = 10_000,
  maxBytes = 1_048_576,
  agentOf = createGuardedAgent,
}: Options): Outbound {
  const agents = { public: agentOf('public'), local: agentOf('local') };
  const send = (url: URL, init: RequestInit, reach: Reach): Promise<Response> =>
    fetch
      ? fetch(url, init)
      : (undiciFetch(url, {
          ...(init as UndiciRequestInit),
          dispatcher: agents[reach],
        }) as unknown as Promise<Response>);

  async function request(
    address: string | URL,
    init: RequestInit,
    server: Namer,
    read: (response: Response) => Promise<Response>,
  ) {
    const url = checked(address, server);
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    try {
      const response = await send(url, { ...init, redirect: 'manual', signal }, reachOf(server));
      if (isRedirect(response) && (init.method ?? 'GET') !== 'GET')
        throw new OutboundError('redirected', url.host);
      return await read(response);
    } catch (error) {
      if (error instanceof OutboundError) throw error;
      if (error instanceof Error && error.cause instanceof AddressRefused)
        throw new OutboundError('not-public', url.host);
      throw new OutboundError(timeout.aborted ? 'timeout' : 'unreachable', url.host);
    }
  }

  return {
    of: (server) => ({
      fetch: (url, init = {}) =>
        request(url, init, server, async (response) => {
          const body = await readAtMost(response, maxBytes, new URL(url).host);
          const read = response.ok ? readOAuthDocument : withoutOddities;
          return copyOf(response, body === '' ? null : rewriteJson(body, read));
        }),
      head: (url, init = {}) =>
        request(url, init, server, async (response) => {
          await response.body?.cancel();
          return copyOf(response, null);
        }),
      check: (address) => void checked(address, server),
    }),
  };
}

function reachOf({ url, local }: Namer): Reach {
  return (local ?? isLocalHost(new URL(url).hostname)) ? 'local' : 'public';
}

/** Checks an address before DNS is asked; the guarded agent checks again when it connects. */
function checked(address: string | URL, server: Namer): URL {
  const url = new URL(address);
  const own = new URL(server.url);
  const reach = reachOf(server);
  if (!/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new OutboundError('forbidden', url.host);
  // The operator chose how the server itself is reached.
  const needsHttps = (reach === 'public' || own.protocol === 'https:') && url.origin !== own.origin;
  if (needsHttps && url.protocol !== 'https:') throw new OutboundError('plain-http', url.host);
  const host = bareHost(url.hostname);
  if (isIP(host) !== 0 && !allowsAddress(host, reach)) throw new OutboundError('not-public', url.host);
  return url;
}

function isRedirect(response: Response): boolean {
  return response.status >= 300 && response.status < 400;
}

async function readAtMost(response: Response, maxBytes: number, host: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxBytes) throw new OutboundError('too-large', host);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** The body is decoded, so the headers about its encoding are removed. */
function copyOf(response: Response, body: string | null): Response {
  const headers = new Headers(response.headers);
  headers.delete('content-encoding');
  headers.delete('content-length');
  return new Response(body, { status: response.status, headers });
}
