/**
 * The provider whose accounts Nango connects: an OAuth server with a page on which a person says who they are and allows
 * or denies. Only `openProtectedMcp` accepts its tokens.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { formOf } from '../../../demo/form.ts';
import { listen } from '../../../demo/listen.ts';
import { authorizePage, badRequestPage } from './provider-pages.ts';
import { answerToken } from './provider-tokens.ts';
import { issue, people } from './provider-grants.ts';
import type { IssuedToken, PersonName, ProviderState } from './provider-grants.ts';

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
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  const listening = await listen(server, port, 'NANGO_TEST_PROVIDER_PORT');
  const provider: AccountProvider = {
    origin: `http://127.0.0.1:${listening.port}`,
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
    stop: listening.stop,
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', provider.origin);
    const route = `${request.method} ${url.pathname}`;
    if (route === 'POST /token') return answerToken(provider, state, request, response);
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
    const form = await formOf(request);
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
