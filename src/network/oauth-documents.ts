/**
 * OAuth documents as servers really send them: metadata of resources and authorization servers, registrations, tokens, errors.
 * The members that are used here are read; null, an empty text or a value of another type counts as absent. Libraries
 * refuse a whole document for one member that they do not use, so they are handed what was read here.
 *
 * Nothing is decided here: whether an issuer, a resource or a PKCE method is the right one is checked where it is used.
 */
type Document = Record<string, unknown>;
type Reader = (value: unknown) => unknown;

/** A member means the same in every document. */
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

/** Each document has one of them, except what providers write of errors. */
const documentMembers = ['access_token', 'client_id', 'issuer', 'resource', 'authorization_endpoint'];

/** For the MCP SDK: nothing but the members above. Of errors and of other documents, all that they say. */
export function readOAuthDocument(document: Document): Document {
  const read = readMembers(document, Object.keys(readers));
  const isKnown = documentMembers.some((name) => name in read) && !('error' in read);
  if (!isKnown) return withoutOddities(document);
  if ('authorization_endpoint' in read || 'token_endpoint' in read) return withMetadataDefaults(read);
  if ('access_token' in read) return { token_type: 'Bearer', ...read };
  // The SDK insists on the addresses that it has just sent.
  return 'client_id' in read ? { redirect_uris: [], ...read } : read;
}

/** For `openid-client`, which reads more than the members above: all others, without those that are null. */
export function withoutOddities(document: Document): Document {
  const others = Object.entries(document).filter(([name, value]) => value !== null && !(name in readers));
  const read = { ...Object.fromEntries(others), ...readMembers(document, Object.keys(readers)) };
  return 'access_token' in read ? { token_type: 'Bearer', ...read } : read;
}

/** The same text unless it is a JSON object. */
export function rewriteJson(body: string, rewrite: (document: Document) => Document): string {
  const document = readObject(body);
  return document === undefined ? body : JSON.stringify(rewrite(document));
}

/** Rewrites what `send` gets, whatever its status and content type. */
export function rewriting<Request extends unknown[]>(
  rewrite: (document: Document) => Document,
  send: (...request: Request) => Promise<Response>,
): (...request: Request) => Promise<Response> {
  return async (...request) => {
    const response = await send(...request);
    const body = rewriteJson(await response.text(), rewrite);
    const headers = new Headers(response.headers);
    // The body is decoded by now.
    headers.delete('content-encoding');
    headers.delete('content-length');
    return new Response(body === '' ? null : body, { status: response.status, headers });
  };
}

/** Undefined for what is no JSON, and for JSON that is no object. */
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

/** Members that the SDK insists on. Code and PKCE are what it goes on with; keys and the like it never uses. */
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

/** One text, or a list of which some may be none. */
function list(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value === '' ? undefined : [value];
  return Array.isArray(value) ? value.filter((item) => text(item) !== undefined) : undefined;
}

function addresses(value: unknown): string[] | undefined {
  return list(value)?.filter((item) => address(item) !== undefined);
}

/** Words have no spaces in them: some servers write several into one text. */
function words(value: unknown): string[] | undefined {
  return list(value)?.flatMap((item) => item.split(/\s+/).filter(Boolean));
}

/** RFC 6749 has spaces between scopes; some servers send commas or a list. The empty text means that there are none. */
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

/** Rows hold whole numbers only. */
function wholeNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? Math.floor(number) : undefined;
}
