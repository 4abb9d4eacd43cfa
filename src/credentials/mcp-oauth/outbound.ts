/**
 * Every request the OAuth client makes, to hosts that an MCP server's documents name. Nobody vouches for those, so a
 * server on the internet sends us nowhere but to https on addresses of the internet; one in the operator's own
 * network may name others there. For all: http and https only, ten seconds in all, one megabyte at most, no
 * credentials in URLs, and no redirect is followed.
 */
import { isIP } from 'node:net';
import type { FetchLike } from '@modelcontextprotocol/client';
import { fetch as undiciFetch } from 'undici';
import type { Dispatcher, RequestInit as UndiciRequestInit } from 'undici';
import { allowsAddress, bareHost, isLocalHost } from '../../network/addresses.ts';
import type { Reach } from '../../network/addresses.ts';
import { AddressRefused, createGuardedAgent } from '../../network/guarded-agent.ts';
import { readOAuthDocument, rewriteJson, withoutOddities } from '../../network/oauth-documents.ts';
import type { ServerConfig } from '../../config/agents-file/server-config.ts';
import { OutboundError } from './outbound-error.ts';

/** Whose documents name the addresses. */
export type Namer = Pick<ServerConfig, 'url' | 'local'>;

export interface Outbound {
  /** What may be asked because this server names it. */
  of(server: Namer): ServerOutbound;
}

export interface ServerOutbound {
  /** A response whose body has been read already; OAuth documents with the members that are used here. */
  fetch: FetchLike;
  /** Status and headers only; the body, which may be an endless stream, is dropped. */
  head: FetchLike;
  /** Throws an `OutboundError` where the address shows that it may not be used, by us or by the person. */
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

/** What can be told before a name is looked up; the rest shows when it is connected to. */
function checked(address: string | URL, server: Namer): URL {
  const url = new URL(address);
  const own = new URL(server.url);
  const reach = reachOf(server);
  if (!/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new OutboundError('forbidden', url.host);
  // How the server itself is reached is the operator's choice.
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
    // Leaving the loop cancels the body.
    if (length > maxBytes) throw new OutboundError('too-large', host);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** The body is decoded by now, so the headers that described its encoding go. */
function copyOf(response: Response, body: string | null): Response {
  const headers = new Headers(response.headers);
  headers.delete('content-encoding');
  headers.delete('content-length');
  return new Response(body, { status: response.status, headers });
}
