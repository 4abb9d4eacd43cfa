/**
 * The provider whose accounts Nango connects: an OAuth server with a page on which a person says who they are and allows
 * or denies. Only `openProtectedMcp` accepts its tokens.
 */
import { createHash, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { sendJson, serve } from '../serve.ts';
import type { Exchange } from '../serve.ts';

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

interface Options {
  /** Where a browser may be sent back to; known when Nango listens. */
  redirectUri: () => string;
  now: () => number;
  /** Null: its tokens never end. */
  settings: { tokenLifeMs: number | null };
  /** A free one unless given. */
  port?: number;
  clientSecret?: string;
}

export type AccountProvider = Awaited<ReturnType<typeof startAccountProvider>>;

export async function startAccountProvider({
  redirectUri,
  now,
  settings,
  port = 0,
  clientSecret = `acme-secret-${randomUUID()}`,
}: Options) {
  const codes = new Map<string, { challenge: string; grant: Grant }>();
  const tokens = new Map<string, IssuedToken>();
  const refreshTokens = new Map<string, Grant>();
  const { origin, stop } = await serve(answer, port);
  const clientId = 'nango-at-acme';
  const provider = {
    origin,
    clientId,
    clientSecret,
    /** What the authorization endpoint was asked, oldest first. */
    authorizations: [] as URLSearchParams[],
    /** What the token endpoint was asked for, and how it answered. */
    tokenRequests: [] as { grantType: string; status: number }[],
    /** Whose this access token is and what it may do; null when it is not good (any more). */
    holder(accessToken: string): { person: PersonName; scopes: string[] } | null {
      const token = tokens.get(accessToken);
      if (!token || token.grant.isRevoked || token.isRevoked) return null;
      if (token.expiresAt !== null && token.expiresAt <= now()) return null;
      return { person: token.grant.person, scopes: token.grant.scopes };
    },
    /** Ends everything that a person allowed, as their settings page there would. */
    revoke(person: PersonName): void {
      for (const { grant } of tokens.values()) if (grant.person === person) grant.isRevoked = true;
    },
    /** Ends this access token only: it can be renewed. */
    revokeToken(accessToken: string): void {
      const token = tokens.get(accessToken);
      if (token) token.isRevoked = true;
    },
    /** A grant without a page. */
    grantTo: (person: PersonName, scopes = ['issues:read', 'issues:write']) =>
      issue({ person, scopes, isRevoked: false }),
    /** Null grants refreshes. */
    refuseRefresh: null as 'invalid_grant' | 'outage' | null,
    /** The token endpoint is out of order for codes, too. */
    refuseCodes: false,
    /** Whether token answers say who the account is of. */
    idTokens: true,
    /** Its pages sever the window from who opened it (Cross-Origin-Opener-Policy: same-origin). */
    severs: false,
    stop,
  };

  async function answer({ request, response, url, body }: Exchange): Promise<void> {
    const form = new URLSearchParams(body);
    const route = `${request.method} ${url.pathname}`;
    if (route === 'POST /token') {
      const [status, result] = await answerToken(form);
      provider.tokenRequests.push({ grantType: form.get('grant_type') ?? '', status });
      return sendJson(response, result, status, { 'cache-control': 'no-store' });
    }
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      ...(provider.severs && { 'cross-origin-opener-policy': 'same-origin' }),
    };
    const isAsked = route === 'GET /authorize';
    if (isAsked) provider.authorizations.push(url.searchParams);
    if (!isAsked && route !== 'POST /authorize')
      return void response.writeHead(404, headers).end(badRequestPage('No such page'));
    const params = isAsked ? url.searchParams : form;
    const problem = problemWith(params);
    if (problem !== null) return void response.writeHead(400, headers).end(badRequestPage(problem));
    if (isAsked) response.writeHead(200, headers).end(authorizePage(params));
    else response.writeHead(303, { ...headers, location: decide(params) }).end();
  }

  function problemWith(params: URLSearchParams): string | null {
    if (params.get('client_id') !== clientId) return 'Unknown client';
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
    codes.set(code, { challenge, grant: { person, scopes, isRevoked: false } });
    back.searchParams.set('code', code);
    return back.href;
  }

  /** Codes with PKCE, and refresh tokens that change with every use. */
  async function answerToken(form: URLSearchParams): Promise<[status: number, body: object]> {
    if (form.get('client_id') !== clientId || form.get('client_secret') !== clientSecret)
      return [401, { error: 'invalid_client' }];
    const grant = form.get('grant_type') === 'refresh_token' ? renewed(form) : taken(form);
    if (grant === 'outage') return [500, { error: 'server_error' }];
    if (grant === null || grant.isRevoked) return [400, { error: 'invalid_grant' }];
    const { accessToken, refreshToken } = issue(grant);
    const life = settings.tokenLifeMs;
    return [
      200,
      {
        access_token: accessToken,
        refresh_token: refreshToken,
        token_type: 'Bearer',
        scope: grant.scopes.join(' '),
        ...(life !== null && { expires_in: life / 1000 }),
        ...(provider.idTokens && { id_token: await idToken(grant.person) }),
      },
    ];
  }

  /** Single use, and only with the verifier whose challenge came along at the start. */
  function taken(form: URLSearchParams): Grant | null | 'outage' {
    if (provider.refuseCodes) return 'outage';
    const code = form.get('code') ?? '';
    const pending = codes.get(code);
    codes.delete(code);
    const verifier = form.get('code_verifier') ?? '';
    const matches = pending?.challenge === createHash('sha256').update(verifier).digest('base64url');
    return pending && matches ? pending.grant : null;
  }

  function renewed(form: URLSearchParams): Grant | null | 'outage' {
    const { refuseRefresh } = provider;
    if (refuseRefresh !== null) return refuseRefresh === 'outage' ? 'outage' : null;
    const refreshToken = form.get('refresh_token') ?? '';
    const grant = refreshTokens.get(refreshToken) ?? null;
    refreshTokens.delete(refreshToken);
    return grant;
  }

  /** A new pair of tokens for a grant; the tokens before it stay good for as long as they last. */
  function issue(grant: Grant): IssuedToken {
    const life = settings.tokenLifeMs;
    const token: IssuedToken = {
      accessToken: `acme-access-${randomUUID()}`,
      refreshToken: `acme-refresh-${randomUUID()}`,
      expiresAt: life === null ? null : now() + life,
      grant,
      isRevoked: false,
    };
    tokens.set(token.accessToken, token);
    refreshTokens.set(token.refreshToken, grant);
    return token;
  }

  function idToken(person: PersonName): Promise<string> {
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

  return provider;
}

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
