/** The browser's way from the page that holds a session token to the provider (`/oauth/connect/…`) and back (`/oauth/callback`). */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { credentialsFrom, keep, override } from './nango-state.ts';
import type { Defaults, Flow, NangoState } from './nango-state.ts';
import { isIntegration, Refusal, sessionOf, tokensFor } from './rest-api.ts';
import { announce } from './webhooks.ts';

export interface Shown {
  status: number;
  headers: Record<string, string>;
  html: string;
}

const ownScopes = ['issues:read', 'issues:write'];

export const callbackUrl = ({ settings, host }: Pick<NangoState, 'settings' | 'host'>) =>
  settings.callbackUrl ?? `${host}/oauth/callback`;

/**
 * In the measured order: the state is used up, the code exchanged, the connection kept, the webhook sent without waiting;
 * then the page gets its WebSocket message, and last the popup its 200.
 */
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
  const raw = await tokensFor(state, {
    grant_type: 'authorization_code',
    code,
    code_verifier: flow.codeVerifier,
    redirect_uri: callbackUrl(state),
  });
  if (raw === null) return failed(state, flow, 'unknown_err', 'The provider gave no token');

  const { integration, connectionConfig, session } = flow;
  const made = { tags: { ...session.tags }, connectionConfig, credentials: credentialsFrom(state, raw) };
  const existing = state.connections.find((one) => one === session.connection);
  if (existing) override(state, existing, made);
  const connection = existing ?? keep(state, integration, made);
  announce(state, connection, existing ? 'override' : 'creation');
  if (!state.settings.dropSuccessFrame)
    state.sockets.send(flow.socketId, {
      message_type: 'success',
      provider_config_key: integration,
      connection_id: connection.connectionId,
      is_pending: false,
    });
  return page(200, 'Connected', 'You can close this window.', 'window.setTimeout(() => window.close(), 500)');
}

/** The page and the webhook report a failed connection, which has no owner. */
function failed(
  state: NangoState,
  about: Pick<Flow, 'integration' | 'socketId'>,
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

export function authorize(state: NangoState, integration: string, query: URLSearchParams): Shown {
  const session = sessionOf(state, query.get('connect_session_token'));
  if (query.has('connection_id'))
    throw new Refusal(400, 'invalid_query_params', { message: 'A session token leaves no choice of id' });
  const socketId = query.get('ws_client_id');
  const isAllowed = isIntegration(integration) && (session.allowed?.includes(integration) ?? true);
  if (!isAllowed) {
    const why = 'The integration is not allowed by this session';
    return failed(state, { integration, socketId }, 'integration_not_allowed', why);
  }
  const pinned = session.defaults[integration] ?? {};
  const flow: Flow = {
    state: randomUUID(),
    session,
    integration,
    codeVerifier: randomBytes(32).toString('base64url'),
    // What the server pinned wins over what the browser sent.
    connectionConfig: { ...bracketed(query, 'params'), ...pinned.connection_config },
    socketId,
  };
  state.flows.set(flow.state, flow);
  const secure = 'Path=/; HttpOnly; SameSite=Lax; Max-Age=1800';
  return {
    status: 302,
    headers: {
      location: providerUrl(state, flow, query, pinned),
      'set-cookie': `oauth2-${flow.state}=1; ${secure}`,
    },
    html: '',
  };
}

function providerUrl(nango: NangoState, flow: Flow, query: URLSearchParams, pinned: Defaults): string {
  const override = flow.connectionConfig['oauth_scopes_override'];
  const scopes = typeof override === 'string' && override !== '' ? override.split(',') : ownScopes;
  const url = new URL('/authorize', nango.provider.origin);
  const params = {
    response_type: 'code',
    client_id: nango.provider.clientId,
    redirect_uri: callbackUrl(nango),
    scope: scopes.map((scope) => scope.trim()).join(' '),
    state: flow.state,
    code_challenge: createHash('sha256').update(flow.codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...bracketed(query, 'authorization_params'),
    ...pinned.authorization_params,
  };
  for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
  return url.href;
}

/** `params[name]=value` */
function bracketed(query: URLSearchParams, member: string): Record<string, string> {
  return Object.fromEntries(
    [...query].flatMap(([name, value]) =>
      name.startsWith(`${member}[`) && name.endsWith(']') ? [[name.slice(member.length + 1, -1), value]] : [],
    ),
  );
}
