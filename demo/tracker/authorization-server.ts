/**
 * Tracker's own authorization server (issuer = Tracker's origin): anybody may register a client, every client must
 * use PKCE and name the resource it wants a token for, refresh tokens are replaced at each use.
 */
import { errors, Provider } from 'oidc-provider';
import { isAccount } from './accounts.ts';
import type { FileAdapter } from './file-adapter.ts';
import type { ProviderKeys } from '../provider-keys.ts';
import { problemPage } from './pages.ts';
import { scopes } from './tools.ts';

interface Options {
  issuer: string;
  /** The only resource tokens are given for: the MCP endpoint. */
  resource: string;
  adapter: FileAdapter;
  keys: ProviderKeys;
  accessTokenSeconds: () => number;
}

const day = 24 * 3600;

export function createAuthorizationServer(options: Options): Provider {
  const { issuer, resource, adapter, keys, accessTokenSeconds } = options;
  return new Provider(issuer, {
    adapter: (model: string) => adapter.factory(model),
    jwks: keys.jwks,
    // Browsers share cookies between the ports of one host, and the demo has another provider beside this one.
    cookies: {
      keys: keys.cookieKeys,
      names: { session: 'tracker_session', interaction: 'tracker_interaction', resume: 'tracker_resume' },
    },
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      id_token_signed_response_alg: 'ES256',
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    scopes: ['openid', 'offline_access', ...Object.values(scopes)],
    claims: { openid: ['sub', 'preferred_username'] },
    // Clients show people as whom they are connected, and their tokens are not for the userinfo endpoint.
    conformIdTokenClaims: false,
    findAccount: (_, id) =>
      isAccount(id) ? { accountId: id, claims: () => ({ sub: id, preferred_username: id }) } : undefined,
    // The resource server looks the grant up, so that a revoked one ends its tokens at once.
    extraTokenClaims: (_, token) => ('grantId' in token ? { grant: token.grantId } : undefined),
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: {
        enabled: true,
        // Whoever was given a token may end it.
        allowedPolicy: (_, client, token) => token.clientId === client.clientId,
      },
      rpInitiatedLogout: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => [],
        useGrantedResource: () => true,
        getResourceServerInfo(_, wanted) {
          if (wanted !== resource)
            throw new errors.InvalidTarget('Tracker gives tokens for its MCP endpoint only');
          return {
            scope: Object.values(scopes).join(' '),
            audience: resource,
            accessTokenFormat: 'jwt',
            accessTokenTTL: accessTokenSeconds(),
            jwt: { sign: { alg: 'ES256' } },
          };
        },
      },
    },
    interactions: { url: (_, interaction) => `/sign-in/${interaction.uid}` },
    issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    pkce: { required: () => true },
    renderError(ctx) {
      ctx.type = 'html';
      ctx.body = problemPage();
    },
    ttl: {
      AccessToken: (_, token) => token.resourceServer?.accessTokenTTL ?? 3600,
      Grant: 365 * day,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: 365 * day,
      Session: 14 * day,
    },
  });
}
