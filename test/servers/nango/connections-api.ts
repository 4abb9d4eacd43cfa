/** Reading and ending connections. Credentials leave only for keys that may read them. */
import { credentialsFrom, keep, providerName } from './nango-state.ts';
import type { NangoState } from './nango-state.ts';
import { Refusal } from './refusal.ts';
import { checked, importBody, isIntegration, patchBody, tagsSchema } from './sessions.ts';
import type { Answer } from './sessions.ts';
import type { KeptConnection, Tags } from './types.ts';
import { announce } from './webhooks.ts';

/** How connections read on the wire. */
function inFull(connection: KeptConnection, credentials: Record<string, unknown> | undefined) {
  const { lastFetchedAt } = connection;
  return {
    ...inShort(connection),
    connection_config: connection.connectionConfig,
    webhook_url_override: connection.webhookUrlOverride,
    created_at: iso(connection.createdAt),
    updated_at: iso(connection.updatedAt),
    last_fetched_at: lastFetchedAt === null ? null : iso(lastFetchedAt),
    ...(credentials !== undefined && { credentials }),
  };
}

function inShort({ id, connectionId, integration, tags, metadata, refusedAt, isExhausted }: KeptConnection) {
  const hasFailed = refusedAt !== null || isExhausted;
  return {
    id,
    connection_id: connectionId,
    provider_config_key: integration,
    provider: providerName,
    tags,
    end_user: null,
    metadata,
    errors: hasFailed ? [{ type: 'auth', log_id: `log-${id}` }] : [],
  };
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

/** `POST /connections`: an account that was connected somewhere else. Is announced like any other. */
export function importConnection(state: NangoState, body: unknown): Answer {
  const wanted = checked(importBody, body);
  if (!isIntegration(wanted.provider_config_key)) throw new Refusal(400, 'unknown_provider_config');
  const { access_token, refresh_token, expires_at: expires } = wanted.credentials;
  const connection = keep(state, {
    integration: wanted.provider_config_key,
    tags: wanted.tags ?? {},
    webhookUrlOverride: wanted.webhook_url_override ?? null,
    connectionConfig: wanted.connection_config ?? {},
    ...(wanted.connection_id !== undefined && { connectionId: wanted.connection_id }),
    credentials: {
      ...credentialsFrom(state, { access_token, refresh_token }),
      expiresAt: expires?.getTime() ?? null,
    },
  });
  connection.metadata = wanted.metadata ?? null;
  announce(state, connection, 'creation');
  return [201, inFull(connection, { type: 'OAUTH2', access_token, raw: {} })];
}

/**
 * Tokens are renewed when they are read. A refused refresh blocks every reader, even while the kept token is still good,
 * and does not show whether the provider refused or was down.
 */
async function refresh(state: NangoState, connection: KeptConnection, isForced: boolean): Promise<void> {
  const { refusedAt, isExhausted, credentials } = connection;
  const isCooling = refusedAt !== null && state.now() - refusedAt < state.options.coolDownMs;
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

async function renew(state: NangoState, connection: KeptConnection, refreshToken: string): Promise<void> {
  const { provider } = state;
  const response = await fetch(`${provider.origin}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: provider.clientId,
      client_secret: provider.clientSecret,
    }),
  });
  const raw = (await response.json()) as Record<string, unknown>;
  if (response.ok) {
    const kept = connection.credentials;
    connection.credentials = credentialsFrom(state, { ...kept.raw, ...raw });
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
  const { connectionId } = connection;
  throw new Refusal(400, 'invalid_credentials', {
    message: `Failed to refresh the credentials of ${connectionId}`,
    payload: { connection: inFull(connection, undefined) },
  });
}

export function listConnections(state: NangoState, query: URLSearchParams): Answer {
  const wanted = tagsIn(query);
  const connectionId = query.get('connectionId');
  const integrationIds = query.get('integrationId')?.split(',');
  const limit = Number(query.get('limit') ?? 10_000);
  const from = Number(query.get('page') ?? 0) * limit;
  const found = state.connections
    .filter((one) => connectionId === null || one.connectionId === connectionId)
    .filter((one) => !integrationIds || integrationIds.includes(one.integration))
    .filter(({ tags }) => Object.entries(wanted).every(([key, value]) => tags[key] === value))
    // No connection here has an end user: that is for connections of the older kind.
    .filter(() => query.get('endUserId') === null)
    .toSorted((one, other) => other.createdAt - one.createdAt || other.id - one.id)
    .slice(from, from + limit);
  return [
    200,
    { connections: found.map((one) => ({ ...inShort(one), created: iso(one.createdAt), credentials: {} })) },
  ];
}

export async function readConnection(
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
  const credentials = {
    type: 'OAUTH2',
    access_token: accessToken,
    ...(expiresAt !== null && { expires_at: iso(expiresAt) }),
    ...(query.get('refresh_token') === 'true' && { refresh_token: refreshToken }),
    raw: query.get('refresh_token') === 'true' ? raw : { ...raw, refresh_token: undefined },
  };
  return [200, inFull(connection, mayReadCredentials ? credentials : {})];
}

export function patchConnection(
  state: NangoState,
  connectionId: string,
  query: URLSearchParams,
  body: unknown,
): Answer {
  const connection = find(state, connectionId, query, [404, 'not_found']);
  const { tags, webhook_url_override: override } = checked(patchBody, body);
  // The whole map, not this and that in it.
  if (tags !== undefined) connection.tags = tags;
  if (override !== undefined) connection.webhookUrlOverride = override;
  return [200, { success: true }];
}

export function deleteConnection(state: NangoState, connectionId: string, query: URLSearchParams): Answer {
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

function tagsIn(query: URLSearchParams): Tags {
  const entries = [...query].flatMap(([name, value]) => {
    const key = /^tags\[(.+)\]$/.exec(name)?.[1];
    return key === undefined ? [] : [[key, value] as const];
  });
  const { success, data } = tagsSchema.safeParse(Object.fromEntries(entries));
  if (!success) throw new Refusal(400, 'invalid_query_params', { errors: [{ path: ['tags'] }] });
  return data;
}
