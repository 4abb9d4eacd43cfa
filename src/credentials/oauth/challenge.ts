/** What a server asks for when it refuses a request: its `WWW-Authenticate` header (RFC 6750, RFC 9728). */
import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { scopesOf } from './scopes.ts';

export function readChallenge(challenge: string | null) {
  return extractWWWAuthenticateParams(
    new Response(null, challenge === null ? {} : { headers: { 'www-authenticate': challenge } }),
  );
}

/** The scopes that a 403 asks for, perhaps without naming one; null when it is not about scopes. */
export function requestedScopes(challenge: string | null): string[] | null {
  const { error, scope } = readChallenge(challenge);
  return error === 'insufficient_scope' || scope !== undefined ? scopesOf(scope) : null;
}
