/**
 * The demo's identity provider: a real OpenID provider with two users who sign in by pressing a button. It
 * stands in for the operator's issuer, so the API checks its tokens and the connect page signs people in with
 * it exactly as in production. It gives tokens to whoever asks and therefore listens on loopback only.
 */
import { createServer } from 'node:http';
import path from 'node:path';
import { deviceFlow } from './device-pages.ts';
import { errors, interactionPolicy, Provider } from 'oidc-provider';
import { expiredPage } from './identity-page.ts';
import { wordsFor } from './words.ts';
import { askWhoYouAre } from './identity-sign-in.ts';
import { demoGrantType, demoProgramClient, demoTokenClient } from '@interlude-ai/program/login/demo-token.ts';
import { demoTenant, demoUser, userNames } from './identity-users.ts';
import { isKnownHost } from '../src/platform/network/addresses.ts';
import { listen } from './listen.ts';
import { createMemoryAdapter } from './memory-adapter.ts';
import { loadOrCreateProviderKeys } from './provider-keys.ts';

export { demoToken } from '@interlude-ai/program/login/demo-token.ts';

export const demoAudience = 'interlude';
/** The client the connect page signs people in with (`config.auth.client.id`); it has no secret. */
export const demoLoginClient = 'interlude-connect-page';

/** The API as a resource (RFC 8707); tokens for it are JWTs with audience `interlude`. */
const apiResource = 'urn:interlude:api';
const tokenLifeSeconds = 8 * 3600;

export interface IdentityProviderOptions {
  /** 0 takes a free one; the issuer names it. */
  port: number;
  /** Where the signing key is kept. */
  dataDir: string;
  /** Where the connect page comes back to: `<PUBLIC_URL>/auth/login/callback`. */
  redirectUris: string[];
  tokenLifeSeconds?: number;
}

export interface IdentityProvider {
  issuer: string;
  stop(): Promise<void>;
}

export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const server = createServer();
  const { port, stop } = await listen(server, options.port, 'DEMO_IDENTITY_PORT');
  const issuer = `http://127.0.0.1:${port}`;
  const provider = await createProvider(issuer, options);
  const callback = provider.callback();
  server.on('request', (request, response) => {
    // Otherwise any page could take its visitor's place here: it gives tokens to whoever asks.
    if (!isKnownHost(request.headers.host)) return void response.writeHead(421).end();
    const answered = request.url?.startsWith('/interaction/')
      ? askWhoYouAre(provider, request, response)
      : callback(request, response);
    Promise.resolve(answered).catch((error: unknown) => {
      console.error('The demo’s identity provider failed:', error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  return { issuer, stop };
}

/**
 * Who signs in has agreed. Programs are asked about each time, also where somebody is signed in: any program of this machine
 * could open the page.
 */
function signInOnly() {
  const { base, Check } = interactionPolicy;
  const policy = base();
  policy.get('consent')?.checks.remove('native_client_prompt');
  const asks = new Check(
    'program_asks',
    'a program asks to act for somebody',
    ({ oidc }) => oidc.client?.clientId === demoProgramClient && oidc.result?.login === undefined,
  );
  policy.get('login')?.checks.add(asks);
  return policy;
}

async function createProvider(issuer: string, options: IdentityProviderOptions): Promise<Provider> {
  const { jwks, cookieKeys } = await loadOrCreateProviderKeys(
    path.join(options.dataDir, 'demo-identity.json'),
    'RS256',
  );
  const api = {
    scope: '',
    audience: demoAudience,
    accessTokenFormat: 'jwt' as const,
    accessTokenTTL: options.tokenLifeSeconds ?? tokenLifeSeconds,
  };
  const provider = new Provider(issuer, {
    adapter: createMemoryAdapter(),
    jwks,
    // Browsers share cookies between the ports of one host, and the demo has another provider beside this one.
    cookies: {
      keys: cookieKeys,
      names: {
        session: 'demo_identity_session',
        interaction: 'demo_identity_interaction',
        resume: 'demo_identity_resume',
      },
    },
    clients: [
      {
        client_id: demoLoginClient,
        redirect_uris: options.redirectUris,
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'none',
      },
      {
        client_id: demoTokenClient,
        redirect_uris: [],
        response_types: [],
        grant_types: [demoGrantType],
        token_endpoint_auth_method: 'none',
      },
      {
        client_id: demoProgramClient,
        application_type: 'native',
        // On any port (RFC 8252 §7.3).
        redirect_uris: ['http://127.0.0.1/callback'],
        response_types: ['code'],
        grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
        token_endpoint_auth_method: 'none',
      },
    ],
    scopes: ['openid', 'profile'],
    claims: { openid: ['sub'], profile: ['name', 'email', 'tenant'] },
    // The connect page reads the tenant from the ID token, as it would at any issuer that puts it there.
    conformIdTokenClaims: false,
    findAccount: (_, id) => {
      const user = demoUser(id);
      if (!user) return undefined;
      const claims = { sub: user.id, name: user.name, email: user.email, tenant: demoTenant };
      return { accountId: user.id, claims: () => claims };
    },
    extraTokenClaims: (_, token) => {
      const user = 'accountId' in token ? demoUser(token.accountId) : undefined;
      return user && { tenant: demoTenant, name: user.name };
    },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: { enabled: true, defaultResource: () => [], getResourceServerInfo: () => api },
      rpInitiatedLogout: { enabled: false },
      deviceFlow,
      revocation: {
        enabled: true,
        allowedPolicy: async (_, client, token) => token.clientId === client.clientId,
      },
    },
    interactions: { policy: signInOnly(), url: (_, interaction) => `/interaction/${interaction.uid}` },
    // Signing in is all there is to agree to.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new provider.Grant({
        clientId: oidc.client?.clientId,
        accountId: oidc.session?.accountId,
      });
      grant.addOIDCScope('openid profile');
      grant.addResourceScope(apiResource, '');
      await grant.save();
      return grant;
    },
    pkce: { required: () => true },
    issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
    renderError: (ctx) => {
      ctx.type = 'html';
      ctx.body = expiredPage(wordsFor(ctx.get('accept-language')));
    },
    ttl: {
      AccessToken: (_, token) => token.resourceServer?.accessTokenTTL ?? 3600,
      IdToken: 3600,
      Interaction: 3600,
      Grant: 24 * 3600,
      Session: 24 * 3600,
      DeviceCode: 600,
      RefreshToken: 14 * 24 * 3600,
    },
  });

  provider.registerGrantType<{ user?: string }>(
    demoGrantType,
    async (ctx) => {
      const { client, params } = ctx.oidc;
      const user = demoUser(params.user ?? '');
      if (!user)
        throw new errors.InvalidRequest(
          `The demo has no user "${params.user ?? ''}"; there are ${userNames}.`,
        );
      const token = new provider.AccessToken({
        client,
        accountId: user.id,
        grantId: user.id,
        gty: demoGrantType,
      });
      token.resourceServer = new provider.ResourceServer(apiResource, api);
      const value = await token.save();
      ctx.body = { access_token: value, token_type: token.tokenType, expires_in: token.expiration };
    },
    ['user'],
  );
  return provider;
}
