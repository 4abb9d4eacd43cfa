/**
 * OAuth documents as servers really send them: metadata of resources and authorization servers, registrations, tokens and
 * errors. Reads the members that we use; null, an empty text or a value of another type counts as absent. Libraries refuse a
 * whole document because of one member that they do not use, so they get what was read here.
 *
 * Nothing is verified here: issuer, resource and PKCE method are checked where they are used.
 */
import type { CustomFetchOptions } from 'openid-client';

type Document = Record<string, unknown>;
type Reader = (value: unknown) => unknown;

/** A member has the same meaning in every document. */
const readers: Record<string, Reader> = {
  // Protected resource metadata (RFC 9728).
  resource: text,
  authorization_servers: addresses,
  // Authorization server metadata (RFC 8414, OpenID Connect Discovery).
  issuer: text,
  authorization_endpoint: address,
  token_endpoint: address,
  registration_endpoint: address,
  revocation_endpoint: address,
  response_types_supported: list,
  scopes_supported: words,
  token_endpoint_auth_methods_supported: words,
  revocation_endpoint_auth_methods_supported: words,
  code_challenge_methods_supported: words,
  client_id_metadata_document_supported: yesOrNo,
  authorization_response_iss_parameter_supported: yesOrNo,
  require_pushed_authorization_requests: yesOrNo,
  // Registrations (RFC 7591).
  client_id: (value) => (typeof value === 'number' ? String(value) : text(value)),
  client_secret: text,
  client_secret_expires_at: wholeNumber,
  token_endpoint_auth_method: text,
  // Tokens and errors (RFC 6749).
  access_token: text,
  token_type: text,
  expires_in: wholeNumber,
  refresh_token: text,
  id_token: text,
  scope: scopes,
  /** Some providers send an object, or a flag. */
  error: (value) => value ?? undefined,
  error_description: text,
};

/** Each document has one of these, except errors. */
const documentMembers = ['access_token', 'client_id', 'issuer', 'resource', 'authorization_endpoint'];

/** For the MCP SDK: only the members above. Errors and other documents keep all members. */
export function readOAuthDocument(document: Document): Document {
  const read = readMembers(document, Object.keys(readers));
  const isKnown = documentMembers.some((name) => name in read) && !('error' in read);
  if (!isKnown) return withoutOddities(document);
  if ('authorization_endpoint' in read || 'token_endpoint' in read) return withMetadataDefaults(read);
  if ('access_token' in read) return { token_type: 'Bearer', ...read };
  // The SDK requires the addresses that it has just sent.
  return 'client_id' in read ? { redirect_uris: [], ...read } : read;
}

/** For `openid-client`, which reads more members: the members above, and all others that are not null. */
export function withoutOddities(document: Document): Document {
  const others = Object.entries(document).filter(([name, value]) => value !== null && !(name in readers));
  const read = { ...Object.fromEntries(others), ...readMembers(document, Object.keys(readers)) };
  return 'access_token' in read ? { token_type: 'Bearer', ...read } : read;
}

/** Returns other bodies than JSON objects unchanged. */
export function rewriteJson(body: string, rewrite: (document: Document) => Document): string {
  const document = readObject(body);
  return document === undefined ? body : JSON.stringify(rewrite(document));
}

/** Rewrites the responses of `send`, for every status and content type. */
export function rewriting<Request extends unknown[]>(
  rewrite: (document: Document) => Document,
  send: (...request: Request) => Promise<Response>,
): (...request: Request) => Promise<Response> {
  return async (...request) => {
    const response = await send(...request);
    const body = rewriteJson(await response.text(), rewrite);
    const headers = new Headers(response.headers);
    // The body is already decoded.
    headers.delete('content-encoding');
    headers.delete('content-length');
    return new Response(body === '' ? null : body, { status: response.status, headers });
  };
}

/** For `openid-client`, which refuses a whole response because of one member that is null. */
export const readableFetch = rewriting(withoutOddities, (url: string, options: CustomFetchOptions) =>
  fetch(url, options as RequestInit),
);

/** Undefined if the body is no JSON object. */
export function readObject(body: string): Document | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Document)
      : undefined;
  } catch {
    return undefined;
  }
}

function readMembers(document: Document, names: string[]): Document {
  const read = names.map((name) => [name, readers[name]?.(document[name])] as const);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

/** Adds members that the SDK requires. It uses the response type; it never uses keys, subject types and algorithms. */
function withMetadataDefaults(read: Document): Document {
  return {
    response_types_supported: ['code'],
    jwks_uri: read['token_endpoint'],
    subject_types_supported: [],
    id_token_signing_alg_values_supported: [],
    ...read,
  };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function address(value: unknown): string | undefined {
  return typeof value === 'string' && /^https?:/.test(value) && URL.canParse(value) ? value : undefined;
}

/** One text, or a list, without empty texts and other values. */
function list(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value === '' ? undefined : [value];
  return Array.isArray(value) ? value.filter((item) => text(item) !== undefined) : undefined;
}

function addresses(value: unknown): string[] | undefined {
  return list(value)?.filter((item) => address(item) !== undefined);
}

/** Some servers write several words into one text. */
function words(value: unknown): string[] | undefined {
  return list(value)?.flatMap((item) => item.split(/\s+/).filter(Boolean));
}

/** RFC 6749 separates scopes by spaces; some servers send commas or a list. An empty text means no scopes. */
function scopes(value: unknown): string | undefined {
  const given = Array.isArray(value) ? list(value)?.join(' ') : value;
  return typeof given === 'string'
    ? given
        .split(/[\s,]+/)
        .filter(Boolean)
        .join(' ')
    : undefined;
}

function yesOrNo(value: unknown): boolean | undefined {
  if (value === 'true') return true;
  return typeof value === 'boolean' ? value : undefined;
}

/** Our rows store whole numbers only. */
function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? Math.floor(number) : undefined;
}
