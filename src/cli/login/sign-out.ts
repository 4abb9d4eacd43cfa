/** Ends the kept login of a service, at the issuer too where it lets programs do so. */
import * as openid from 'openid-client';
import type { KeptLogins, Login } from './kept-logins.ts';
import { programAt } from './sign-in-server.ts';

export type SignedOut =
  | { kind: 'was-not-signed-in' }
  /** `isRevoked`: the issuer was told. */
  | { kind: 'signed-out'; isRevoked: boolean };

export async function signOut(logins: KeptLogins, service: string): Promise<SignedOut> {
  return logins.locked(service, async () => {
    const kept = logins.read(service);
    logins.remove(service);
    return kept ? { kind: 'signed-out', isRevoked: await revoke(kept) } : { kind: 'was-not-signed-in' };
  });
}

/** False where it cannot be done. */
async function revoke({ service, issuer, clientId, refreshToken, accessToken }: Login): Promise<boolean> {
  try {
    const { at } = await programAt({ service, issuer, clientId, scope: undefined });
    if (at.serverMetadata().revocation_endpoint === undefined) return false;
    await openid.tokenRevocation(at, refreshToken ?? accessToken);
    return true;
  } catch {
    return false;
  }
}
