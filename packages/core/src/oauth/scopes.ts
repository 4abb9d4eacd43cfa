/**
 * Scopes as OAuth writes them, and the challenge with which a server asks for them: the `WWW-Authenticate` header of a
 * refusal (RFC 6750, RFC 9728).
 */

export function scopesOf(scope: string | undefined): string[] {
  return [...new Set(scope?.split(/\s+/).filter(Boolean))];
}

/** Scopes that are not permissions: lasting access, and the identity of the person. */
const technical = ['offline_access', 'openid'];

/** The scopes that are shown to people. */
export function permissionsAmong(scopes: string[]): string[] {
  return scopes.filter((scope) => !technical.includes(scope));
}

export interface Challenge {
  resourceMetadataUrl?: URL;
  scope?: string;
  error?: string;
}

/** The name of a scheme, which begins a challenge, or a parameter of the current challenge (RFC 9110 §11.6.1). */
const part = /([\w!#$%&'*+\-.^`|~]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]*)))?/g;

/**
 * The header may contain several challenges, and several headers arrive as one. Only bearer challenges count; of equal
 * parameters, the first.
 */
export function readChallenge(header: string | null): Challenge {
  const said = new Map<string, string>();
  let scheme = '';
  for (const [whole, name = '', quoted, plain = ''] of (header ?? '').matchAll(part)) {
    if (!whole.includes('=')) scheme = name.toLowerCase();
    const value = quoted?.replaceAll(/\\(.)/g, '$1') ?? plain;
    const key = name.toLowerCase();
    if (['bearer', 'dpop'].includes(scheme) && value !== '' && !said.has(key)) said.set(key, value);
  }
  const [metadata = '', scope, error] = ['resource_metadata', 'scope', 'error'].map((name) => said.get(name));
  return {
    ...(URL.canParse(metadata) && { resourceMetadataUrl: new URL(metadata) }),
    ...(scope !== undefined && { scope }),
    ...(error !== undefined && { error }),
  };
}

/** The scopes that a 403 asks for, which may be none; null when it is not about scopes. */
export function requestedScopes(challenge: string | null): string[] | null {
  const { error, scope } = readChallenge(challenge);
  return error === 'insufficient_scope' || scope !== undefined ? scopesOf(scope) : null;
}
