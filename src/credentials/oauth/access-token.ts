/** An OAuth access token as the stores use it. */
import { tokenIdOf } from '../resolution.ts';
import type { Credential } from '../store.ts';

export function bearerCredential(accessToken: string, version: number): Credential {
  return {
    kind: 'credential',
    headers: { authorization: `Bearer ${accessToken}` },
    version,
    tokenId: tokenIdOf(accessToken),
  };
}

/** When to renew a token that has this long to live: a minute before its end, or a third of a very short life. A whole number, as rows hold them. */
export function renewAt({ from, expiresAt }: { from: number; expiresAt: number }): number {
  return Math.floor(expiresAt - Math.min(60_000, Math.max(0, expiresAt - from) / 3));
}
