/**
 * The part of Nango's REST API that the service uses: connect sessions, and reading, listing and deleting connections. Strict
 * in what it takes, and careful with who reads credentials, as Nango's own is.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { credentialsFrom, integrations, providerName } from './nango-state.ts';
import type { ConnectSession, KeptConnection, NangoState, Scope, Tags } from './nango-state.ts';
import { announce } from './webhooks.ts';

/** How Nango refuses: one shape, `{error: {code, …}}`. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: { error: Record<string, unknown> };
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    code: string,
    more: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    super(code);
    this.status = status;
    this.body = { error: { code, ...more } };
    this.headers = headers;
  }
}

export type Answer = [status: number, body?: unknown];

interface ApiRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  authorization: string | undefined;
  body: unknown;
}

export async function serveApi(state: NangoState, request: ApiRequest): Promise<Answer> {
  const { method, path, query, body } = request;
  const may = scopesOf(state, request.authorization);
  const need = (scope: Scope) => {
    if (!may(scope)) throw new Refusal(403, 'forbidden', { message: `The key lacks ${scope}` });
  };
  const [, collection, id] = path.split('/');
  const route = `${method} ${collection === 'connections' && id !== undefined ? '/connections/id' : path}`;
  switch (route) {
    case 'POST /connect/sessions':
      need('environment:connect_sessions:write');
      return createSession(state, body);
    case 'POST /connect/sessions/reconnect':
      need('environment:connect_sessions:write');
      return createReconnectSession(state, body);
    case 'GET /connections':
      need('environment:connections:list');
      return listConnections(state, query);
    case 'GET /connections/id':
      need('environment:connections:read');
      return readConnection(state, id ?? '', query, may('environment:connections:read_credentials'));
    case 'DELETE /connections/id':
      need('environment:connections:delete');
      return deleteConnection(state, id ?? '', query);
    default:
      throw new Refusal(404, 'not_found');
  }
}

/** Every key is a UUID; another shape gets another error than an unknown key. */
function scopesOf(state: NangoState, authorization: string | undefined): (scope: Scope) => boolean {
  if (authorization === undefined) throw new Refusal(401, 'missing_auth_header');
  const key = authorization.replace(/^Bearer /, '');
  if (key.length !== 36) throw new Refusal(401, 'invalid_secret_key_format');
  const known = state.keys.get(key);
  if (!known) throw new Refusal(401, 'unknown_account');
  const { scopes } = known;
  // A key that may read credentials may read.
  const implied = (scope: Scope) =>
    scope === 'environment:connections:read' && scopes.includes('environment:connections:read_credentials');
  return (scope) => scopes === 'all' || scopes.includes(scope) || implied(scope);
}

const tagKey = z
  .string()
  .max(64)
  .regex(/^[a-zA-Z][a-zA-Z0-9_\-./]*$/);
const tagsSchema = z
  .record(tagKey, z.string().min(1).max(255))
  .refine((tags) => Object.keys(tags).length <= 10, 'at most 10 tags')
  .refine((tags) => {
    const email = Object.entries(tags).find(([key]) => key.toLowerCase() === 'end_user_email');
    return !email || z.email().safeParse(email[1]).success;
  }, 'end_user_email must be an email address')
  .transform((tags) =>
    Object.fromEntries(Object.entries(tags).map(([key, value]) => [key.toLowerCase(), value])),
  );

const defaults = z.record(
  z.string(),
  z.strictObject({
    authorization_params: z.record(z.string(), z.string()).optional(),
    connection_config: z.looseObject({ oauth_scopes_override: z.string().optional() }).optional(),
  }),
);

const sessionBody = z.strictObject({
  tags: tagsSchema,
  integrations_config_defaults: defaults.optional(),
  allowed_integrations: z.array(z.string()).optional(),
});

const reconnectBody = z.strictObject({
  tags: tagsSchema.optional(),
  integrations_config_defaults: defaults.optional(),
  connection_id: z.string(),
  integration_id: z.string(),
});

function checked<T>(schema: z.ZodType<T>, body: unknown): T {
  const { success, data, error } = schema.safeParse(body);
  if (success) return data;
  const errors = error.issues.map(({ code, message, path }) => ({ code, message, path }));
  throw new Refusal(400, 'invalid_body', { errors });
}

function createSession(state: NangoState, body: unknown): Answer {
  const {
    tags,
    integrations_config_defaults: pinned = {},
    allowed_integrations: allowed = null,
  } = checked(sessionBody, body);
  requireKnown([...(allowed ?? []), ...Object.keys(pinned)]);
  return opened(state, { tags, defaults: pinned, allowed, connection: null });
}

function createReconnectSession(state: NangoState, body: unknown): Answer {
  const wanted = checked(reconnectBody, body);
  const { tags = {}, integrations_config_defaults: pinned = {} } = wanted;
  const connection = state.connections.find(
    (one) => one.connectionId === wanted.connection_id && one.integration === wanted.integration_id,
  );
  if (!connection)
    throw new Refusal(400, 'invalid_body', { message: 'ConnectionID or IntegrationId does not exists' });
  requireKnown(Object.keys(pinned));
  return opened(state, { tags, defaults: pinned, allowed: [wanted.integration_id], connection });
}

function requireKnown(names: string[]): void {
  const errors = names
    .filter((name) => !isIntegration(name))
    .map((name) => ({ code: 'custom', message: 'Integration does not exist', path: [name] }));
  if (errors.length > 0) throw new Refusal(400, 'invalid_body', { errors });
}

function opened(state: NangoState, wanted: Omit<ConnectSession, 'token' | 'expiresAt'>): Answer {
  const session: ConnectSession = {
    token: `nango_connect_session_${randomBytes(32).toString('hex')}`,
    expiresAt: state.now() + state.options.sessionLifeMs,
    ...wanted,
  };
  state.sessions.set(session.token, session);
  const data = {
    token: session.token,
    connect_link: `${state.host}/?session_token=${session.token}`,
    expires_at: iso(session.expiresAt),
  };
  return [201, { data }];
}

/** Valid until it expires, for any number of flows. */
export function sessionOf(state: NangoState, token: string | null): ConnectSession {
  const session = state.sessions.get(token ?? '');
  if (!token?.startsWith('nango_connect_session_'))
    throw new Refusal(401, 'invalid_connect_session_token_format');
  if (!session || session.expiresAt <= state.now()) throw new Refusal(401, 'unknown_connect_session_token');
  return session;
}

export function isIntegration(name: string): boolean {
  return integrations.some((one) => one === name);
}

/** How connections read on the wire. */
function inFull(connection: KeptConnection, credentials: Record<string, unknown> | undefined) {
  const { lastFetchedAt } = connection;
  return {
    ...inShort(connection),
    connection_config: connection.connectionConfig,
    webhook_url_override: null,
    created_at: iso(connection.createdAt),
    updated_at: iso(connection.updatedAt),
    last_fetched_at: lastFetchedAt === null ? null : iso(lastFetchedAt),
    ...(credentials !== undefined && { credentials }),
  };
}

function inShort({ id, connectionId, integration, tags, refusedAt, isExhausted }: KeptConnection) {
  const hasFailed = refusedAt !== null || isExhausted;
  return {
    id,
    connection_id: connectionId,
    provider_config_key: integration,
    provider: providerName,
    tags,
    end_user: null,
    metadata: null,
    errors: hasFailed ? [{ type: 'auth', log_id: `log-${id}` }] : [],
  };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function listConnections(state: NangoState, query: URLSearchParams): Answer {
  const wanted = tagsIn(query);
  const integrationIds = query.get('integrationId')?.split(',');
  const found = state.connections
    .filter((one) => !integrationIds || integrationIds.includes(one.integration))
    .filter(({ tags }) => Object.entries(wanted).every(([key, value]) => tags[key] === value))
    .toSorted((one, other) => other.createdAt - one.createdAt || other.id - one.id)
    .slice(0, Number(query.get('limit') ?? 10_000));
  const connections = found.map((one) => ({ ...inShort(one), created: iso(one.createdAt), credentials: {} }));
  return [200, { connections }];
}

function tagsIn(query: URLSearchParams): Tags {
  const entries = [...query].flatMap(([name, value]) => {
    const key = /^tags\[(.+)\]$/.exec(name)?.[1];
    return key === undefined ? [] : [[key, value] as const];
  });
  const { success, data } = tagsSchema.safeParse(Object.fromEntries(entries));
  if (!success) throw new Refusal(400, 'invalid_query_params', { errors: [{ path: ['tags'] }] });
  return data;
}

async function readConnection(
  state: NangoState,
  connectionId: string,
  query: URLSearchParams,
  mayReadCredentials: boolean,
): Promise<Answer> {
  const connection = find(state, connectionId, query, [404, 'not_found']);
  const isForced = query.get('force_refresh') === 'true';
  if (isForced && !mayReadCredentials) throw new Refusal(403, 'forbidden');
  if (mayReadCredentials) await refresh(state, connection, isForced);
  connection.lastFetchedAt = state.now();
  const { accessToken, refreshToken, expiresAt, raw } = connection.credentials;
  const hasRefreshToken = query.get('refresh_token') === 'true';
  const credentials = {
    type: 'OAUTH2',
    access_token: accessToken,
    ...(expiresAt !== null && { expires_at: iso(expiresAt) }),
    ...(hasRefreshToken && { refresh_token: refreshToken }),
    raw: hasRefreshToken ? raw : { ...raw, refresh_token: undefined },
  };
  return [200, inFull(connection, mayReadCredentials ? credentials : {})];
}

function deleteConnection(state: NangoState, connectionId: string, query: URLSearchParams): Answer {
  const connection = find(state, connectionId, query, [400, 'unknown_connection']);
  state.connections = state.connections.filter((one) => one !== connection);
  return [200, { success: true }];
}

function find(
  state: NangoState,
  connectionId: string,
  query: URLSearchParams,
  [status, code]: [number, string],
): KeptConnection {
  const integration = query.get('provider_config_key') ?? '';
  if (!isIntegration(integration)) throw new Refusal(400, 'unknown_provider_config');
  const connection = state.connections.find(
    (one) => one.connectionId === connectionId && one.integration === integration,
  );
  if (!connection) throw new Refusal(status, code, { message: 'Failed to find connection' });
  return connection;
}

/**
 * Tokens are renewed when they are read. A refused refresh blocks every reader, even while the kept token is still good,
 * and does not show whether the provider refused or was down.
 */
async function refresh(state: NangoState, connection: KeptConnection, isForced: boolean): Promise<void> {
  const { refusedAt, isExhausted, credentials } = connection;
  const isCooling = refusedAt !== null && state.now() - refusedAt < coolDownMs;
  if (isExhausted || (isCooling && !isForced))
    throw new Refusal(424, 'invalid_credentials', { message: 'The refresh limit has been reached' });
  const { expiresAt, refreshToken } = credentials;
  const endsSoon = expiresAt !== null && expiresAt - state.now() < state.options.refreshWithinMs;
  if ((!endsSoon && !isForced) || refreshToken === undefined) return;
  // All readers wait for the same renewal.
  const running = state.refreshing.get(connection) ?? renew(state, connection, refreshToken);
  state.refreshing.set(connection, running);
  await running.finally(() => state.refreshing.delete(connection));
}

/** For how long reading is refused after a refused refresh. */
const coolDownMs = 30_000;

async function renew(state: NangoState, connection: KeptConnection, refreshToken: string): Promise<void> {
  const renewed = await tokensFor(state, { grant_type: 'refresh_token', refresh_token: refreshToken });
  if (renewed) {
    connection.credentials = credentialsFrom(state, { ...connection.credentials.raw, ...renewed });
    connection.updatedAt = state.now();
    connection.refusedAt = null;
    return;
  }
  connection.refusedAt = state.now();
  if (state.settings.onAuthRefreshError)
    announce(state, connection, 'refresh', {
      type: 'refresh_token_external_error',
      description: 'The refresh was refused',
    });
  throw new Refusal(400, 'invalid_credentials', {
    message: `Failed to refresh the credentials of ${connection.connectionId}`,
    payload: { connection: inFull(connection, undefined) },
  });
}

/** From the provider's token endpoint; null when it gives none. */
export async function tokensFor(
  { provider }: NangoState,
  grant: Record<string, string>,
): Promise<Record<string, unknown> | null> {
  const { origin, clientId, clientSecret } = provider;
  const response = await fetch(`${origin}/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...grant, client_id: clientId, client_secret: clientSecret }),
  });
  const body = (await response.json()) as Record<string, unknown>;
  return response.ok ? body : null;
}
