/** Connect sessions: what a browser is given so that it may connect one account. */
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import { integrations } from './nango-state.ts';
import type { ConnectSession, NangoState } from './nango-state.ts';
import { Refusal } from './refusal.ts';
import { checked, reconnectBody, sessionBody, tagsOf } from './session-bodies.ts';

export type Answer = [status: number, body?: unknown];

export function createSession(state: NangoState, body: unknown): Answer {
  const wanted = checked(sessionBody, body);
  const errors = (wanted.allowed_integrations ?? []).flatMap((name, index) =>
    isIntegration(name) ? [] : [unknown(['allowed_integrations', index])],
  );
  errors.push(...unknownIn('integrations_config_defaults', wanted.integrations_config_defaults));
  if (errors.length > 0) throw new Refusal(400, 'invalid_body', { errors });
  return opened(state, wanted, { allowed: wanted.allowed_integrations ?? null, connection: null });
}

export function createReconnectSession(state: NangoState, body: unknown): Answer {
  const wanted = checked(reconnectBody, body);
  const connection = state.connections.find(
    (one) => one.connectionId === wanted.connection_id && one.integration === wanted.integration_id,
  );
  if (!connection)
    throw new Refusal(400, 'invalid_body', { message: 'ConnectionID or IntegrationId does not exists' });
  const errors = unknownIn('integrations_config_defaults', wanted.integrations_config_defaults);
  if (errors.length > 0) throw new Refusal(400, 'invalid_body', { errors });
  return opened(state, wanted, { allowed: [wanted.integration_id], connection });
}

export function deleteSession(state: NangoState, authorization: string | undefined): Answer {
  const session = sessionOf(state, authorization?.replace(/^Bearer /, ''));
  state.sessions.delete(session.token);
  // A flow that has begun goes on, and its connection has no owner.
  for (const flow of state.flows.values()) if (flow.session === session) flow.session = null;
  return [204];
}

/** Valid until it expires, for any number of flows. */
export function sessionOf(state: NangoState, token: string | null | undefined): ConnectSession {
  const session = state.sessions.get(token ?? '');
  if (!token?.startsWith('nango_connect_session_'))
    throw new Refusal(401, 'invalid_connect_session_token_format');
  if (!session || session.expiresAt <= state.now()) throw new Refusal(401, 'unknown_connect_session_token');
  return session;
}

type Wanted = Omit<z.infer<typeof sessionBody>, 'allowed_integrations'>;

function opened(
  state: NangoState,
  wanted: Wanted,
  more: Pick<ConnectSession, 'allowed' | 'connection'>,
): Answer {
  const session: ConnectSession = {
    token: `nango_connect_session_${randomBytes(32).toString('hex')}`,
    expiresAt: state.now() + state.options.sessionLifeMs,
    tags: tagsOf(wanted),
    webhookUrlOverride: wanted.webhook_url_override ?? null,
    defaults: wanted.integrations_config_defaults ?? {},
    ...more,
  };
  state.sessions.set(session.token, session);
  const data = {
    token: session.token,
    connect_link: `${state.host}/?session_token=${session.token}`,
    expires_at: new Date(session.expiresAt).toISOString(),
  };
  return [201, { data }];
}

export function isIntegration(name: string): boolean {
  return integrations.some((one) => one === name);
}

function unknownIn(member: string, entries: object = {}) {
  return Object.keys(entries).flatMap((name) => (isIntegration(name) ? [] : [unknown([member, name])]));
}

function unknown(path: (string | number)[]) {
  return { code: 'custom', message: 'Integration does not exist', path };
}
