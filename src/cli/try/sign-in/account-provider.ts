/** An account as the SDK's OAuth functions read and write it, with a browser or without. */
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { requireSafe } from '../../login/loopback.ts';
import type { Account } from './account-file.ts';

/** Nobody can go on without somebody who signs in. */
export class SignInNeeded extends Error {
  override name = 'SignInNeeded';
}

export interface Browser {
  redirectUri: string;
  state: string;
  open(url: URL): void;
}

/**
 * Changes `account` as it goes. Without a browser it renews, and else throws `SignInNeeded`; with one, the program
 * registers itself for this one sign-in, whose redirect is to a port that was free.
 */
export function accountProvider(account: Account, browser?: Browser): OAuthClientProvider {
  let verifier = '';
  return {
    redirectUrl: browser?.redirectUri ?? 'http://127.0.0.1/callback',
    clientMetadata: {
      client_name: 'Interlude',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      redirect_uris: browser ? [browser.redirectUri] : [],
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
    },
    ...(browser && { state: () => browser.state }),
    clientInformation() {
      if (!browser && !account.client) throw new SignInNeeded();
      return account.client as StoredOAuthClientInformation | undefined;
    },
    saveClientInformation(client) {
      account.client = client;
    },
    tokens: () => account.tokens as StoredOAuthTokens | undefined,
    saveTokens(tokens) {
      account.tokens = tokens;
    },
    discoveryState: () => account.discovery as unknown as OAuthDiscoveryState | undefined,
    saveDiscoveryState(discovery) {
      account.discovery = { ...discovery };
    },
    redirectToAuthorization(url) {
      if (!browser) throw new SignInNeeded();
      requireSafe(url);
      browser.open(url);
    },
    saveCodeVerifier(text) {
      verifier = text;
    },
    codeVerifier: () => verifier,
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'client') delete account.client;
      if (scope === 'all' || scope === 'tokens') delete account.tokens;
      if (scope === 'all' || scope === 'discovery') delete account.discovery;
    },
  };
}
