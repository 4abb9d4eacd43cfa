/**
 * An authorization server as strict as they come: PKCE, exact redirect addresses, tokens for one resource that is
 * named in every request, short access tokens, refresh tokens only for who agreed to lasting access, replaced at each
 * use, and a grant that ends when an old one is seen again. It can be away and come back.
 *
 * It has no pages: every visitor is `person.account`, and agrees to what `person.agrees` says.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import { errors, Provider } from 'oidc-provider';
import type { Configuration, Grant } from 'oidc-provider';
import { createMemoryAdapter } from '../../demo/memory-adapter.ts';

export interface StrictProvider {
  issuer: string;
  provider: Provider;
  person: { account: string; agrees: 'to all' | 'not to last' | 'to nothing' };
  /** Parameters of the authorization requests, oldest first. */
  authorizations: URLSearchParams[];
  /** Requests to the token endpoint, and what came of them; `error` is null for those that got tokens. */
  tokenRequests: { grantType: string; resource: string; error: string | null }[];
  revocations: { hint: string; client: string }[];
  /** Grants that ended. */
  endedGrants: string[];
  /** What the person does at the provider: takes back all they gave. */
  withdraw(account: string): Promise<void>;
  /** An access token that is no more, though its life is not over. */
  drop(accessToken: string): Promise<void>;
  /** Null: not valid (any more). */
  introspect(
    token: string,
  ): Promise<{ account: string; scopes: string[]; clientId: string; expiresAt: number } | null>;
  /** What its metadata says instead of the truth. */
  metadata: Record<string, string>;
  leave(): Promise<void>;
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

interface Options {
  /** The only one that tokens are given for. Read when the first request comes. */
  resource: () => string;
  scopes: string[];
  accessTokenSeconds?: number;
  accessTokens?: 'opaque' | 'jwt';
  requiresPushedRequests?: boolean;
}

const { privateKey } = await generateKeyPair('ES256', { extractable: true });
const jwks = { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'k' }] };
/** The resource server, which may ask what a token is worth. */
const asking = { id: 'resource-server', secret: 'its-secret' };

export async function startStrictProvider(options: Options): Promise<StrictProvider> {
  const server = createServer();
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const grants = new Map<string, string>();
  const provider = new Provider(issuer, configuration(options));
  const leave = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });

  const peer: StrictProvider = {
    issuer,
    provider,
    person: { account: 'alice', agrees: 'to all' },
    authorizations: [],
    tokenRequests: [],
    revocations: [],
    endedGrants: [],
    metadata: {},
    async withdraw(account) {
      for (const [id, whose] of grants) {
        if (whose !== account) continue;
        grants.delete(id);
        await provider.Grant.adapter.destroy(id);
        for (const model of [provider.AccessToken, provider.RefreshToken])
          await model.adapter.revokeByGrantId(id);
      }
    },
    drop: async (accessToken) => (await provider.AccessToken.find(accessToken))?.destroy(),
    async introspect(token) {
      const credentials = Buffer.from(`${asking.id}:${asking.secret}`).toString('base64');
      const answer = await fetch(`${issuer}/token/introspection`, {
        method: 'POST',
        headers: { authorization: `Basic ${credentials}` },
        body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
      });
      const told = (await answer.json()) as Record<string, unknown>;
      if (told['active'] !== true || told['aud'] !== options.resource()) return null;
      return {
        account: String(told['sub']),
        scopes: String(told['scope']).split(' '),
        clientId: String(told['client_id']),
        expiresAt: Number(told['exp']),
      };
    },
    leave,
    comeBack: () => listen(port),
    stop: leave,
  };

  provider.on('grant.revoked', (_, id) => void peer.endedGrants.push(id));
  provider.use(async (ctx, next) => {
    if (ctx.path === '/auth' && ctx.method === 'GET')
      peer.authorizations.push(new URLSearchParams(ctx.querystring));
    await next();
    if (ctx.path.startsWith('/.well-known/')) ctx.body = { ...(ctx.body as object), ...peer.metadata };
    const { body = {} } = ctx.oidc ?? {};
    if (ctx.path === '/token') {
      const { error } = ctx.body as { error?: string };
      peer.tokenRequests.push({
        grantType: String(body['grant_type']),
        resource: String(body['resource']),
        error: error ?? null,
      });
    }
    if (ctx.path === '/token/revocation')
      peer.revocations.push({
        hint: String(body['token_type_hint']),
        client: ctx.oidc.client?.clientId ?? '',
      });
  });
  const callback = provider.callback();
  server.on('request', (request, response) => {
    const answered = request.url?.startsWith('/interaction/')
      ? interact(peer, grants, request, response)
      : callback(request, response);
    Promise.resolve(answered).catch(() => response.destroy());
  });
  return peer;
}

function configuration(options: Options): Configuration {
  const {
    resource,
    scopes,
    accessTokenSeconds = 300,
    accessTokens = 'opaque',
    requiresPushedRequests = false,
  } = options;
  return {
    adapter: createMemoryAdapter(),
    jwks,
    clients: [
      {
        client_id: asking.id,
        client_secret: asking.secret,
        redirect_uris: [],
        response_types: [],
        grant_types: [],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    // Browsers share cookies between the ports of one host, and tests have other providers beside this one.
    cookies: {
      keys: ['test'],
      names: { session: 'strict_session', interaction: 'strict_interaction', resume: 'strict_resume' },
    },
    scopes: ['openid', 'offline_access', 'email', ...scopes],
    claims: { openid: ['sub'], email: ['email'] },
    conformIdTokenClaims: false,
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com` }),
    }),
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true, allowedPolicy: (_, client, token) => token.clientId === client.clientId },
      introspection: { enabled: true, allowedPolicy: (_, client) => client.clientId === asking.id },
      pushedAuthorizationRequests: {
        enabled: true,
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
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    renderError: (ctx, { error }) => {
      ctx.body = error;
    },
    ttl: {
      AccessToken: (_, token) => token.resourceServer?.accessTokenTTL ?? 300,
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
  { provider, person }: StrictProvider,
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
  return provider.interactionFinished(
    request,
    response,
    { consent: { grantId: id } },
    { mergeWithLastSubmission: true },
  );
}
