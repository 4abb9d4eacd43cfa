/**
 * A sign-in server and the MCP server that it guards, with the behaviour of one provider as its documentation has it. One
 * process plays all hosts: the request for `https://github.com/login` is one for `/github.com/login` here.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { serve } from './serve.ts';
import type { Exchange } from './serve.ts';

export interface ProviderBehaviour {
  /** Address of the MCP server. */
  server: string;
  /** Where its document about its sign-in is, which issuer that names, and which scopes. */
  resourceDocument: string;
  names: string;
  scopes?: string[];
  /** Where the sign-in server publishes what it is, and what that says. */
  metadataAt: string;
  metadata: Record<string, unknown> & { issuer: string };
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /** Undefined where clients are registered by hand. */
  registrationEndpoint?: string | undefined;
  clientAuth: 'none' | 'client_secret_basic' | 'client_secret_post';
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** The error code for an authorization request that it does not accept, and null for all others. */
  refusesAuthorization?: (params: URLSearchParams) => string | null;
  /** The same of token requests. */
  refusesTokens?: (params: URLSearchParams) => Answer | null;
  /** Whether such an authorization request gets a refresh token. */
  isLasting?: (params: URLSearchParams) => boolean;
  /** Null: the answer does not say. */
  lifetimeSeconds: number | null;
  isRotating?: boolean;
  /** What it answers to a refresh token that is not valid any more. */
  refusal: Answer;
  /** What it answers to a client that it does not know. */
  clientRefusal?: Answer;
  /** What else is in an answer with tokens. */
  extras?: Record<string, unknown>;
}

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

const invalidClient: Answer = { status: 401, body: { error: 'invalid_client' } };
const badRequest = (error: string): Answer => ({ status: 400, body: { error } });

interface Grant {
  authorization: URLSearchParams;
  clientId: string;
}

export async function startProviderDouble(behaviour: ProviderBehaviour) {
  const codes = new Map<string, Grant>();
  const refreshTokens = new Map<string, Grant>();
  const accessTokens = new Set<string>();
  const clients = new Set(behaviour.clientId === undefined ? [] : [behaviour.clientId]);
  const { origin, stop } = await serve(handle);
  onTestFinished(stop);
  const at = (address: string | URL) => {
    const { host, pathname, search } = new URL(address);
    return `${origin}/${host}${pathname}${search}`;
  };
  const double = {
    behaviour,
    /** Where this address is played. */
    at,
    /** For a store: asks here instead of there. */
    fetch: (address: string | URL, init?: RequestInit) => fetch(at(address), init),
    authorizations: [] as URLSearchParams[],
    /** Of renewals, oldest first. */
    renewals: [] as URLSearchParams[],
    /** Sent instead of the answer to a renewal. */
    answerRenewals: null as Answer | null,
    /** All refresh tokens end. */
    withdraw: () => refreshTokens.clear(),
    isValid: (accessToken: string) => accessTokens.has(accessToken),
  };

  function handle({ request, response, body }: Exchange): void {
    const url = new URL(`https:/${request.url ?? ''}`);
    const address = url.origin + url.pathname;
    const { names, scopes } = behaviour;
    switch (address) {
      case behaviour.resourceDocument:
        return send(response, {
          status: 200,
          body: { resource: behaviour.server, authorization_servers: [names], scopes_supported: scopes },
        });
      case behaviour.metadataAt:
        return send(response, { status: 200, body: metadata() });
      case behaviour.authorizationEndpoint:
        return authorize(url.searchParams, response);
      case behaviour.tokenEndpoint:
        return send(response, token(request, new URLSearchParams(body)));
      case behaviour.registrationEndpoint: {
        const clientId = `registered-${randomUUID()}`;
        clients.add(clientId);
        return send(response, { status: 201, body: { ...JSON.parse(body), client_id: clientId } });
      }
      default:
        return send(response, { status: 404, body: { message: 'Not Found' } });
    }
  }

  function metadata() {
    const { authorizationEndpoint, tokenEndpoint, registrationEndpoint } = behaviour;
    return {
      authorization_endpoint: authorizationEndpoint,
      token_endpoint: tokenEndpoint,
      ...(registrationEndpoint !== undefined && { registration_endpoint: registrationEndpoint }),
      response_types_supported: ['code'],
      // What OpenID Connect Discovery has beside that.
      jwks_uri: `${new URL(tokenEndpoint).origin}/keys`,
      subject_types_supported: ['pairwise'],
      id_token_signing_alg_values_supported: ['RS256'],
      ...behaviour.metadata,
    };
  }

  function authorize(params: URLSearchParams, response: ServerResponse): void {
    double.authorizations.push(params);
    const back = new URL(params.get('redirect_uri') ?? '');
    back.searchParams.set('state', params.get('state') ?? '');
    const clientId = params.get('client_id') ?? '';
    const error = clients.has(clientId) ? behaviour.refusesAuthorization?.(params) : 'unauthorized_client';
    if (error) back.searchParams.set('error', error);
    else {
      const code = randomUUID();
      codes.set(code, { authorization: params, clientId });
      back.searchParams.set('code', code);
    }
    response.writeHead(302, { location: back.href }).end();
  }

  function token(request: IncomingMessage, params: URLSearchParams): Answer {
    const isRenewal = params.get('grant_type') === 'refresh_token';
    if (isRenewal) double.renewals.push(params);
    if (isRenewal && double.answerRenewals) return double.answerRenewals;
    const clientId = authenticated(request, params);
    if (clientId === null) return behaviour.clientRefusal ?? invalidClient;
    const refused = behaviour.refusesTokens?.(params);
    if (refused) return refused;
    return isRenewal ? renew(params.get('refresh_token') ?? '') : redeem(params, clientId);
  }

  function authenticated({ headers }: IncomingMessage, params: URLSearchParams): string | null {
    const { clientAuth, clientSecret } = behaviour;
    const basic = Buffer.from(headers.authorization?.replace(/^Basic /, '') ?? '', 'base64')
      .toString()
      .split(':');
    const isBasic = clientAuth === 'client_secret_basic';
    const id = (isBasic ? basic[0] : params.get('client_id')) ?? '';
    const secret = isBasic ? basic[1] : (params.get('client_secret') ?? undefined);
    return clients.has(id) && (clientAuth === 'none' || secret === clientSecret) ? id : null;
  }

  function redeem(params: URLSearchParams, clientId: string): Answer {
    const code = params.get('code') ?? '';
    const grant = codes.get(code);
    codes.delete(code);
    const proof = createHash('sha256')
      .update(params.get('code_verifier') ?? '')
      .digest('base64url');
    const isTheirs =
      grant?.clientId === clientId &&
      grant.authorization.get('code_challenge') === proof &&
      grant.authorization.get('redirect_uri') === params.get('redirect_uri');
    return isTheirs
      ? tokens(grant, behaviour.isLasting?.(grant.authorization) ?? true)
      : badRequest('invalid_grant');
  }

  function renew(refreshToken: string): Answer {
    const grant = refreshTokens.get(refreshToken);
    if (!grant) return behaviour.refusal;
    if (behaviour.isRotating) refreshTokens.delete(refreshToken);
    return tokens(grant, behaviour.isRotating === true);
  }

  function tokens(grant: Grant, isLasting: boolean): Answer {
    const accessToken = randomUUID();
    accessTokens.add(accessToken);
    const refreshToken = randomUUID();
    if (isLasting) refreshTokens.set(refreshToken, grant);
    const { lifetimeSeconds, extras } = behaviour;
    const body = {
      access_token: accessToken,
      token_type: 'bearer',
      scope: grant.authorization.get('scope') ?? '',
      ...(lifetimeSeconds !== null && { expires_in: lifetimeSeconds }),
      ...(isLasting && { refresh_token: refreshToken }),
      ...extras,
    };
    return { status: 200, body };
  }
  return double;
}

function send(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  const isText = typeof body === 'string';
  response
    .writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers })
    .end(isText ? body : JSON.stringify(body));
}
