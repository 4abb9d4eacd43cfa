/**
 * Tells the provider that an account is not used any more (RFC 7009): the refresh token first, with which a good
 * provider ends everything that came of it, then the access token, for those that do not. The tokens go to the
 * authorization server that issued them and nowhere else, whatever the MCP server names today.
 */
import { assertSecureTokenEndpoint, selectClientAuthMethod } from '@modelcontextprotocol/client';
import type { FetchLike, OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import type { Revocation } from '../store.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import type { Account } from './account.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import type { Discovery } from './discovery.ts';
import type { Outbound } from './outbound.ts';
import type { Registrations } from './registration.ts';
import { inWords, quoteCode } from './failure.ts';

/** `server` is undefined when the agents file does not have it any more. Never throws. */
export type Revoke = (account: Account, server: ServerConfig | undefined) => Promise<Revocation>;

type Kind = 'refresh_token' | 'access_token';
/** `kept`: the provider does not end tokens of this kind by themselves, which RFC 7009 §2.2.1 allows. */
type Answer = { kind: 'ended' | 'kept' } | { kind: 'refused'; code: string };

const errorSchema = z.looseObject({ error: z.string() });

interface Parts {
  discovery: Pick<Discovery, 'describe'>;
  registrations: Pick<Registrations, 'informationOf'>;
  outbound: Outbound;
  /** Every request has a limit of its own; a provider that is away must not cost the person one after the other. */
  timeoutMs: number;
}

export function createRevoke(parts: Parts): Revoke {
  const late: Revocation = { kind: 'failed', reason: 'its sign-in server did not answer in time' };
  return (account, server) =>
    withTimeout(revoke(parts, account, server), parts.timeoutMs, late, { ref: false });
}

async function revoke(
  { discovery, registrations, outbound }: Parts,
  account: Account,
  server: ServerConfig | undefined,
): Promise<Revocation> {
  const { serverUrl: url, issuer, refreshToken, accessToken } = account;
  const named = {
    title: server?.title ?? new URL(url).host,
    url,
    local: server?.local,
    oauth: server?.oauth,
  };
  try {
    const provider = await discovery.describe(named, issuer);
    const { revocation_endpoint: endpoint } = provider;
    if (endpoint === undefined) return { kind: 'not-offered' };
    assertSecureTokenEndpoint(endpoint);
    const client = registrations.informationOf(account.client, issuer, server ?? {});
    if (!client) return { kind: 'failed', reason: 'its client was removed from the configuration' };
    const at = { provider, endpoint, client, fetch: outbound.of(named).fetch };
    if (refreshToken === undefined) return toRevocation(await end(at, 'access_token', accessToken));
    const answer = await end(at, 'refresh_token', refreshToken);
    // It lives for minutes and may be gone with the other one: whatever is said to it decides nothing.
    await end(at, 'access_token', accessToken).catch(() => undefined);
    return toRevocation(answer);
  } catch (error) {
    return { kind: 'failed', reason: inWords(named, error).forOperator };
  }
}

interface RevocationEndpoint {
  provider: AuthorizationServer;
  endpoint: string;
  client: OAuthClientInformationMixed;
  fetch: FetchLike;
}

async function end(
  { provider, endpoint, client, fetch }: RevocationEndpoint,
  kind: Kind,
  token: string,
): Promise<Answer> {
  const body = new URLSearchParams({ token, token_type_hint: kind });
  const headers = identify(provider, client, body);
  const response = await fetch(endpoint, { method: 'POST', headers, body });
  if (response.ok) return { kind: 'ended' };
  const parsed = errorSchema.safeParse(await response.json().catch(() => null));
  const code = parsed.data?.error ?? '';
  return code === 'unsupported_token_type' ? { kind: 'kept' } : { kind: 'refused', code };
}

function toRevocation(answer: Answer): Revocation {
  switch (answer.kind) {
    case 'ended':
      return { kind: 'revoked' };
    case 'kept':
      return { kind: 'not-offered' };
    case 'refused':
      return { kind: 'failed', reason: `its sign-in server refused with ${quoteCode(answer.code)}` };
    default:
      return answer satisfies never;
  }
}

/** As at the token endpoint, unless the provider says otherwise. */
function identify(
  provider: AuthorizationServer,
  client: OAuthClientInformationMixed,
  body: URLSearchParams,
): Record<string, string> {
  const methods =
    provider.revocation_endpoint_auth_methods_supported ?? provider.token_endpoint_auth_methods_supported;
  const { client_id: id, client_secret: secret } = client;
  if (secret !== undefined && selectClientAuthMethod(client, methods ?? []) === 'client_secret_basic')
    return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
  body.set('client_id', id);
  if (secret !== undefined) body.set('client_secret', secret);
  return {};
}
