/** Reading and ending connections. Credentials leave only for keys that may read them. */
import { inFull, inShort, iso } from './connection-shapes.ts';
import type { NangoState } from './nango-state.ts';
import { isIntegration } from './sessions.ts';
import type { Answer } from './sessions.ts';
import { Refusal } from './refusal.ts';
import { refresh } from './refresh.ts';
import { checked, patchBody, tagsSchema } from './session-bodies.ts';
import type { KeptConnection, Tags } from './types.ts';

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
