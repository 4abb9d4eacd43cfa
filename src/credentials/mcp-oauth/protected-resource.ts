/**
 * How an MCP server says which authorization server guards it (RFC 9728, MCP authorization).
 *
 * The well-known documents are asked first, so that no MCP request is made without a credential. Only a server
 * that publishes none, or none of its scopes, is sent one unauthenticated `initialize`, to see whether it answers
 * 401, where it points and which scopes it names.
 */
import {
  LATEST_PROTOCOL_VERSION,
  checkResourceAllowed,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import { readChallenge } from '../oauth/challenge.ts';
import { scopesOf } from '../oauth/scopes.ts';
import { storeError } from '../store-error.ts';
import { faultOfStatus, noteBroken } from './locations.ts';
import type { Broken } from './locations.ts';
import { OutboundError } from './outbound-error.ts';
import type { Outbound } from './outbound.ts';

/** What guards a server. `issuers` is empty when it only says 401: then its own origin is tried. */
export interface ProtectedResource {
  resource: string;
  issuers: string[];
  scopes: string[];
}

const documentSchema = z.looseObject({
  resource: z.url(),
  authorization_servers: z.array(z.url()).default([]),
  scopes_supported: z.array(z.string()).default([]),
});

/** The published document, or null when there is none for this server that can be used. */
export async function publishedResource(
  server: ServerConfig,
  outbound: Outbound,
  broken: Broken,
): Promise<ProtectedResource | null> {
  const url = new URL(server.url);
  const path = url.pathname.replace(/\/$/, '');
  const inserted = new URL(`/.well-known/oauth-protected-resource${path}${url.search}`, url);
  const own = await readDocument(server, inserted, outbound, broken);
  if (own) return matching(server, own);
  if (path === '') return null;
  const ofOrigin = await readDocument(
    server,
    new URL('/.well-known/oauth-protected-resource', url),
    outbound,
    broken,
  );
  // The origin's document may be about another resource of that origin; then it says nothing about this one.
  return ofOrigin && covers(server, ofOrigin) ? ofOrigin : null;
}

/** What a 401 says. `challenge` is its `WWW-Authenticate` header. */
export async function challengedResource(
  server: ServerConfig,
  challenge: string | null,
  outbound: Outbound,
): Promise<ProtectedResource> {
  const { resourceMetadataUrl, scope } = readChallenge(challenge);
  if (!resourceMetadataUrl) {
    return { resource: resourceUrlFromServerUrl(server.url).href, issuers: [], scopes: scopesOf(scope) };
  }
  const broken: Broken = [];
  const document = await readDocument(server, resourceMetadataUrl, outbound, broken);
  if (!document) {
    noteBroken(broken, resourceMetadataUrl, 'is not there');
    throw storeError(
      server,
      'points to a document about its sign-in that cannot be read; tell its operator',
      broken[0],
    );
  }
  const { scopes } = matching(server, document);
  return { ...document, scopes: scopes.length > 0 ? scopes : scopesOf(scope) };
}

/** Asks without a credential. `open`: it answered; `unclear`: neither an answer nor a 401. */
export async function probe(
  server: ServerConfig,
  outbound: Outbound,
): Promise<{ kind: 'open' | 'unclear' } | { kind: 'challenged'; challenge: string | null }> {
  const response = await outbound.of(server).head(server.url, {
    method: 'POST',
    headers: {
      ...server.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: LATEST_PROTOCOL_VERSION,
        capabilities: {},
        clientInfo: { name: 'interlude', version: '1' },
      },
    }),
  });
  if (response.status === 401)
    return { kind: 'challenged', challenge: response.headers.get('www-authenticate') };
  if (response.status >= 500) throw storeError(server, `answers with ${response.status}; try again later`);
  return { kind: response.ok ? 'open' : 'unclear' };
}

/** Null: there is none, or none that can be used. */
async function readDocument(
  server: ServerConfig,
  url: URL,
  outbound: Outbound,
  broken: Broken,
): Promise<ProtectedResource | null> {
  const response = await outbound
    .of(server)
    .fetch(url, { headers: { accept: 'application/json' } })
    .catch((error: unknown) => {
      if (!(error instanceof OutboundError && error.failure === 'too-large')) throw error;
      noteBroken(broken, url, error.happened);
      return null;
    });
  if (!response) return null;
  if (!response.ok) {
    const fault = faultOfStatus(response);
    if (fault !== null) noteBroken(broken, url, fault);
    return null;
  }
  const parsed = documentSchema.safeParse(await response.json().catch(() => null));
  if (parsed.success) {
    const { resource, authorization_servers: issuers, scopes_supported: scopes } = parsed.data;
    return { resource, issuers, scopes };
  }
  // Sites that answer every path with a page publish nothing by it.
  if (/[/+]json\b/.test(response.headers.get('content-type') ?? '')) {
    const member = parsed.error.issues[0]?.path.map(String).join('.') ?? '';
    noteBroken(broken, url, member === '' ? 'is no JSON object' : `has no usable "${member}"`);
  }
  return null;
}

function matching(server: ServerConfig, document: ProtectedResource): ProtectedResource {
  if (!covers(server, document)) {
    throw storeError(server, 'publishes a sign-in that belongs to another address, so it is not trusted');
  }
  return document;
}

function covers(server: ServerConfig, { resource }: ProtectedResource): boolean {
  return checkResourceAllowed({
    requestedResource: resourceUrlFromServerUrl(server.url),
    configuredResource: resource,
  });
}
