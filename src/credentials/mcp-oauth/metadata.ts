/**
 * The published documents of a sign-in: how an MCP server names its authorization server (RFC 9728, MCP authorization), and
 * the metadata of that authorization server.
 *
 * The well-known documents are read first, so that no MCP request is made without a credential. Only a server that
 * publishes none, or no scopes, gets one unauthenticated `initialize`, to see whether it answers 401, and which document
 * and scopes that names.
 *
 * A document can be at one of several places. One that cannot be used is noted, and the next place is tried.
 */
import {
  faultOfStatus,
  noteBroken,
  OutboundError,
  skippingBroken,
} from '@interlude-ai/core/oauth/locations.ts';
import type { Broken } from '@interlude-ai/core/oauth/locations.ts';
import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  LATEST_PROTOCOL_VERSION,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../platform/config/config.ts';
import { readChallenge, scopesOf } from '@interlude-ai/core/oauth/scopes.ts';
import { CredentialStoreError, operatorError, shownServer, storeError } from '../credential-store.ts';
import type { ErrorSubject } from '../credential-store.ts';
import type { Outbound } from './outbound.ts';
import { isSameIssuer } from './client-metadata.ts';

/**
 * The resource that the tokens are for. `issuers` is empty when the server only answers 401: then its own origin is tried.
 */
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

/** The published document; null when there is none that can be used. */
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
  // The document of the origin may be about another resource.
  return ofOrigin && covers(server, ofOrigin) ? ofOrigin : null;
}

/** The resource that a 401 names. `challenge` is its `WWW-Authenticate` header. */
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
    throw storeError(server, 'unreadable_document', broken[0]);
  }
  const { scopes } = matching(server, document);
  return { ...document, scopes: scopes.length > 0 ? scopes : scopesOf(scope) };
}

/** Sends a request without a credential. `open`: it was answered; `unclear`: neither answered nor refused with 401. */
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
  if (response.status >= 500)
    throw new CredentialStoreError({ code: 'failing', server: shownServer(server), status: response.status });
  return { kind: response.ok ? 'open' : 'unclear' };
}

/** Null: there is none that can be used. */
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
  // An HTML page is not a broken document: some sites answer every path with one.
  if (/[/+]json\b/.test(response.headers.get('content-type') ?? '')) {
    const member = parsed.error.issues[0]?.path.map(String).join('.') ?? '';
    noteBroken(broken, url, member === '' ? 'is no JSON object' : `has no usable "${member}"`);
  }
  return null;
}

function matching(server: ServerConfig, document: ProtectedResource): ProtectedResource {
  if (!covers(server, document)) {
    throw storeError(server, 'foreign_document');
  }
  return document;
}

function covers(server: ServerConfig, { resource }: ProtectedResource): boolean {
  return checkResourceAllowed({
    requestedResource: resourceUrlFromServerUrl(server.url),
    configuredResource: resource,
  });
}

const httpUrl = z.url({ protocol: /^https?$/ });

/** The members of its metadata that are used (RFC 8414, OpenID Connect Discovery). */
export const authorizationServerSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: httpUrl,
  token_endpoint: httpUrl,
  registration_endpoint: httpUrl.optional(),
  revocation_endpoint: httpUrl.optional(),
  response_types_supported: z.array(z.string()),
  scopes_supported: z.array(z.string()).optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  revocation_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  code_challenge_methods_supported: z.array(z.string()).optional(),
  client_id_metadata_document_supported: z.boolean().optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  require_pushed_authorization_requests: z.boolean().optional(),
});
export type AuthorizationServer = z.infer<typeof authorizationServerSchema>;

/** `oauth`: the operator's settings. */
type Described = ErrorSubject & Pick<ServerConfig, 'oauth'>;

/**
 * Throws `CredentialStoreError` when the metadata cannot be used, other errors when it cannot be read. Adds documents that
 * could not be used to `broken`.
 */
export async function readAuthorizationServer(
  outbound: Outbound,
  server: Described,
  issuer: string,
  broken: Broken = [],
): Promise<AuthorizationServer> {
  const asked = outbound.of(server);
  asked.check(issuer);
  const faults: Broken = [];
  const metadata = await discoverAuthorizationServerMetadata(issuer, {
    fetchFn: skippingBroken(asked.fetch, 'issuer', faults),
    // It is checked below, together with the operator's settings.
    skipIssuerValidation: true,
  });
  if (metadata === undefined && faults.length > 0)
    throw storeError(server, 'sign_in_unusable', `the metadata of its sign-in server: ${faults.join('; ')}`);
  broken.push(...faults);
  const parsed = authorizationServerSchema.safeParse(metadata);
  if (!parsed.success)
    throw storeError(
      server,
      'sign_in_undescribed',
      `${issuer} publishes ${metadata === undefined ? 'no metadata' : `metadata without a usable ${memberOf(parsed.error)}`}`,
    );
  requireIssuer(server, parsed.data.issuer, issuer);
  requirePkce(server, parsed.data);
  if (parsed.data.require_pushed_authorization_requests === true) {
    throw operatorError(server, 'pushed_requests', `${issuer} says require_pushed_authorization_requests`);
  }
  for (const endpoint of endpointsOf(parsed.data)) asked.check(endpoint);
  return { ...parsed.data, code_challenge_methods_supported: ['S256'] };
}

/** RFC 8414 §3.3. Only the operator can confirm that two spellings are one issuer, except for a trailing slash. */
function requireIssuer(server: Described, received: string, expected: string): void {
  const isSpelledAlike = received === expected || `${received}/` === expected;
  const written = server.oauth?.issuer;
  const isAgreed =
    written !== undefined && isSameIssuer(written, received) && isSameIssuer(written, expected);
  if (isSpelledAlike || isAgreed) return;
  const remedy = isSameIssuer(received, expected)
    ? `; if they are one, write oauth.issuer: ${shownIssuer(received)} for this server in the agents file`
    : '';
  throw operatorError(
    server,
    'sign_in_renamed',
    `the metadata of ${shownIssuer(expected)} says issuer: ${shownIssuer(received)}${remedy}`,
  );
}

function requirePkce(
  server: Described,
  { code_challenge_methods_supported: methods = [], issuer }: AuthorizationServer,
): void {
  if (methods.includes('S256')) return;
  const isUnsaid = methods.length === 0;
  if (isUnsaid && server.oauth?.pkce === 'S256') return;
  throw operatorError(
    server,
    'no_pkce',
    isUnsaid
      ? `the metadata of ${shownIssuer(issuer)} has no code_challenge_methods_supported; if it supports PKCE all the same, as Entra and Cognito do, write oauth.pkce: S256 for this server in the agents file`
      : `the metadata of ${shownIssuer(issuer)} has a code_challenge_methods_supported without S256`,
  );
}

/** The text is untrusted, and an operator reads it, perhaps in a terminal. */
function shownIssuer(issuer: string): string {
  return URL.canParse(issuer)
    ? issuer.slice(0, 300).replaceAll(/[^\x21-\x7e]/g, '?')
    : 'something that is no address';
}

function memberOf({ issues }: z.ZodError): string {
  return issues[0]?.path.map(String).join('.') || 'JSON object';
}

function endpointsOf(server: AuthorizationServer): string[] {
  const { authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint } = server;
  return [authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint].filter(
    (endpoint) => endpoint !== undefined,
  );
}
