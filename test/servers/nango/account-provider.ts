/**
 * The provider whose accounts Nango connects: an OAuth server with a page on which a person says who they are and allows
 * or denies. Only `openProtectedMcp` accepts its tokens.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { SignJWT } from 'jose';
import { sendJson, serve } from '../serve.ts';
import type { Exchange } from '../serve.ts';

/** What people allowed at the provider, and the tokens that were given for it. */
const people = ['alice', 'bob'] as const;
export type PersonName = (typeof people)[number];

/** What a person allowed. */
interface Grant {
  person: PersonName;
  scopes: string[];
  isRevoked: boolean;
}

interface IssuedToken {
  accessToken: string;
  refreshToken: string;
  expiresAt: number | null;
  grant: Grant;
  isRevoked: boolean;
}

interface PendingCode {
  challenge: string;
  grant: Grant;
}

/** Grants, tokens and codes; in memory. */
interface ProviderState {
  codes: Map<string, PendingCode>;
  tokens: Map<string, IssuedToken>;
  refreshTokens: Map<string, Grant>;
}

interface Clock {
  tokenLifeMs(): number | null;
  now(): number;
}

/** A new pair of tokens for a grant; the tokens before it stay good for as long as they last. */
function issue(state: ProviderState, grant: Grant, { tokenLifeMs, now }: Clock): IssuedToken {
  const life = tokenLifeMs();
  const token: IssuedToken = {
    accessToken: `acme-access-${randomUUID()}`,
    refreshToken: `acme-refresh-${randomUUID()}`,
    expiresAt: life === null ? null : now() + life,
    grant,
    isRevoked: false,
  };
  state.tokens.set(token.accessToken, token);
  state.refreshTokens.set(token.refreshToken, grant);
  return token;
}

/** The token endpoint of the provider: codes with PKCE, and refresh tokens that change with every use. */
async function answerToken(
  provider: AccountProvider,
  state: ProviderState,
  form: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const [status, body] = await answerTo(provider, state, form);
  provider.tokenRequests.push({ grantType: form.get('grant_type') ?? '', status });
  sendJson(response, body, status, { 'cache-control': 'no-store' });
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

/** The page of the provider behind the Nango double, where a person signs in and allows or denies. Plain HTML, no script. */
const head = (title: string) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>`;

/** Stateless: the parameters of the request come back as hidden fields of the form. */
function authorizePage(params: URLSearchParams): string {
  const carried = [...params]
    .map(([name, value]) => `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`)
    .join('');
  return `${head('Acme')}<main><h1>Sign in to Acme</h1><form method="post" action="/authorize">${carried}
<fieldset><legend>Who are you?</legend>
<label><input type="radio" name="person" value="alice" checked> Alice</label>
<label><input type="radio" name="person" value="bob"> Bob</label></fieldset>
<p>Asked for: ${escape(params.get('scope') ?? '')}</p>
<button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button>
</form></main></html>`;
}

function badRequestPage(problem: string): string {
  return `${head('Acme')}<main><h1>This cannot be done</h1><p>${escape(problem)}</p></main></html>`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

export interface AccountProvider {
  origin: string;
  clientId: string;
  clientSecret: string;
  /** What the authorization endpoint was asked, oldest first. */
  authorizations: URLSearchParams[];
  /** What the token endpoint was asked for, and how it answered. */
  tokenRequests: { grantType: string; status: number }[];
  /** Whose this access token is and what it may do; null when it is not good (any more). */
  holder(accessToken: string): { person: PersonName; scopes: string[] } | null;
  /** Ends everything that a person allowed, as their settings page there would. */
  revoke(person: PersonName): void;
  /** Ends this access token only: it can be renewed. */
  revokeToken(accessToken: string): void;
  /** A grant without a page. */
  grantTo(person: PersonName, scopes?: string[]): IssuedToken;
  /** Null grants refreshes. */
  refuseRefresh: 'invalid_grant' | 'outage' | null;
  /** The token endpoint is out of order for codes, too. */
  refuseCodes: boolean;
  /** Whether token answers say who the account is of. */
  idTokens: boolean;
  /** Its pages sever the window from who opened it (Cross-Origin-Opener-Policy: same-origin). */
  severs: boolean;
  /** Null: its tokens never end. */
  tokenLifeMs(): number | null;
  now(): number;
  stop(): Promise<void>;
}

interface Options {
  /** Where a browser may be sent back to; known when Nango listens. */
  redirectUri: () => string;
  now: () => number;
  settings: { tokenLifeMs: number | null };
  /** A free one unless given. */
  port?: number;
  clientSecret?: string;
}

export async function startAccountProvider({
  redirectUri,
  now,
  settings,
  port = 0,
  clientSecret = `acme-secret-${randomUUID()}`,
}: Options): Promise<AccountProvider> {
  const state: ProviderState = { codes: new Map(), tokens: new Map(), refreshTokens: new Map() };
  const { origin, stop } = await serve(answer, port);
  const provider: AccountProvider = {
    origin,
    clientId: 'nango-at-acme',
    clientSecret,
    authorizations: [],
    tokenRequests: [],
    holder(accessToken) {
      const token = state.tokens.get(accessToken);
      if (!token || token.grant.isRevoked || token.isRevoked) return null;
      if (token.expiresAt !== null && token.expiresAt <= now()) return null;
      return { person: token.grant.person, scopes: token.grant.scopes };
    },
    revoke(person) {
      for (const { grant } of state.tokens.values()) if (grant.person === person) grant.isRevoked = true;
    },
    revokeToken(accessToken) {
      const token = state.tokens.get(accessToken);
      if (token) token.isRevoked = true;
    },
    grantTo: (person, scopes = ['issues:read', 'issues:write']) =>
      issue(state, { person, scopes, isRevoked: false }, provider),
    refuseRefresh: null,
    refuseCodes: false,
    idTokens: true,
    severs: false,
    tokenLifeMs: () => settings.tokenLifeMs,
    now,
    stop,
  };

  async function answer({ request, response, url, body }: Exchange): Promise<void> {
    const form = new URLSearchParams(body);
    const route = `${request.method} ${url.pathname}`;
    if (route === 'POST /token') return answerToken(provider, state, form, response);
    const page = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' };
    const headers = provider.severs ? { ...page, 'cross-origin-opener-policy': 'same-origin' } : page;
    if (route === 'GET /authorize') {
      provider.authorizations.push(url.searchParams);
      const problem = problemWith(url.searchParams);
      response.writeHead(problem === null ? 200 : 400, headers);
      return void response.end(problem === null ? authorizePage(url.searchParams) : badRequestPage(problem));
    }
    if (route !== 'POST /authorize')
      return void response.writeHead(404, headers).end(badRequestPage('No such page'));
    const problem = problemWith(form);
    if (problem !== null) return void response.writeHead(400, headers).end(badRequestPage(problem));
    response.writeHead(303, { ...headers, location: decide(form) }).end();
  }

  function problemWith(params: URLSearchParams): string | null {
    if (params.get('client_id') !== provider.clientId) return 'Unknown client';
    if (params.get('redirect_uri') !== redirectUri()) return 'Unknown redirect address';
    if (params.get('response_type') !== 'code') return 'Only codes are given here';
    if (params.get('code_challenge_method') !== 'S256' || !params.get('code_challenge'))
      return 'PKCE is needed';
    return params.get('state') ? null : 'A state is needed';
  }

  function decide(form: URLSearchParams): string {
    const back = new URL(redirectUri());
    back.searchParams.set('state', form.get('state') ?? '');
    const person = people.find((name) => name === form.get('person'));
    if (form.get('decision') !== 'allow' || person === undefined) {
      back.searchParams.set('error', 'access_denied');
      back.searchParams.set('error_description', 'The person said no');
      return back.href;
    }
    const code = randomUUID();
    const scopes = (form.get('scope') ?? '').split(/[ ,]+/).filter(Boolean);
    const challenge = form.get('code_challenge') ?? '';
    state.codes.set(code, { challenge, grant: { person, scopes, isRevoked: false } });
    back.searchParams.set('code', code);
    return back.href;
  }

  return provider;
}
