/**
 * `/oauth/callback`, in the measured order: the state is used up, the code exchanged, the connection kept, the webhook sent
 * without waiting; then the page gets its WebSocket message, and last the popup its 200.
 */
import { randomUUID } from 'node:crypto';
import { credentialsFrom, keep, override } from './nango-state.ts';
import type { Flow, NangoState } from './nango-state.ts';
import { announce } from './webhooks.ts';

export interface Shown {
  status: number;
  headers: Record<string, string>;
  html: string;
}

export async function callback(state: NangoState, query: URLSearchParams, cookies: string): Promise<Shown> {
  const flow = state.flows.get(query.get('state') ?? '');
  if (!flow) return page(400, 'This cannot be completed', 'The state is not known, or was used already.');
  state.flows.delete(flow.state);
  // Without the flag it is not looked at: then another browser than the one it began in may complete it.
  if (state.settings.enforceStateCookie && !cookies.includes(`oauth2-${flow.state}=`))
    return failed(state, flow, 'state_cookie_err', 'The browser is not the one that began this');
  const code = query.get('code');
  if (code === null) {
    const description = query.get('error_description') ?? query.get('error') ?? 'No code came back';
    return failed(state, flow, 'callback_err', description);
  }
  const raw = await exchange(state, flow, code);
  if (raw === null) return failed(state, flow, 'unknown_err', 'The provider gave no token');

  const connectionId = record(state, flow, raw);
  if (!state.settings.dropSuccessFrame)
    state.sockets.send(flow.socketId, {
      message_type: 'success',
      provider_config_key: flow.integration,
      connection_id: connectionId,
      is_pending: false,
    });
  return page(200, 'Connected', 'You can close this window.', 'window.setTimeout(() => window.close(), 500)');
}

function record(state: NangoState, flow: Flow, raw: Record<string, unknown>): string {
  const { integration, connectionConfig, webhookUrlOverride, session } = flow;
  const credentials = credentialsFrom(state, raw);
  // A session that was deleted meanwhile has left no tags behind.
  const made = { tags: { ...session?.tags }, webhookUrlOverride, connectionConfig, credentials };
  const existing = state.connections.find((one) => one === flow.connection);
  if (existing) override(state, existing, made);
  const connection = existing ?? keep(state, { integration, ...made });
  announce(state, connection, existing ? 'override' : 'creation');
  return connection.connectionId;
}

async function exchange(
  { provider, host, settings }: NangoState,
  { codeVerifier }: Flow,
  code: string,
): Promise<Record<string, unknown> | null> {
  const response = await fetch(`${provider.origin}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      code_verifier: codeVerifier,
      redirect_uri: settings.callbackUrl ?? `${host}/oauth/callback`,
      client_id: provider.clientId,
      client_secret: provider.clientSecret,
    }),
  });
  const body = (await response.json()) as Record<string, unknown>;
  return response.ok ? body : null;
}

/** The page and the webhook report a failed connection, which has no owner. */
export function failed(
  state: NangoState,
  about: Pick<Flow, 'integration' | 'webhookUrlOverride' | 'socketId'>,
  type: string,
  description: string,
): Shown {
  announce(state, { ...about, connectionId: randomUUID() }, 'creation', { type, description });
  state.sockets.send(about.socketId, {
    message_type: 'error',
    provider_config_key: about.integration,
    error_type: type,
    error_desc: description,
  });
  return page(type === 'integration_not_allowed' ? 400 : 200, 'Not connected', description);
}

function page(status: number, title: string, text: string, script = ''): Shown {
  const safe = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return {
    status,
    headers: {},
    html: `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><main><h1>${title}</h1><p>${safe}</p></main><script>${script}</script></html>`,
  };
}
