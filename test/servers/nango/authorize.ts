/** `/oauth/connect/{integration}`: from the page that holds a session token to the provider. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { failed } from './callback.ts';
import type { Shown } from './callback.ts';
import { ownScopes } from './nango-state.ts';
import type { Defaults, Flow, NangoState } from './nango-state.ts';
import { Refusal } from './refusal.ts';
import { isIntegration, sessionOf } from './sessions.ts';

export function authorize(state: NangoState, integration: string, query: URLSearchParams): Shown {
  const session = sessionOf(state, query.get('connect_session_token'));
  if (query.has('connection_id'))
    throw new Refusal(400, 'invalid_query_params', { message: 'A session token leaves no choice of id' });
  const socketId = query.get('ws_client_id');
  const isAllowed = isIntegration(integration) && (session.allowed?.includes(integration) ?? true);
  if (!isAllowed) {
    const about = { integration, webhookUrlOverride: session.webhookUrlOverride, socketId };
    return failed(state, about, 'integration_not_allowed', 'The integration is not allowed by this session');
  }
  const pinned = session.defaults[integration] ?? {};
  const flow: Flow = {
    state: randomUUID(),
    session,
    connection: session.connection,
    webhookUrlOverride: session.webhookUrlOverride,
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

function providerUrl(
  { provider, host, settings }: NangoState,
  { state, codeVerifier, connectionConfig }: Flow,
  query: URLSearchParams,
  pinned: Defaults,
): string {
  const override = connectionConfig['oauth_scopes_override'];
  const scopes = typeof override === 'string' && override !== '' ? override.split(',') : ownScopes;
  const url = new URL('/authorize', provider.origin);
  const params = {
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: settings.callbackUrl ?? `${host}/oauth/callback`,
    scope: scopes.map((scope) => scope.trim()).join(' '),
    state,
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
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
