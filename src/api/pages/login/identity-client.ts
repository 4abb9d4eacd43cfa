/** Signs a person in at the configured issuer: authorization code, PKCE and nonce, by `openid-client`. */
import * as openid from 'openid-client';
import { z } from 'zod';
import type { AuthConfig } from '../../../platform/config/config.ts';
import type { UserPrincipal } from '../../../service/principal.ts';
import { userFromClaims, usualTenantClaim } from '../../../service/access-tokens.ts';
import type { SignIn } from './session.ts';
import { readableFetch } from '@interlude-ai/core/oauth/documents.ts';

interface IdentityClient {
  /** Returns where to send the browser, and what to remember until it comes back. */
  begin(
    elicitationId: string | null,
    options: { asSomeoneElse: boolean },
  ): Promise<{ url: URL } & Omit<SignIn, 'expiresAt' | 'returnUrl' | 'to' | 'turnId'>>;
  /** `query` is what the issuer sent the browser back with. */
  complete(query: string, signIn: SignIn): Promise<UserPrincipal>;
  /** What the token endpoint answers to this client for a code that was never issued. Rejects if it cannot be asked. */
  redeemUnknownCode(): Promise<{ status: number; code: string | null }>;
}

export function createIdentityClient(auth: AuthConfig, redirectUri: string): IdentityClient {
  const metadata = createIssuerMetadata(
    new URL(auth.issuer),
    auth.client.id,
    authentication(auth.client.secret),
  );

  return {
    async begin(elicitationId, { asSomeoneElse }) {
      const issuer = await metadata();
      const state = openid.randomState();
      const nonce = openid.randomNonce();
      const codeVerifier = openid.randomPKCECodeVerifier();
      const url = openid.buildAuthorizationUrl(issuer, {
        redirect_uri: redirectUri,
        scope: 'openid profile',
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
        ...(asSomeoneElse && { prompt: 'login' }),
      });
      return { url, state, nonce, codeVerifier, elicitationId };
    },

    async complete(query, { state, nonce, codeVerifier }) {
      const issuer = await metadata();
      const tokens = await openid.authorizationCodeGrant(issuer, new URL(`${redirectUri}?${query}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims) throw new Error('the issuer sent no ID token');
      const wanted = ['name', auth.tenantClaim ?? usualTenantClaim];
      if (auth.operator) wanted.push(auth.operator.claim);
      const complete = wanted.every((claim) => claims[claim] !== undefined);
      // Many issuers have more claims at the userinfo endpoint; those of the ID token take precedence.
      const more =
        complete || !issuer.serverMetadata().userinfo_endpoint
          ? {}
          : await openid.fetchUserInfo(issuer, tokens.access_token, claims.sub);
      return userFromClaims({ ...more, ...claims }, auth);
    },

    async redeemUnknownCode() {
      try {
        await openid.genericGrantRequest(await metadata(), 'authorization_code', {
          code: openid.randomState(),
          redirect_uri: redirectUri,
          code_verifier: openid.randomPKCECodeVerifier(),
        });
        return { status: 200, code: null };
      } catch (error) {
        if (error instanceof openid.ResponseBodyError) return { status: error.status, code: error.error };
        if (!(error instanceof openid.WWWAuthenticateChallengeError)) throw error;
        const answer: unknown = await error.response.json().catch(() => null);
        const { data } = errorSchema.safeParse(answer);
        return { status: error.status, code: data?.error ?? null };
      }
    },
  };
}

const errorSchema = z.object({ error: z.string() });

/** HTTP Basic, OpenID's default, unless the issuer's metadata excludes it. */
function authentication(secret: string | undefined): openid.ClientAuth {
  if (secret === undefined) return openid.None();
  const basic = openid.ClientSecretBasic(secret);
  const post = openid.ClientSecretPost(secret);
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const chosen = methods.includes('client_secret_basic') ? basic : post;
    chosen(server, ...rest);
  };
}

const timeoutSeconds = 10;

export function createIssuerMetadata(
  issuer: URL,
  clientId: string,
  authentication: openid.ClientAuth,
): () => Promise<openid.Configuration> {
  let discovered: Promise<openid.Configuration> | undefined;
  return async () => {
    discovered ??= openid.discovery(issuer, clientId, undefined, authentication, {
      timeout: timeoutSeconds,
      [openid.customFetch]: readableFetch,
      ...(issuer.protocol === 'http:' && { execute: [openid.allowInsecureRequests] }),
    });
    try {
      return await discovered;
    } catch (error) {
      discovered = undefined;
      throw error;
    }
  };
}
