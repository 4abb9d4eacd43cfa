/** Ends accounts: those that a person disconnects, and those that are replaced. */
import { assertSecureTokenEndpoint, selectClientAuthMethod } from '@modelcontextprotocol/client';
import type { FetchLike, OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/schema/account-tables.ts';
import type { Disconnected, Revocation } from '../credential-store.ts';
import { underLock } from '../connection-key.ts';
import { tryOpenAccount } from './account.ts';
import type { Account } from './account.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import { inWords, knownCode } from './failure.ts';
import { readAuthorizationServer } from './metadata.ts';
import type { AuthorizationServer } from './metadata.ts';
import type { SharedParts } from './discovery.ts';
import { clientInformation } from './registration.ts';

/** Removes the account here in any case, and revokes it at the provider where that is possible. */
export async function disconnect(
  parts: SharedParts,
  key: ConnectionKey,
  server: ServerConfig | undefined,
): Promise<Disconnected> {
  const { keys, storage, disconnectWaitMs } = parts;
  const remove = () => storage.connections.remove(key);
  // After a renewal that is under way, so that its tokens are revoked, too; but not longer than this.
  const row = await underLock(storage.connections, { key, waitMs: disconnectWaitMs }, remove, remove);
  if (!row) return { kind: 'nothing-there' };
  if (row.store !== 'oauth') return { kind: 'removed', revocation: { kind: 'not-offered' } };
  const opened = tryOpenAccount(keys, row);
  const revocation =
    opened.kind === 'account'
      ? await revoke(parts, opened.account, server)
      : ({ kind: 'failed', reason: `the stored account cannot be opened (${opened.why})` } as const);
  return { kind: 'removed', revocation };
}

/**
 * Revokes an account that was replaced by another one. Revoking its tokens may also end the new ones, so it is only done when
 * the new account certainly belongs to another person or comes from another issuer. All other tokens are left to expire. Never
 * throws.
 */
export async function revokeReplaced(
  parts: SharedParts,
  replaced: ConnectionRow,
  successor: Account,
  server: ServerConfig,
): Promise<void> {
  const opened = replaced.store === 'oauth' ? tryOpenAccount(parts.keys, replaced) : null;
  if (opened?.kind !== 'account' || !isApart(opened.account, successor)) return;
  await revoke(parts, opened.account, server);
}

/** Whether the two accounts certainly are separate grants. */
function isApart(one: Account, other: Account): boolean {
  if (one.issuer !== other.issuer) return true;
  return one.subject !== undefined && other.subject !== undefined && one.subject !== other.subject;
}

type Kind = 'refresh_token' | 'access_token';
/** `kept`: the provider does not revoke tokens of this kind, which RFC 7009 §2.2.1 allows. */
type RevocationAnswer = { kind: 'ended' | 'kept' } | { kind: 'refused'; code: string };

const errorSchema = z.looseObject({ error: z.string() });

/**
 * Tells the provider that an account is no longer used (RFC 7009): first the refresh token, with which most providers end all
 * tokens that came of it, then the access token, for those that do not. The tokens go to the authorization server that issued
 * them and nowhere else. `server` is undefined when the agents file no longer contains it. Never throws.
 */
export async function revoke(
  parts: SharedParts,
  account: Account,
  server: ServerConfig | undefined,
): Promise<Revocation> {
  // All requests together: a provider that is down must not make the person wait for one timeout after the other.
  const late: Revocation = { kind: 'failed', reason: 'its sign-in server did not answer in time' };
  return withTimeout(revokeTokens(parts, account, server), parts.disconnectWaitMs, late, { ref: false });
}

async function revokeTokens(
  parts: SharedParts,
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
    const provider = await readAuthorizationServer(parts.outbound, named, issuer);
    const { revocation_endpoint: endpoint } = provider;
    if (endpoint === undefined) return { kind: 'not-offered' };
    assertSecureTokenEndpoint(endpoint);
    const client = clientInformation(parts, account.client, issuer, server ?? {});
    if (!client) return { kind: 'failed', reason: 'its client was removed from the configuration' };
    const at = { provider, endpoint, client, fetch: parts.outbound.of(named).fetch };
    if (refreshToken === undefined) return toRevocation(await end(at, 'access_token', accessToken));
    const answer = await end(at, 'refresh_token', refreshToken);
    // An access token lives for minutes, and may be gone with the refresh token: the answer does not matter.
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
): Promise<RevocationAnswer> {
  const body = new URLSearchParams({ token, token_type_hint: kind });
  const headers = identify(provider, client, body);
  const response = await fetch(endpoint, { method: 'POST', headers, body });
  if (response.ok) return { kind: 'ended' };
  const parsed = errorSchema.safeParse(await response.json().catch(() => null));
  const code = parsed.data?.error ?? '';
  return code === 'unsupported_token_type' ? { kind: 'kept' } : { kind: 'refused', code };
}

function toRevocation(answer: RevocationAnswer): Revocation {
  switch (answer.kind) {
    case 'ended':
      return { kind: 'revoked' };
    case 'kept':
      return { kind: 'not-offered' };
    case 'refused': {
      const code = knownCode(answer.code);
      const error = code === null ? 'an error' : `"${code}"`;
      return { kind: 'failed', reason: `its sign-in server refused with ${error}` };
    }
    default:
      return answer satisfies never;
  }
}

/** As at the token endpoint, unless the provider states other methods. */
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
