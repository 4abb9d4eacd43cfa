/**
 * Tokens are renewed when they are read. A refused refresh blocks every reader, even while the kept token is still good,
 * and does not show whether the provider refused or was down.
 */
import { inFull } from './connection-shapes.ts';
import { credentialsFrom } from './nango-state.ts';
import type { NangoState } from './nango-state.ts';
import { Refusal } from './refusal.ts';
import { announce } from './webhooks.ts';
import type { KeptConnection } from './types.ts';

export async function refresh(
  state: NangoState,
  connection: KeptConnection,
  isForced: boolean,
): Promise<void> {
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
