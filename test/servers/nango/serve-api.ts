/** The REST API: who may do what, how much of it, and what is answered. */
import { integrations, ownScopes, providerName } from './nango-state.ts';
import type { NangoState } from './nango-state.ts';
import {
  deleteConnection,
  importConnection,
  listConnections,
  patchConnection,
  readConnection,
} from './connections-api.ts';
import { Refusal } from './refusal.ts';
import { createReconnectSession, createSession, deleteSession, isIntegration } from './sessions.ts';
import type { Answer } from './sessions.ts';
import type { Scope } from './types.ts';

interface ApiRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  authorization: string | undefined;
  body: unknown;
}

export async function serveApi(state: NangoState, request: ApiRequest): Promise<Answer> {
  const { method, path, query, body } = request;
  if (method === 'DELETE' && path === '/connect/session') return deleteSession(state, request.authorization);
  const may = scopesOf(state, request.authorization);
  const need = (scope: Scope) => {
    if (!may(scope)) throw new Refusal(403, 'forbidden', { message: `The key lacks ${scope}` });
  };
  const [, collection = '', id, more] = path.split('/');
  const route = `${method} /${[collection, ...(id === undefined ? [] : ['id']), ...(more === undefined ? [] : ['more'])].join('/')}`;
  if (path === '/connect/sessions' && method === 'POST') {
    need('environment:connect_sessions:write');
    return createSession(state, body);
  }
  if (path === '/connect/sessions/reconnect' && method === 'POST') {
    need('environment:connect_sessions:write');
    return createReconnectSession(state, body);
  }
  switch (route) {
    case 'GET /connections':
      need('environment:connections:list');
      return listConnections(state, query);
    case 'POST /connections':
      need('environment:connections:create');
      return importConnection(state, body);
    case 'GET /connections/id':
      need('environment:connections:read');
      return readConnection(state, id ?? '', query, may('environment:connections:read_credentials'));
    case 'PATCH /connections/id':
      need('environment:connections:update');
      return patchConnection(state, id ?? '', query, body);
    case 'DELETE /connections/id':
      need('environment:connections:delete');
      return deleteConnection(state, id ?? '', query);
    case 'GET /integrations':
      need('environment:integrations:list');
      return [200, { data: integrations.map(integration), configs: integrations.map(integration) }];
    case 'GET /integrations/id':
      need('environment:integrations:read');
      if (!isIntegration(id ?? '')) throw new Refusal(404, 'not_found');
      return [
        200,
        { data: { ...integration(id ?? ''), credentials: { type: 'OAUTH2', scopes: ownScopes.join(',') } } },
      ];
    default:
      throw new Refusal(404, 'not_found');
  }
}

function integration(name: string) {
  return { unique_key: name, display_name: name, provider: providerName };
}

/** Every key is a UUID; another shape gets another error than an unknown key. */
function scopesOf(state: NangoState, authorization: string | undefined): (scope: Scope) => boolean {
  if (authorization === undefined) throw new Refusal(401, 'missing_auth_header');
  const key = authorization.replace(/^Bearer /, '');
  if (key.length !== 36) throw new Refusal(401, 'invalid_secret_key_format');
  const known = state.keys.get(key);
  if (!known) throw new Refusal(401, 'unknown_account');
  return (scope) => {
    const { scopes } = known;
    if (scopes === 'all' || scopes.includes(scope)) return true;
    // A key that may read credentials may read.
    return (
      scope === 'environment:connections:read' && scopes.includes('environment:connections:read_credentials')
    );
  };
}
