/**
 * The headers of every request to a server: the operator's and those of the account. And whether an answer refuses that
 * account.
 */
import type { ServerConfig } from '../platform/config/config.ts';
import type { Credential } from '../credentials/credential-store.ts';
import { outgoingTrace } from '../platform/telemetry/traces/requests.ts';
import type { Refused } from './remote-servers.ts';
import type { RequestTrace } from '@interlude-ai/core/mcp/tracked-request.ts';

/** Case-insensitive: `Authorization` of the account replaces `authorization` of the operator. */
export function headersOf(server: ServerConfig, credential: Credential): Headers {
  const headers = new Headers(server.headers);
  for (const [name, value] of Object.entries(credential.headers)) headers.set(name, value);
  return headers;
}

/** Adds the `traceparent` of the current span. */
export function withTrace(server: ServerConfig, init: RequestInit | undefined): RequestInit | undefined {
  const { traceparent } = outgoingTrace(server);
  if (traceparent === undefined) return init;
  const headers = new Headers(init?.headers);
  headers.set('traceparent', traceparent);
  return { ...init, headers };
}

/**
 * The name of a header whose value cannot be sent. Checked first, because errors about a value quote it, and it may be a
 * secret.
 */
export function unsendableHeader(server: ServerConfig, credential: Credential): string | undefined {
  const all = [...Object.entries(server.headers), ...Object.entries(credential.headers)];
  return all.find(([name, value]) => {
    try {
      new Headers([[name, value]]);
      return false;
    } catch {
      return true;
    }
  })?.[0];
}

/** Non-standard statuses for an expired session. */
const expired = [407, 419, 440, 498];

/**
 * 401 and 403 refuse the account. When a token has expired, gateways also answer with a redirect to a sign-in, a page, or
 * 400, which may mean something else. `otherwise`: what the answer means if it is not about the account.
 */
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
