/**
 * Whether an answer refuses the account that a request was made with. 401 and 403 say so. Where a token has expired, gateways
 * also answer with a redirect to a sign-in, with a page, or with 400, which may as well mean something else.
 */
import type { Credential } from '../credentials/store.ts';
import type { Refused } from './tool-call.ts';
import type { RequestTrace } from './tracked-request.ts';

/** Statuses of servers that have one of their own for an expired session. */
const expired = [407, 419, 440, 498];

/** `otherwise`: what the answer means if it is not about the account. */
export function refusedAccount(
  trace: Pick<RequestTrace, 'status' | 'challenge' | 'isPage'> | undefined,
  credential: Credential,
  otherwise: NonNullable<Refused['otherwise']>,
): Refused | null {
  const { status, challenge = null, isPage = false } = trace ?? {};
  if (status === undefined) return null;
  if (status === 401 || status === 403) return { kind: 'refused', status, challenge };
  const isAccounts = credential.tokenId !== undefined;
  if (!isAccounts) return null;
  if (status >= 400 && status < 500 && /\berror="?invalid_token\b/.test(challenge ?? ''))
    return { kind: 'refused', status: 401, challenge };
  const isRedirect = status >= 300 && status < 400 && status !== 304;
  const isDoubtful = isRedirect || status === 400 || expired.includes(status) || (status < 300 && isPage);
  return isDoubtful ? { kind: 'refused', status, challenge: null, otherwise } : null;
}
