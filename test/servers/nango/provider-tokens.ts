/** The token endpoint of the provider: codes with PKCE, and refresh tokens that change with every use. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SignJWT } from 'jose';
import { formOf } from '../../../demo/form.ts';
import type { AccountProvider } from './account-provider.ts';
import { issue } from './provider-grants.ts';
import type { Grant, PersonName, ProviderState } from './provider-grants.ts';

export async function answerToken(
  provider: AccountProvider,
  state: ProviderState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const form = await formOf(request);
  const [status, body] = await answerTo(provider, state, form);
  provider.tokenRequests.push({ grantType: form.get('grant_type') ?? '', status });
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body));
}

type Answer = [status: number, body: Record<string, unknown>];

async function answerTo(
  provider: AccountProvider,
  state: ProviderState,
  form: URLSearchParams,
): Promise<Answer> {
  if (form.get('client_id') !== provider.clientId || form.get('client_secret') !== provider.clientSecret)
    return [401, { error: 'invalid_client' }];
  const grant =
    form.get('grant_type') === 'refresh_token'
      ? renewed(provider, state, form)
      : taken(provider, state, form);
  if (grant === 'outage') return [500, { error: 'server_error' }];
  if (grant === null || grant.isRevoked) return [400, { error: 'invalid_grant' }];
  const { accessToken, refreshToken } = issue(state, grant, provider);
  const life = provider.tokenLifeMs();
  return [
    200,
    {
      access_token: accessToken,
      refresh_token: refreshToken,
      token_type: 'Bearer',
      scope: grant.scopes.join(' '),
      ...(life !== null && { expires_in: life / 1000 }),
      ...(provider.idTokens && { id_token: await idToken(provider, grant.person) }),
    },
  ];
}

/** Single use, and only with the verifier whose challenge came along at the start. */
function taken(
  { refuseCodes }: AccountProvider,
  { codes }: ProviderState,
  form: URLSearchParams,
): Grant | null | 'outage' {
  if (refuseCodes) return 'outage';
  const code = form.get('code') ?? '';
  const pending = codes.get(code);
  codes.delete(code);
  const verifier = form.get('code_verifier') ?? '';
  const matches = pending?.challenge === createHash('sha256').update(verifier).digest('base64url');
  return pending && matches ? pending.grant : null;
}

function renewed(
  { refuseRefresh }: AccountProvider,
  { refreshTokens }: ProviderState,
  form: URLSearchParams,
): Grant | null | 'outage' {
  if (refuseRefresh !== null) return refuseRefresh === 'outage' ? 'outage' : null;
  const refreshToken = form.get('refresh_token') ?? '';
  const grant = refreshTokens.get(refreshToken) ?? null;
  refreshTokens.delete(refreshToken);
  return grant;
}

function idToken(
  { origin, clientId, clientSecret, now }: AccountProvider,
  person: PersonName,
): Promise<string> {
  const seconds = Math.floor(now() / 1000);
  return new SignJWT({ email: `${person}@acme.test`, name: person === 'alice' ? 'Alice' : 'Bob' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(origin)
    .setAudience(clientId)
    .setSubject(`acme-${person}`)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + 3600)
    .sign(new TextEncoder().encode(clientSecret));
}
