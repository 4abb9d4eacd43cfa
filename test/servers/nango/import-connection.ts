import { inFull } from './connection-shapes.ts';
import { credentialsFrom, keep } from './nango-state.ts';
import type { NangoState } from './nango-state.ts';
import { Refusal } from './refusal.ts';
import { checked, importBody } from './session-bodies.ts';
import { isIntegration } from './sessions.ts';
import type { Answer } from './sessions.ts';
import { announce } from './webhooks.ts';

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
