/** The way to the provider: authorization code with PKCE, `resource`, and a state of one browser. */
import { computeScopeUnion, startAuthorization } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../config.ts';
import type { ConnectionKey } from '../../storage/storage.ts';
import { connectionKey } from '../connection-key.ts';
import { newState } from './attempt.ts';
import type { Attempts } from './attempt.ts';
import type { Discovery, OAuthNeeds } from './discovery.ts';
import { scopesOf } from './protected-resource.ts';
import { redirectUri } from './registration.ts';
import type { Registrations } from './registration.ts';
import { inWords, trouble } from './trouble.ts';

export interface BeginInput {
  server: ServerConfig;
  key: ConnectionKey;
  /** Null when nobody asked: the user connects of their own accord. */
  elicitationId: string | null;
  /** SHA-256 of the browser session that must come back. */
  sessionHash: string;
  /** What the question asked for; without it, what the server publishes. */
  scopes?: string[] | undefined;
}

interface Dependencies {
  attempts: Attempts;
  discovery: Discovery;
  registrations: Registrations;
  publicUrl: string;
}

export function createBegin({ attempts, discovery, registrations, publicUrl }: Dependencies) {
  /** Throws `CredentialStoreError` with words for the person. */
  return async function begin(input: BeginInput): Promise<{ url: string }> {
    const { server, elicitationId, sessionHash } = input;
    const needs = await discovery.needsOf(server);
    if (needs.kind === 'nothing')
      throw trouble(server, 'does not ask for an account any more; go back and try again');
    const { authorizationServer, resource } = needs;
    const client = await registrations.clientFor(server, authorizationServer);
    const clientInformation = registrations.informationOf(client, server);
    if (!clientInformation) throw trouble(server, 'its client was removed from the configuration');

    const scopes = scopesToRequest(server, needs, input.scopes);
    const state = newState();
    try {
      const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServer.issuer, {
        metadata: authorizationServer,
        clientInformation,
        redirectUrl: redirectUri(publicUrl),
        state,
        resource,
        ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      });
      const key = connectionKey(server, input.key);
      const attempt = {
        key,
        serverUrl: server.url,
        authorizationServer,
        client,
        resource,
        scopes,
        codeVerifier,
      };
      await attempts.save({ state, sessionHash, elicitationId, attempt });
      return { url: authorizationUrl.href };
    } catch (error) {
      throw inWords(server, error);
    }
  };
}

/** The operator's list or else the server's, and always what the question asked for beyond it. */
function scopesToRequest(
  server: ServerConfig,
  { scopes, authorizationServer }: OAuthNeeds,
  asked: string[] = [],
): string[] {
  const base = server.oauth?.scopes ?? (asked.length > 0 ? [] : scopes);
  const wanted = scopesOf(computeScopeUnion(base.join(' '), asked.join(' ')));
  const offline = wanted.length > 0 && authorizationServer.scopes_supported?.includes('offline_access');
  return offline && !wanted.includes('offline_access') ? [...wanted, 'offline_access'] : wanted;
}
