/** How connections read on the wire. */
import { providerName } from './nango-state.ts';
import type { KeptConnection } from './types.ts';

export function inFull(connection: KeptConnection, credentials: Record<string, unknown> | undefined) {
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

export function inShort({
  id,
  connectionId,
  integration,
  tags,
  metadata,
  refusedAt,
  isExhausted,
}: KeptConnection) {
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

export function iso(time: number): string {
  return new Date(time).toISOString();
}
