/** What a server asks for when it refuses a request: its `WWW-Authenticate` header (RFC 6750, RFC 9728). */
import { scopesOf } from './scopes.ts';

export interface Challenge {
  resourceMetadataUrl?: URL;
  scope?: string;
  error?: string;
}

/** A name, which begins a challenge, or a parameter of the challenge before it (RFC 9110 §11.6.1). */
const part = /([\w!#$%&'*+\-.^`|~]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]*)))?/g;

/**
 * The header may hold several challenges, and there may be several headers, which arrive as one. What is for bearer tokens
 * counts; of two that say the same, the first.
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

/** The scopes that a 403 asks for, perhaps without naming one; null when it is not about scopes. */
export function requestedScopes(challenge: string | null): string[] | null {
  const { error, scope } = readChallenge(challenge);
  return error === 'insufficient_scope' || scope !== undefined ? scopesOf(scope) : null;
}
