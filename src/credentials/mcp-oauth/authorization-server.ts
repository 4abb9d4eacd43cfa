/** What an authorization server says about itself, as far as it is used here. */
import { discoverAuthorizationServerMetadata } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import { operatorError, storeError } from '../store-error.ts';
import type { ErrorSubject } from '../store-error.ts';
import { isSameIssuer } from './client-metadata.ts';
import { noUsableAnswer } from './failure.ts';
import { skippingBroken } from './locations.ts';
import type { Broken } from './locations.ts';
import type { Outbound } from './outbound.ts';

const httpUrl = z.url({ protocol: /^https?$/ });

/** The part of its metadata (RFC 8414, OpenID Connect Discovery) that is used here. */
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

/** `oauth`: what the operator wrote of its sign-in server. */
export type Described = ErrorSubject & Pick<ServerConfig, 'oauth'>;

/**
 * Throws `CredentialStoreError` where it cannot be used, other errors where it cannot be read. `broken`: gets the places that
 * had to be passed over.
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
    // It is checked below, where what the operator wrote counts as well.
    skipIssuerValidation: true,
  });
  if (metadata === undefined && faults.length > 0)
    throw storeError(server, noUsableAnswer, `the metadata of its sign-in server: ${faults.join('; ')}`);
  broken.push(...faults);
  const parsed = authorizationServerSchema.safeParse(metadata);
  if (!parsed.success)
    throw storeError(
      server,
      'its sign-in server publishes no usable description; tell its operator',
      `${issuer} publishes ${metadata === undefined ? 'no metadata' : `metadata without a usable ${memberOf(parsed.error)}`}`,
    );
  requireIssuer(server, parsed.data.issuer, issuer);
  requirePkce(server, parsed.data);
  if (parsed.data.require_pushed_authorization_requests === true) {
    throw operatorError(
      server,
      'its sign-in server wants pushed authorization requests, which are not made here',
      `${issuer} says require_pushed_authorization_requests`,
    );
  }
  for (const endpoint of endpointsOf(parsed.data)) asked.check(endpoint);
  return { ...parsed.data, code_challenge_methods_supported: ['S256'] };
}

/** RFC 8414 §3.3. Only the operator can say that two spellings, which differ by a slash, are one issuer. */
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
    'its sign-in server names itself differently from what was expected, so it is not trusted',
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
    'its sign-in server does not offer PKCE with S256, which is required',
    isUnsaid
      ? `the metadata of ${shownIssuer(issuer)} has no code_challenge_methods_supported; if it supports PKCE all the same, as Entra and Cognito do, write oauth.pkce: S256 for this server in the agents file`
      : `the metadata of ${shownIssuer(issuer)} has a code_challenge_methods_supported without S256`,
  );
}

/** A stranger wrote it, and an operator reads it, perhaps in a terminal. */
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
