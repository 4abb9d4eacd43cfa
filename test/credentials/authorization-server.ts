/**
 * A strict, real authorization server (oidc-provider): PKCE, exact redirect addresses, tokens for one resource that is named in
 * every request, and refresh tokens that are replaced at each use. A grant ends when a replaced one is seen again.
 *
 * It has no pages: every visitor is `person.account`, and agrees to what `person.agrees` says.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair } from 'jose';
import { errors, Provider } from 'oidc-provider';
import type { AdapterFactory, ClientMetadata, Configuration, Grant } from 'oidc-provider';
import { listen } from '../../demo/listen.ts';
import { createMemoryAdapter } from '../../demo/memory-adapter.ts';
import { issuerTag } from '../../src/credentials/mcp-oauth/client-metadata.ts';

interface Options {
  /** The only one that tokens are given for. Read when the first request comes. */
  resource: () => string;
  scopes?: string[];
  accessTokenSeconds?: number;
  accessTokens?: 'opaque' | 'jwt';
  /** Gives refresh tokens only to those who agreed to lasting access, remembers consent, and takes pushed requests. */
  isStrict?: boolean;
  requiresPushedRequests?: boolean;
  clients?: ClientMetadata[];
  registration?: boolean;
  /** Metadata document clients, and how the document is fetched. */
  fetchDocument?: (url: string) => Response;
}

const { privateKey } = await generateKeyPair('ES256', { extractable: true });
const jwks = { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'k' }] };
/** The resource server, which may ask what a token is worth. */
const asking = { id: 'resource-server', secret: 'its-secret' };

export type AuthorizationServer = Awaited<ReturnType<typeof startAuthorizationServer>>;

export async function startAuthorizationServer(options: Options) {
  const server = createServer();
  let listening = await listen(server, 0, 'none');
  const { port } = listening;
  const issuer = `http://127.0.0.1:${port}`;
  const adapter = createMemoryAdapter();
  const provider: Provider = new Provider(
    issuer,
    configuration(issuer, options, adapter, () => provider),
  );
  const grants = new Map<string, string>();
  const seen = {
    issuer,
    provider,
    person: { account: 'alice', agrees: 'to all' as 'to all' | 'not to last' | 'to nothing' },
    /** Parameters of the authorization requests, oldest first. */
    authorizations: [] as URLSearchParams[],
    /** Requests to the token endpoint, and what came of them; `error` is null for those that got tokens. */
    tokenRequests: [] as { grantType: string; resource: string; error: string | null }[],
    registrations: [] as Record<string, unknown>[],
    revocations: [] as { hint: string; client: string }[],
    /** Grants that ended. */
    endedGrants: [] as string[],
    /** What its metadata says instead of the truth. */
    metadata: {} as Record<string, string>,
    /** `broken` and `slow-down`: bad answers of the token endpoint, which quote what it was sent. */
    refuse: { tokens: 'no' as 'no' | 'broken' | 'slow-down' },
    /** What the person does at the provider: takes back all they gave. */
    async withdraw(account: string): Promise<void> {
      for (const [id, whose] of grants) {
        if (whose !== account) continue;
        grants.delete(id);
        await provider.Grant.adapter.destroy(id);
        for (const model of [provider.AccessToken, provider.RefreshToken])
          await model.adapter.revokeByGrantId(id);
      }
    },
    /** An access token that is no more, though its life is not over. */
    drop: async (accessToken: string) => (await provider.AccessToken.find(accessToken))?.destroy(),
    /** As if its database had lost something. */
    lose: async (model: 'Client' | 'AccessToken', id: string) => adapter(model).destroy(id),
    /** Null: not valid (any more). */
    async introspect(token: string) {
      const credentials = Buffer.from(`${asking.id}:${asking.secret}`).toString('base64');
      const answer = await fetch(`${issuer}/token/introspection`, {
        method: 'POST',
        headers: { authorization: `Basic ${credentials}` },
        body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
      });
      const found = (await answer.json()) as Record<string, unknown>;
      if (found['active'] !== true || found['aud'] !== options.resource()) return null;
      return {
        account: String(found['sub']),
        scopes: String(found['scope']).split(' '),
        clientId: String(found['client_id']),
        expiresAt: Number(found['exp']),
      };
    },
    leave: () => listening.stop(),
    async comeBack(): Promise<void> {
      listening = await listen(server, port, 'none');
    },
    stop: () => listening.stop(),
  };

  provider.on('grant.revoked', (_, id) => void seen.endedGrants.push(id));
  provider.use(async (ctx, next) => {
    if (ctx.path === '/auth' && ctx.method === 'GET')
      seen.authorizations.push(new URLSearchParams(ctx.querystring));
    if (ctx.path === '/token' && seen.refuse.tokens !== 'no') {
      Object.assign(ctx, await trouble(seen.refuse.tokens, ctx.req));
      return;
    }
    await next();
    if (ctx.path.startsWith('/.well-known/')) ctx.body = { ...(ctx.body as object), ...seen.metadata };
    const { body = {} } = ctx.oidc ?? {};
    if (ctx.path === '/reg') seen.registrations.push({ ...body });
    if (ctx.path === '/token') {
      const { error = null } = ctx.body as { error?: string };
      const [grantType, resource] = [String(body['grant_type']), String(body['resource'])];
      seen.tokenRequests.push({ grantType, resource, error });
    }
    if (ctx.path === '/token/revocation')
      seen.revocations.push({
        hint: String(body['token_type_hint']),
        client: ctx.oidc.client?.clientId ?? '',
      });
  });
  const callback = provider.callback();
  server.on('request', (request, response) => {
    const answered = request.url?.startsWith('/interaction/')
      ? interact(seen, grants, request, response)
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
    scopes = ['issues:read', 'issues:write'],
    accessTokenSeconds = 3600,
    accessTokens = 'opaque',
    isStrict = false,
    requiresPushedRequests = false,
    clients = [],
    registration = true,
    fetchDocument,
  } = options;
  return {
    adapter,
    jwks,
    clients: [
      {
        client_id: asking.id,
        client_secret: asking.secret,
        redirect_uris: [],
        response_types: [],
        grant_types: [],
      },
      // As an operator registers them: with the address that is for this very server.
      ...clients.map((client) => ({
        ...client,
        redirect_uris: (client.redirect_uris ?? []).map((uri) => `${uri}/${issuerTag(issuer)}`),
      })),
    ],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    // Browsers share cookies between the ports of one host, and tests have other providers beside this one.
    cookies: {
      keys: ['test'],
      names: { session: 'strict_session', interaction: 'strict_interaction', resume: 'strict_resume' },
    },
    scopes: ['openid', 'offline_access', 'email', ...(isStrict ? scopes : [])],
    claims: { openid: ['sub'], email: ['email'] },
    conformIdTokenClaims: false,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@example.com` }) }),
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: registration },
      revocation: { enabled: true, allowedPolicy: (_, client, token) => token.clientId === client.clientId },
      introspection: { enabled: true, allowedPolicy: (_, client) => client.clientId === asking.id },
      pushedAuthorizationRequests: {
        enabled: isStrict,
        requirePushedAuthorizationRequests: requiresPushedRequests,
      },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => false,
        getResourceServerInfo(_, indicator) {
          if (indicator !== resource()) throw new errors.InvalidTarget();
          return {
            scope: scopes.join(' '),
            audience: indicator,
            accessTokenFormat: accessTokens,
            accessTokenTTL: accessTokenSeconds,
            jwt: { sign: { alg: 'ES256' } },
          };
        },
      },
      ...(fetchDocument && { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } }),
    },
    ...(fetchDocument && {
      fetch: async (url: string | URL | Request) => fetchDocument(new Request(url).url),
    }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    ...(!isStrict && {
      issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
      loadExistingGrant: async ({ oidc }) => {
        const grantId = oidc.result?.consent?.grantId;
        return grantId === undefined ? undefined : provider().Grant.find(grantId);
      },
    }),
    pkce: { required: () => true },
    rotateRefreshToken: true,
    renderError: (ctx, { error }) => {
      ctx.body = error;
    },
    ttl: {
      AccessToken: (_, token) => token.resourceServer?.accessTokenTTL ?? accessTokenSeconds,
      Interaction: 600,
      Grant: 3600,
      Session: 3600,
      IdToken: 600,
      RefreshToken: 3600,
    },
  };
}

/** Who is signed in already stays it, as in any browser. */
async function interact(
  { provider, person }: Pick<AuthorizationServer, 'provider' | 'person'>,
  grants: Map<string, string>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (person.agrees === 'to nothing')
    return provider.interactionFinished(request, response, { error: 'access_denied' });
  if (prompt.name === 'login')
    return provider.interactionFinished(request, response, { login: { accountId: person.account } });
  const accountId = session?.accountId ?? person.account;
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant: Grant = known ?? new provider.Grant({ accountId, clientId: String(params['client_id']) });
  const wanted = (typeof params['scope'] === 'string' ? params['scope'] : '').split(' ');
  const agreed = wanted.filter((scope) => person.agrees === 'to all' || scope !== 'offline_access');
  grant.addOIDCScope(agreed.join(' '));
  grant.addResourceScope(String(params['resource']), agreed.join(' '));
  for (const refused of wanted.filter((scope) => !agreed.includes(scope))) grant.rejectOIDCScope(refused);
  const id = await grant.save();
  grants.set(id, accountId);
  const result = { consent: { grantId: id } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

async function trouble(kind: 'broken' | 'slow-down', request: IncomingMessage) {
  const sent = await text(request);
  return kind === 'broken'
    ? { status: 200, type: 'json', body: `{"access_token":"leaked-${sent}` }
    : { status: 503, type: 'text', body: `busy, you sent ${sent}` };
}
