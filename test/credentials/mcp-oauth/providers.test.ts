/** The entries of docs/providers.md, each as it stands there, against a double that behaves as its provider documents. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readAgentsFile } from '../../../src/platform/config/agents-file/read-agents-file.ts';
import { toServerConfig } from '../../../src/platform/config/agents-file/server-config.ts';
import type { ServerConfig } from '../../../src/platform/config/config.ts';
import { startProviderDouble } from '../../servers/provider-double.ts';
import type { Answer, ProviderBehaviour } from '../../servers/provider-double.ts';
import { alice, setUpOAuthStore } from '../oauth-store.ts';

const day = 24 * 3_600_000;
const page = readFileSync(new URL('../../../docs/providers.md', import.meta.url), 'utf8');
const secret = 'the-providers-secret';

/** As an operator writes it. */
function serverOf(title: string): ServerConfig {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? '';
  const yaml = /```yaml\n([^]*?)```/.exec(section)?.[1] ?? '';
  const folder = mkdtempSync(path.join(tmpdir(), 'interlude-providers-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'agents.yaml');
  writeFileSync(file, `${yaml}agents:\n  assistant: { model: "openai:gpt-5" }\n`);
  const env = { OPENAI_API_KEY: 'x', PROVIDER_SECRET: secret };
  const problems: string[] = [];
  const read = readAgentsFile({ file, shown: 'docs/providers.md' }, env, problems);
  expect(problems).toEqual([]);
  const [[name, entry] = []] = Object.entries(read?.servers ?? {});
  if (name === undefined || entry === undefined) throw new Error(`no entry for ${title}`);
  return toServerConfig(name, entry, { variables: env, secret: () => undefined, folder });
}

const error = (status: number, code: string, more: object = {}): Answer => ({
  status,
  body: { error: code, ...more },
});
const pkce = { code_challenge_methods_supported: ['plain', 'S256'] };
const needs = (params: URLSearchParams, name: string, value: string) =>
  params.get(name) === value ? null : 'invalid_request';
const besideThePath = (server: string) => {
  const { origin, pathname } = new URL(server);
  return `${origin}/.well-known/oauth-protected-resource${pathname.replace(/\/$/, '')}`;
};
/** Metadata of OpenID Connect Discovery is below the issuer, that of RFC 8414 before its path. */
const below = (issuer: string) => `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
const before = (issuer: string) => {
  const { origin, pathname } = new URL(issuer);
  return `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`;
};

type Behaviour = Omit<ProviderBehaviour, 'server' | 'clientId' | 'clientSecret'>;

function selfRegistering(server: string, refusal: Answer, scopes?: string[]): Behaviour {
  const { origin } = new URL(server);
  return {
    resourceDocument: besideThePath(server),
    names: origin,
    ...(scopes && { scopes }),
    metadataAt: before(origin),
    metadata: { issuer: origin, ...pkce, token_endpoint_auth_methods_supported: ['none'] },
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    clientAuth: 'none',
    lifetimeSeconds: 3600,
    isRotating: true,
    refusal,
  };
}

const tools = 'https://tools.example.com/mcp';
const github = 'https://github.com/login/oauth';
const entra = 'https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555';
const okta = 'https://example.okta.com/oauth2/default';
const auth0 = 'https://example.eu.auth0.com/';
const keycloak = 'https://sso.example.com/realms/acme';

const providers: Record<string, Behaviour> = {
  GitHub: {
    resourceDocument: besideThePath('https://api.githubcopilot.com/mcp/'),
    names: github,
    scopes: ['repo', 'read:org'],
    metadataAt: before(github),
    metadata: { issuer: github, code_challenge_methods_supported: ['S256'] },
    authorizationEndpoint: `${github}/authorize`,
    tokenEndpoint: `${github}/access_token`,
    clientAuth: 'client_secret_basic',
    lifetimeSeconds: 28_800,
    isRotating: true,
    refusal: error(200, 'bad_refresh_token', {
      error_description: 'The refresh token passed is incorrect or expired.',
    }),
    clientRefusal: error(200, 'incorrect_client_credentials'),
  },
  Google: {
    resourceDocument: besideThePath('https://bigquery.googleapis.com/mcp'),
    names: 'https://accounts.google.com/',
    metadataAt: below('https://accounts.google.com'),
    metadata: {
      issuer: 'https://accounts.google.com',
      ...pkce,
      scopes_supported: ['openid', 'email', 'profile'],
      token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
    },
    authorizationEndpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenEndpoint: 'https://oauth2.googleapis.com/token',
    clientAuth: 'client_secret_basic',
    // Everybody here has agreed before.
    isLasting: (params) => params.get('access_type') === 'offline' && params.get('prompt') === 'consent',
    lifetimeSeconds: 3599,
    refusal: error(400, 'invalid_grant', { error_description: 'Token has been expired or revoked.' }),
    clientRefusal: error(401, 'invalid_client'),
  },
  'Microsoft Entra ID': {
    resourceDocument: besideThePath(tools),
    names: `${entra}/v2.0`,
    metadataAt: below(`${entra}/v2.0`),
    metadata: {
      issuer: `${entra}/v2.0`,
      scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
      token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
    },
    authorizationEndpoint: `${entra}/oauth2/v2.0/authorize`,
    tokenEndpoint: `${entra}/oauth2/v2.0/token`,
    clientAuth: 'client_secret_basic',
    refusesAuthorization: (params) => (params.has('resource') ? 'invalid_target' : null),
    refusesTokens: (params) =>
      params.get('grant_type') === 'refresh_token' && !params.get('scope')?.includes('api://')
        ? error(400, 'invalid_grant', { error_description: 'AADSTS90009', error_codes: [90009] })
        : null,
    isLasting: (params) => params.get('scope')?.includes('offline_access') === true,
    lifetimeSeconds: 3599,
    isRotating: true,
    refusal: error(400, 'invalid_grant', {
      error_description: 'AADSTS700082: The refresh token has expired.',
    }),
    clientRefusal: error(401, 'invalid_client', { error_description: 'AADSTS7000215' }),
  },
  Okta: {
    resourceDocument: besideThePath(tools),
    names: okta,
    metadataAt: below(okta),
    metadata: {
      issuer: okta,
      code_challenge_methods_supported: ['S256'],
      scopes_supported: ['mcp.tools', 'openid', 'email', 'offline_access'],
      // It takes an administrator's token.
      registration_endpoint: 'https://example.okta.com/oauth2/v1/clients',
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
    },
    authorizationEndpoint: `${okta}/v1/authorize`,
    tokenEndpoint: `${okta}/v1/token`,
    clientAuth: 'client_secret_basic',
    isLasting: (params) => params.get('scope')?.includes('offline_access') === true,
    lifetimeSeconds: 3600,
    isRotating: true,
    refusal: error(400, 'invalid_grant', { error_description: 'The refresh token is invalid or expired.' }),
    clientRefusal: {
      status: 401,
      body: { errorCode: 'invalid_client', errorSummary: 'Invalid value for client_id.' },
    },
  },
  Auth0: {
    resourceDocument: besideThePath(tools),
    names: auth0.slice(0, -1),
    metadataAt: below(auth0),
    metadata: {
      issuer: auth0,
      ...pkce,
      scopes_supported: ['openid', 'profile', 'offline_access', 'email'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    },
    authorizationEndpoint: `${auth0}authorize`,
    tokenEndpoint: `${auth0}oauth/token`,
    clientAuth: 'client_secret_basic',
    // Without it the token would be good for nothing here.
    refusesAuthorization: (params) => needs(params, 'audience', tools),
    lifetimeSeconds: 86_400,
    isRotating: true,
    refusal: error(403, 'invalid_grant', { error_description: 'Unknown or invalid refresh token.' }),
    clientRefusal: error(401, 'access_denied'),
  },
  Keycloak: {
    resourceDocument: besideThePath(tools),
    names: keycloak,
    metadataAt: below(keycloak),
    metadata: {
      issuer: keycloak,
      ...pkce,
      scopes_supported: ['openid', 'offline_access', 'mcp:tools', 'email'],
      token_endpoint_auth_methods_supported: ['private_key_jwt', 'client_secret_basic', 'client_secret_post'],
    },
    authorizationEndpoint: `${keycloak}/protocol/openid-connect/auth`,
    tokenEndpoint: `${keycloak}/protocol/openid-connect/token`,
    clientAuth: 'client_secret_basic',
    lifetimeSeconds: 300,
    refusal: error(400, 'invalid_grant', { error_description: 'Token is not active' }),
    clientRefusal: error(401, 'unauthorized_client', {
      error_description: 'Invalid client or Invalid client credentials',
    }),
  },
  Atlassian: selfRegistering(
    'https://mcp.atlassian.com/v1/mcp/authv2',
    error(403, 'unauthorized_client', { error_description: 'refresh_token is invalid' }),
  ),
  Linear: selfRegistering('https://mcp.linear.app/mcp', error(400, 'invalid_grant'), ['read', 'write']),
  Notion: selfRegistering('https://mcp.notion.com/mcp', error(400, 'invalid_grant')),
  Slack: {
    resourceDocument: 'https://mcp.slack.com/.well-known/oauth-protected-resource',
    names: 'https://mcp.slack.com',
    scopes: ['search:read.public', 'chat:write'],
    metadataAt: before('https://mcp.slack.com'),
    metadata: {
      issuer: 'https://mcp.slack.com',
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    },
    authorizationEndpoint: 'https://slack.com/oauth/v2_user/authorize',
    tokenEndpoint: 'https://slack.com/api/oauth.v2.user.access',
    clientAuth: 'client_secret_post',
    refusesAuthorization: (params) => (params.get('scope') ? null : 'invalid_scope'),
    lifetimeSeconds: 43_200,
    isRotating: true,
    extras: { ok: true },
    refusal: error(200, 'invalid_refresh_token', { ok: false }),
    clientRefusal: error(200, 'bad_client_secret', { ok: false }),
  },
  Salesforce: {
    resourceDocument: besideThePath('https://api.salesforce.com/platform/mcp/v1/platform/sobject-all'),
    names: 'https://login.salesforce.com',
    metadataAt: below('https://login.salesforce.com'),
    metadata: {
      issuer: 'https://login.salesforce.com',
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic', 'none'],
    },
    authorizationEndpoint: 'https://login.salesforce.com/services/oauth2/authorize',
    tokenEndpoint: 'https://login.salesforce.com/services/oauth2/token',
    clientAuth: 'none',
    isLasting: (params) => params.get('scope')?.includes('refresh_token') === true,
    lifetimeSeconds: null,
    extras: { instance_url: 'https://example.my.salesforce.com', issued_at: '1764000000000' },
    refusal: error(400, 'invalid_grant', { error_description: 'expired access/refresh token' }),
    clientRefusal: error(400, 'invalid_client_id'),
  },
  HubSpot: {
    resourceDocument: 'https://mcp.hubspot.com/.well-known/oauth-protected-resource',
    names: 'https://mcp.hubspot.com',
    metadataAt: before('https://mcp.hubspot.com'),
    metadata: { issuer: 'https://mcp.hubspot.com', code_challenge_methods_supported: ['S256'] },
    authorizationEndpoint: 'https://mcp.hubspot.com/oauth/authorize/user',
    tokenEndpoint: 'https://mcp.hubspot.com/oauth/v3/token',
    clientAuth: 'client_secret_basic',
    lifetimeSeconds: 1800,
    refusal: {
      status: 400,
      body: { status: 'BAD_REFRESH_TOKEN', message: 'missing or invalid refresh token' },
    },
    clientRefusal: { status: 400, body: { status: 'BAD_CLIENT_ID', message: 'unknown client' } },
  },
};

async function setup(title: string, server = serverOf(title)) {
  const behaviour = providers[title];
  if (!behaviour) throw new Error(`no double for ${title}`);
  const { clientId } = server.oauth ?? {};
  const double = await startProviderDouble({
    ...behaviour,
    server: server.url,
    ...(clientId !== undefined && { clientId }),
    ...(behaviour.clientAuth !== 'none' && { clientSecret: secret }),
  });
  const secrets = { value: secret };
  const store = await setUpOAuthStore({
    fetch: double.fetch,
    secret: () => secrets.value,
    browse: double.at,
  });
  const key = { ...alice, server: server.name };
  const refuse = (credential: { version: number; tokenId?: string | undefined }) =>
    store.store.reject(server, key, { ...credential, status: 401, challenge: null });
  return {
    ...store,
    double,
    server,
    secrets,
    resolve: () => store.store.resolve(server, key),
    refuse,
    status: async () => store.store.statusOf((await store.storage.connections.get(key))!, server),
    connect: () => store.connect(server, { key }),
  };
}

/** A token that its provider gives no lifetime of is renewed when its server refuses it. */
async function renewed({ resolve, refuse, double, later }: Awaited<ReturnType<typeof setup>>) {
  const before = await resolve();
  if (before.kind !== 'credential') throw new Error('not connected');
  later(day);
  return double.behaviour.lifetimeSeconds === null ? refuse(before) : resolve();
}

test('every entry of the page has a double, and the other way round', () => {
  const titles = [...page.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
  expect(titles).toEqual(Object.keys(providers));
});

describe.each(Object.keys(providers))('%s', (title) => {
  test('is connected, renewed, asked about once when access ends, and connected again', async () => {
    const peer = await setup(title);
    expect(await peer.resolve()).toMatchObject({ kind: 'connection-required', reason: 'missing' });
    expect(await peer.connect()).toMatchObject({ kind: 'connected', version: 1 });
    for (const round of [1, 2]) {
      const found = await renewed(peer);
      if (found.kind !== 'credential') throw new Error(`not renewed: ${JSON.stringify(found)}`);
      expect(peer.double.isValid(found.headers['authorization']?.replace('Bearer ', '') ?? '')).toBe(true);
      expect(peer.double.renewals).toHaveLength(round);
    }
    peer.double.withdraw();
    expect(await renewed(peer)).toMatchObject({ kind: 'connection-required', reason: 'revoked' });
    expect(await peer.status()).toMatchObject({ status: 'broken', reason: 'revoked' });
    expect(await peer.resolve()).toMatchObject({ kind: 'connection-required', reason: 'revoked' });
    expect(peer.double.renewals).toHaveLength(3);
    expect(await peer.connect()).toMatchObject({ kind: 'connected', version: 2 });
  });

  const optional = [
    'scopes',
    'authorizationParams',
    'resource',
    'scopeInRenewals',
    'pkce',
    'issuer',
  ] as const;
  const isNeeded: Record<string, readonly string[]> = {
    Google: ['authorizationParams'],
    'Microsoft Entra ID': ['resource', 'scopeInRenewals', 'pkce'],
    Auth0: ['authorizationParams', 'issuer'],
    Salesforce: ['scopes'],
  };
  test.each(optional.filter((name) => isNeeded[title]?.includes(name)))(
    'does not work without oauth.%s',
    async (setting) => {
      const server = serverOf(title);
      const { [setting]: _, ...oauth } = server.oauth ?? {};
      const peer = await setup(title, { ...server, oauth });
      const works = async () =>
        (await peer.connect()).kind === 'connected' && (await renewed(peer)).kind === 'credential';
      expect(await works().catch(() => false)).toBe(false);
    },
  );
});

test.each(
  Object.keys(providers).filter((title) => providers[title]?.clientAuth !== 'none' && title !== 'Auth0'),
)('%s refuses a wrong secret in a way that is for the operator, and takes no account away', async (title) => {
  const peer = await setup(title);
  await peer.connect();
  peer.secrets.value = 'wrong';
  await expect(renewed(peer)).rejects.toMatchObject({ isOperators: true });
  expect(await peer.status()).toMatchObject({ status: 'broken', reason: 'client_refused' });
  peer.secrets.value = secret;
  expect(await peer.resolve()).toMatchObject({ kind: 'credential', version: 1 });
});
