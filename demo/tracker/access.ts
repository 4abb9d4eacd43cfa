/** Who may use the MCP endpoint: bearer tokens of our own authorization server, for this resource, not revoked. */
import {
  buildOAuthProtectedResourceMetadata,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import type { AuthInfo, OAuthMetadata } from '@modelcontextprotocol/server';
import { createLocalJWKSet, jwtVerify } from 'jose';
import type { JWK } from 'jose';
import { isAccount } from './accounts.ts';
import type { FileAdapter } from './file-adapter.ts';
import type { ProviderKeys } from '../provider-keys.ts';
import { scopes } from './tools.ts';

interface Options {
  issuer: string;
  resource: string;
  adapter: FileAdapter;
  keys: ProviderKeys;
}

export interface Access {
  /** The caller, or the 401 to send back. */
  check(request: Request): Promise<AuthInfo | Response>;
  /** Protected-resource metadata (RFC 9728), and the paths it is served at. */
  metadata: object;
  metadataPaths: string[];
}

export function createAccess({ issuer, resource, adapter, keys }: Options): Access {
  const publicKeys = keys.jwks.keys.map(
    ({ kty, crv, x, y, kid, alg }) => ({ kty, crv, x, y, kid, alg }) as JWK,
  );
  const verificationKeys = createLocalJWKSet({ keys: publicKeys });
  const metadataUrl = getOAuthProtectedResourceMetadataUrl(new URL(resource));

  async function verify(token: string): Promise<AuthInfo> {
    const verified = await jwtVerify(token, verificationKeys, { issuer, audience: resource }).catch(
      () => undefined,
    );
    const claims = verified?.payload;
    const grant = claims?.['grant'];
    if (!claims || !isAccount(claims.sub) || !adapter.entries('Grant').some(([id]) => id === grant)) {
      throw new OAuthError(OAuthErrorCode.InvalidToken, 'The token is not valid or no longer is');
    }
    return {
      token,
      clientId: String(claims['client_id']),
      scopes: typeof claims['scope'] === 'string' ? claims['scope'].split(' ') : [],
      ...(claims.exp !== undefined && { expiresAt: claims.exp }),
      resource: new URL(resource),
      extra: { account: claims.sub },
    };
  }

  return {
    check: requireBearerAuth({
      verifier: { verifyAccessToken: verify },
      resourceMetadataUrl: metadataUrl,
      expectedResource: new URL(resource),
    }),
    metadata: buildOAuthProtectedResourceMetadata({
      oauthMetadata: { issuer } as OAuthMetadata,
      resourceServerUrl: new URL(resource),
      scopesSupported: Object.values(scopes),
      resourceName: 'Tracker',
    }),
    metadataPaths: [new URL(metadataUrl).pathname, '/.well-known/oauth-protected-resource'],
  };
}
