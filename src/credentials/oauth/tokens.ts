/**
 * OAuth tokens: the credential made of an access token, the identity in an ID token, and the answers of token endpoints.
 */
import { decodeJwt } from 'jose';
import type { FetchLike } from '@modelcontextprotocol/client';
import { tokenIdOf } from '../credential-store.ts';
import type { Credential } from '../credential-store.ts';
import { readOAuthDocument, readObject } from '@interlude-ai/core/oauth/documents.ts';

export function bearerCredential(accessToken: string, version: number): Credential {
  return {
    kind: 'credential',
    headers: { authorization: `Bearer ${accessToken}` },
    version,
    tokenId: tokenIdOf(accessToken),
  };
}

/**
 * When to renew a token: a minute before it expires, or after two thirds of a very short life. A whole number, for the
 * database.
 */
export function renewAt({ from, expiresAt }: { from: number; expiresAt: number }): number {
  return Math.floor(expiresAt - Math.min(60_000, Math.max(0, expiresAt - from) / 3));
}

/** The name to show; null when the token contains none. */
export function accountName(idToken: string | undefined): string | null {
  const claims = claimsOf(idToken);
  const name = [claims['email'], claims['preferred_username'], claims['name']].find(
    (claim) => typeof claim === 'string',
  );
  return typeof name === 'string' && /^[^\p{C}]{1,200}$/u.test(name) ? name : null;
}

export function subjectOf(idToken: string | undefined): { subject?: string } {
  const { sub } = claimsOf(idToken);
  return typeof sub === 'string' ? { subject: sub } : {};
}

/** Not verified: the token comes straight from the token endpoint, and authorises nothing. */
function claimsOf(idToken: string | undefined): Record<string, unknown> {
  if (idToken === undefined) return {};
  try {
    return decodeJwt(idToken);
  } catch {
    return {};
  }
}

interface TokenResponse {
  status: number;
  contentType: string | null;
  retryAfter: string | null;
  body: string;
}

/** `code`: the provider's error code, in lower case; null when there is none. */
export type Failed =
  /** The grant is not valid any more, or is not enough. */
  | { kind: 'refused'; status: number; code: string | null }
  /** The client is not accepted, for any user. */
  | { kind: 'client-refused'; status: number; code: string }
  /** Temporary. `retryAfterMs`: how long the provider asked us to wait. */
  | { kind: 'outage'; status: number; code: string | null; retryAfterMs: number | null }
  /** Neither tokens nor an error. */
  | { kind: 'unreadable'; status: number; contentType: string };

type TokenAnswer = { kind: 'tokens'; document: Document } | Failed;

type Document = Record<string, unknown>;

export class TokenEndpointError extends Error {
  override name = 'TokenEndpointError';
  readonly answer: Failed;
  constructor(answer: Failed) {
    super(`The token endpoint answered HTTP ${answer.status}: ${answer.kind}`);
    this.answer = answer;
  }
}

/** For the MCP SDK, which misreads most of these answers: passes on tokens as JSON, or throws a `TokenEndpointError`. */
export function readingTokens(send: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await send(url, init);
    const { status, headers } = response;
    const answer = readTokenAnswer({
      status,
      contentType: headers.get('content-type'),
      retryAfter: headers.get('retry-after'),
      body: await response.text(),
    });
    if (answer.kind !== 'tokens') throw new TokenEndpointError(answer);
    return Response.json(readOAuthDocument(answer.document));
  };
}

const outageCodes = new Set([
  'temporarily_unavailable',
  'slow_down',
  'server_error',
  // Non-standard codes.
  'fatal_error',
  'internal_error',
  'internal_server_error',
  'rate_limit_exceeded',
  'rate_limited',
  'ratelimited',
  'request_timeout',
  'service_unavailable',
  'timeout',
  'too_many_requests',
  'unavailable',
]);

const clientCodes = new Set([
  'invalid_client',
  'unauthorized_client',
  'bad_client_id',
  'bad_client_secret',
  'incorrect_client_credentials',
  'invalid_client_credentials',
  'invalid_client_id',
  'invalid_client_secret',
]);

/**
 * Whether the answer to a code that was never issued certainly means that id or secret of the client are wrong. With 401, Keycloak
 * sends `unauthorized_client` and Auth0 `access_denied` for a wrong secret; Gitea sends `unauthorized_client` with 400 for the code.
 */
export function refusesClient({ status, code }: { status: number; code: string | null }): boolean {
  if (code === 'unauthorized_client' || code === 'access_denied') return status === 401;
  return code !== null && clientCodes.has(code);
}

/** Some providers send `unauthorized_client` for an invalid grant. */
const aboutGrant =
  /(invalid|expired|revoked|unknown) refresh.?token|refresh.?token (is |was |has )?(been )?(invalid|expired|revoked|unknown|not found)/i;

/**
 * RFC 6749 has one way to refuse: 400 or 401 with an error as JSON. Providers also refuse with 200, with a page, with a form, or
 * with codes of their own.
 */
export function readTokenAnswer(answer: TokenResponse): TokenAnswer {
  const { status, contentType } = answer;
  const isSuccess = status >= 200 && status < 300;
  const document = readDocument(answer);
  const code = document && codeIn(document, isSuccess);
  if (isSuccess && !code) {
    return document && typeof document['access_token'] === 'string'
      ? { kind: 'tokens', document }
      : { kind: 'unreadable', status, contentType: mediaType(contentType) };
  }
  const isTrouble = status >= 500 || status === 408 || status === 429;
  // This code means that the provider has checked the grant, despite the status.
  const isRefusedAllTheSame = status >= 500 && code === 'invalid_grant';
  if ((isTrouble && !isRefusedAllTheSame) || (code && outageCodes.has(code)))
    return { kind: 'outage', status, code: code ?? null, retryAfterMs: waitOf(answer.retryAfter) };
  if (code && clientCodes.has(code) && !(code === 'unauthorized_client' && isAboutGrant(document)))
    return { kind: 'client-refused', status, code };
  return { kind: 'refused', status, code: code ?? null };
}

function readDocument({ body, contentType }: TokenResponse): Document | undefined {
  const document = readObject(body);
  if (document) return document;
  const isForm = mediaType(contentType) === 'application/x-www-form-urlencoded' || /^\w+=[^\s<]*$/.test(body);
  return isForm ? Object.fromEntries(new URLSearchParams(body)) : undefined;
}

/** Other members that contain the code of an error answer. */
const otherMembers = ['errorCode', 'error_code', 'code', 'status'];

function codeIn(document: Document, isSuccess: boolean): string | undefined {
  const { error } = document;
  const inside = typeof error === 'object' && error !== null ? (error as Document) : {};
  const others = isSuccess ? [] : otherMembers.map((name) => document[name]);
  const found = [error, inside['code'], inside['type'], inside['status'], ...others].find(
    (value): value is string => typeof value === 'string' && value !== '',
  );
  if (found !== undefined) return found.toLowerCase();
  // An `error` of another type still is an error.
  return isSuccess && (Object.keys(inside).length > 0 || error === true) ? 'error' : undefined;
}

function isAboutGrant(document: Document | undefined): boolean {
  const said = document?.['error_description'] ?? document?.['message'];
  return typeof said === 'string' && aboutGrant.test(said);
}

function mediaType(contentType: string | null): string {
  return /^[\w.+-]+\/[\w.+-]+/.exec(contentType ?? '')?.[0].toLowerCase() ?? 'no content type';
}

/** The form with a date is not used here. */
function waitOf(retryAfter: string | null): number | null {
  return /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1_000 : null;
}
