/**
 * A strict, real authorization server: PKCE required, rotating refresh tokens, resource indicators, dynamic
 * registration. Every visitor is Alice, who agrees to everything unless `refuse.consent` is set.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { errors, Provider } from 'oidc-provider';
import type { AdapterFactory, ClientMetadata, Configuration } from 'oidc-provider';
import { listen } from '../../demo/listen.ts';
import { issuerTag } from '../../src/credentials/mcp-oauth/client-metadata.ts';
import { createMemoryAdapter } from '../../demo/memory-adapter.ts';

export interface AuthorizationServer {
  issuer: string;
  /** What the token endpoint was asked, in order. */
  tokenRequests: { grantType: string; resource: string }[];
  registrations: Record<string, unknown>[];
  /** Parameters of the last authorization request. */
  authorization: URLSearchParams;
  refuse: { consent: boolean; tokens: 'no' | 'broken' | 'slow-down' };
  provider: Provider;
  /** As if its database had lost something. */
  lose(model: 'Client' | 'AccessToken', id: string): Promise<void>;
  stop: () => Promise<void>;
}

interface Options {
  resource: string;
  accessTokenLifeSeconds?: number;
  clients?: ClientMetadata[];
  registration?: boolean;
  /** Metadata document clients, and how the document is fetched. */
  fetchDocument?: (url: string) => Response;
}

const { privateKey } = await generateKeyPair('RS256', { extractable: true });
const jwks = { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] };

export async function startAuthorizationServer(options: Options): Promise<AuthorizationServer> {
  const server = createServer();
  const listening = await listen(server, 0, 'none');
  const issuer = `http://127.0.0.1:${listening.port}`;
  const adapter = createMemoryAdapter();
  const provider = new Provider(
    issuer,
    configuration(issuer, options, adapter, () => provider),
  );
  const seen: AuthorizationServer = {
    issuer,
    tokenRequests: [],
    registrations: [],
    authorization: new URLSearchParams(),
    refuse: { consent: false, tokens: 'no' },
    provider,
    lose: async (model, id) => adapter(model).destroy(id),
    stop: () => listening.stop(),
  };
  provider.use(async (ctx, next) => {
    if (ctx.path === '/auth' && ctx.method === 'GET')
      seen.authorization = new URLSearchParams(ctx.querystring);
    if (ctx.path === '/token' && seen.refuse.tokens !== 'no') {
      Object.assign(ctx, await trouble(seen.refuse.tokens, ctx.req));
      return;
    }
    await next();
    const { body = {} } = ctx.oidc;
    if (ctx.path === '/reg') seen.registrations.push({ ...body });
    if (ctx.path === '/token') {
      seen.tokenRequests.push({ grantType: String(body['grant_type']), resource: String(body['resource']) });
    }
  });
  const callback = provider.callback();
  server.on('request', (request, response) => {
    const answered = request.url?.startsWith('/interaction/')
      ? interact(provider, seen, request, response)
      : callback(request, response);
    Promise.resolve(answered).catch(() => response.destroy());
  });
  return seen;
}

function configuration(
  issuer: string,
  options: Options,
  adapter: AdapterFactory,
  provider: () => Provider,
): Configuration {
  const {
    resource,
    accessTokenLifeSeconds = 3600,
    clients = [],
    registration = true,
    fetchDocument,
  } = options;
  return {
    adapter,
    jwks,
    // As an operator registers them: with the address that is for this very server.
    clients: clients.map((client) => ({
      ...client,
      redirect_uris: (client.redirect_uris ?? []).map((uri) => `${uri}/${issuerTag(issuer)}`),
    })),
    scopes: ['openid', 'offline_access', 'email'],
    claims: { openid: ['sub'], email: ['email'] },
    conformIdTokenClaims: false,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.com` }) }),
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: registration },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => false,
        getResourceServerInfo: (_, indicator) => {
          if (indicator !== resource) throw new errors.InvalidTarget();
          return {
            scope: 'issues:read issues:write',
            audience: resource,
            accessTokenFormat: 'opaque',
            accessTokenTTL: accessTokenLifeSeconds,
          };
        },
      },
      ...(fetchDocument && { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } }),
    },
    ...(fetchDocument && {
      fetch: async (url: string | URL | Request) => fetchDocument(new Request(url).url),
    }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
    loadExistingGrant: async ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : provider().Grant.find(grantId);
    },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    cookies: { keys: ['test'] },
    renderError: (ctx, { error }) => {
      ctx.body = error;
    },
    ttl: {
      AccessToken: (_, token) => token.resourceServer?.accessTokenTTL ?? 3600,
      Interaction: 600,
      Grant: 3600,
      Session: 3600,
      IdToken: 600,
      RefreshToken: 3600,
    },
  };
}

async function interact(
  provider: Provider,
  { refuse }: AuthorizationServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params } = await provider.interactionDetails(request, response);
  if (refuse.consent) return provider.interactionFinished(request, response, { error: 'access_denied' });
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'alice' } });
  }
  const grant = new provider.Grant({ accountId: 'alice', clientId: String(params['client_id']) });
  const scope = typeof params['scope'] === 'string' ? params['scope'] : '';
  grant.addOIDCScope(scope);
  grant.addResourceScope(String(params['resource']), scope);
  const grantId = await grant.save();
  return provider.interactionFinished(
    request,
    response,
    { consent: { grantId } },
    { mergeWithLastSubmission: true },
  );
}

/** Bad answers that quote what they were sent. */
async function trouble(kind: 'broken' | 'slow-down', request: IncomingMessage) {
  let sent = '';
  for await (const chunk of request.setEncoding('utf8')) sent += String(chunk);
  switch (kind) {
    case 'broken':
      return { status: 200, type: 'json', body: `{"access_token":"leaked-${sent}` };
    case 'slow-down':
      return { status: 503, type: 'text', body: `busy, you sent ${sent}` };
    default:
      return kind satisfies never;
  }
}
