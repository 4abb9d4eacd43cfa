/** What an authorization server says about itself, as far as it is used here. */
import { discoverAuthorizationServerMetadata } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { storeError } from '../store-error.ts';
import type { ErrorSubject } from '../store-error.ts';
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

/**
 * Throws `CredentialStoreError` where it cannot be used, other errors where it cannot be read. `broken`: gets the places that
 * had to be passed over.
 */
export async function readAuthorizationServer(
  outbound: Outbound,
  server: ErrorSubject,
  issuer: string,
  broken: Broken = [],
): Promise<AuthorizationServer> {
  const asked = outbound.of(server);
  asked.check(issuer);
  const faults: Broken = [];
  const metadata = await discoverAuthorizationServerMetadata(issuer, {
    fetchFn: skippingBroken(asked.fetch, 'issuer', faults),
  });
  if (metadata === undefined && faults.length > 0)
    throw storeError(server, noUsableAnswer, `the metadata of its sign-in server: ${faults.join('; ')}`);
  broken.push(...faults);
  const parsed = authorizationServerSchema.safeParse(metadata);
  if (!parsed.success)
    throw storeError(server, 'its sign-in server publishes no usable description; tell its operator');
  if (!parsed.data.code_challenge_methods_supported?.includes('S256')) {
    throw storeError(server, 'its sign-in server does not offer PKCE with S256, which is required');
  }
  if (parsed.data.require_pushed_authorization_requests === true) {
    throw storeError(
      server,
      'its sign-in server wants pushed authorization requests, which are not made here',
    );
  }
  for (const endpoint of endpointsOf(parsed.data)) asked.check(endpoint);
  return parsed.data;
}

function endpointsOf(server: AuthorizationServer): string[] {
  const { authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint } = server;
  return [authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint].filter(
    (endpoint) => endpoint !== undefined,
  );
}
