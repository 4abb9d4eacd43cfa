/** The way to the provider: authorization code with PKCE, `resource`, and a state of one browser. */
import { computeScopeUnion, startAuthorization } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import { requireScope } from '../connection-key.ts';
import { scopesOf } from '../oauth/scopes.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { storeError } from '../store-error.ts';
import { resourceOf, tryOpenAccount } from './account.ts';
import { newState } from './attempt.ts';
import type { Attempts } from './attempt.ts';
import { redirectUri } from './client-metadata.ts';
import type { Discovery, OAuthNeeds } from './discovery.ts';
import type { Registrations } from './registration.ts';
import { inWords } from './failure.ts';

export interface BeginInput {
  server: ServerConfig;
  key: ConnectionKey;
  /** Null when nobody asked: the user connects of their own accord. */
  elicitationId: string | null;
  /** SHA-256 of the browser session that must come back. */
  sessionHash: string;
  /** What the question asked for. Without it, and without an account that could lose something, what the server publishes. */
  scopes?: string[] | undefined;
  /** Kept for whoever comes back. */
  returnUrl?: string | null;
}

interface Dependencies {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
  attempts: Attempts;
  discovery: Discovery;
  registrations: Registrations;
  publicUrl: string;
}

export function createBegin(deps: Dependencies) {
  const { storage, keys, attempts, discovery, registrations, publicUrl } = deps;

  /** Throws `CredentialStoreError` with words for the person. */
  return async function begin(input: BeginInput): Promise<{ url: string }> {
    const { server, elicitationId, sessionHash, returnUrl = null } = input;
    const needs = await discovery.needsOf(server);
    if (needs.kind === 'nothing')
      throw storeError(server, 'does not ask for an account any more; go back and try again');
    const { authorizationServer } = needs;
    const resource = resourceOf(server, needs.resource);
    const client = await registrations.clientFor(server, authorizationServer);
    const clientInformation = registrations.informationOf(client, authorizationServer.issuer, server);
    if (!clientInformation) throw storeError(server, 'its client was removed from the configuration');

    const key = requireScope(server, input.key);
    const held = heldScopes(keys, server, needs, await storage.connections.get(key));
    const scopes = scopesToRequest(server, needs, [...held, ...(input.scopes ?? [])]);
    const state = newState();
    const redirect = redirectUri(publicUrl, authorizationServer.issuer);
    try {
      const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServer.issuer, {
        metadata: authorizationServer,
        clientInformation,
        redirectUrl: redirect,
        state,
        ...(resource !== null && { resource }),
        ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      });
      // `set` also replaces the `prompt` that goes with lasting access.
      for (const [name, value] of Object.entries(server.oauth?.authorizationParams ?? {}))
        authorizationUrl.searchParams.set(name, value);
      const attempt = {
        key,
        serverUrl: server.url,
        authorizationServer,
        redirectUri: redirect,
        client,
        resource,
        scopes,
        codeVerifier,
        returnUrl,
      };
      await attempts.save({ state, sessionHash, elicitationId, attempt });
      return { url: authorizationUrl.href };
    } catch (error) {
      throw inWords(server, error);
    }
  };
}

/** What is held now and would be lost otherwise: a new grant replaces the old one. */
function heldScopes(
  keys: KeyRing,
  server: ServerConfig,
  { authorizationServer }: OAuthNeeds,
  row: ConnectionRow | null,
): string[] {
  const opened = row?.store === 'oauth' ? tryOpenAccount(keys, row) : null;
  if (!row || opened?.kind !== 'account') return [];
  // Scopes are names that only the sign-in server they come from knows.
  const { serverUrl, issuer } = opened.account;
  return serverUrl === server.url && issuer === authorizationServer.issuer ? row.scopes : [];
}

/**
 * The operator's list or else the server's, and always what was asked for or is held beyond it. Where the sign-in
 * server offers it: access that lasts, and, unless the operator chose the scopes, who the person is.
 */
function scopesToRequest(
  server: ServerConfig,
  { scopes, authorizationServer }: OAuthNeeds,
  asked: string[],
): string[] {
  const base = server.oauth?.scopes ?? (asked.length > 0 ? [] : scopes);
  const wanted = scopesOf(computeScopeUnion(base.join(' '), asked.join(' ')));
  if (wanted.length === 0) return [];
  const offered = authorizationServer.scopes_supported ?? [];
  const identity = server.oauth?.scopes || !offered.includes('openid') ? [] : ['openid', 'email'];
  const extras = ['offline_access', ...identity].filter((scope) => offered.includes(scope));
  return [...new Set([...wanted, ...extras])];
}
