/** Who an account belongs to, as its ID token says. It comes straight from the token endpoint and lets nobody in, so it is not verified. */
import { decodeJwt } from 'jose';

/** As whom, for people to read; null when the token does not say. */
export function accountName(idToken: string | undefined): string | null {
  const claims = claimsOf(idToken);
  const name = [claims['email'], claims['preferred_username'], claims['name']].find(
    (claim) => typeof claim === 'string',
  );
  return typeof name === 'string' && /^[^\p{C}]{1,200}$/u.test(name) ? name : null;
}

/** In the sign-in server's own terms. */
export function subjectOf(idToken: string | undefined): { subject?: string } {
  const { sub } = claimsOf(idToken);
  return typeof sub === 'string' ? { subject: sub } : {};
}

function claimsOf(idToken: string | undefined): Record<string, unknown> {
  if (idToken === undefined) return {};
  try {
    return decodeJwt(idToken);
  } catch {
    return {};
  }
}
