/**
 * Documents as servers really send them, with members that are null, empty, of another type or missing: an account is
 * connected and renewed all the same, on PostgreSQL, which takes nothing for a number that is none.
 */
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../../src/platform/config/config.ts';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { issuerDocument, json, serverConfig, startServer } from '../guarded-server.ts';
import { alice, setUpOAuthStore } from '../oauth-store.ts';
import { callbackFor } from '../redirects.ts';
import { postgresUrl } from '../../postgres.ts';

type Document = Record<string, unknown>;

interface Documents {
  resource: Document;
  metadata: Document;
  /** Where the metadata is; the other place answers 404. */
  metadataAt: string;
  registration: Document;
  tokens: Document;
  renewed: Document;
  /** Of a refused renewal. */
  renewalStatus: number;
}

const oauthMetadata = '/.well-known/oauth-authorization-server';
const openIdMetadata = '/.well-known/openid-configuration';

function usual(origin: string): Documents {
  return {
    resource: { resource: `${origin}/mcp`, authorization_servers: [origin], scopes_supported: ['read'] },
    metadata: issuerDocument(origin, { registration_endpoint: `${origin}/register` }),
    metadataAt: oauthMetadata,
    registration: { client_id: 'c1', redirect_uris: ['http://127.0.0.1:3000/auth/callback'] },
    tokens: { access_token: 'first', token_type: 'Bearer', expires_in: 3600, refresh_token: 'r1' },
    renewed: { access_token: 'second', token_type: 'Bearer', expires_in: 3600, refresh_token: 'r2' },
    renewalStatus: 200,
  };
}

type Change = { [Name in keyof Documents]?: Documents[Name] | undefined };

const keys = parseKeys(generateKey('k1'));
let database: Config['database'];
beforeAll(async () => void (database = { kind: 'postgres', url: await postgresUrl() }));

/** `change`: laid over the usual documents, member by member; undefined takes a member away. */
async function setup(change: Change) {
  const origin = await startServer((request, response, body) => {
    const documents = usual(origin);
    for (const [name, members] of Object.entries(change)) {
      const before = documents[name as keyof Documents];
      const isDocument = typeof before === 'object' && typeof members === 'object';
      Object.assign(documents, { [name]: isDocument ? { ...before, ...members } : members });
    }
    switch (request.url) {
      case '/.well-known/oauth-protected-resource/mcp':
        return json(response, documents.resource);
      case documents.metadataAt:
        return json(response, documents.metadata);
      case '/register':
        return json(response, documents.registration, 201);
      case '/token':
        return body.includes('grant_type=refresh_token')
          ? json(response, documents.renewed, documents.renewalStatus)
          : json(response, documents.tokens);
      default:
        return response.writeHead(request.url === '/mcp' ? 401 : 404).end();
    }
  });
  const { store, storage, later } = await setUpOAuthStore({ database, keys });
  onTestFinished(async () => void (await storage.connections.remove(alice)));
  const server = serverConfig(`${origin}/mcp`);
  return { origin, store, storage, later, server };
}

async function connect({ store, server }: Awaited<ReturnType<typeof setup>>) {
  const begun = { server, key: alice, elicitationId: 'q1', sessionHash: 's' };
  const { url } = await store.begin(begun);
  const callback = callbackFor(new URL(url), { code: 'code' });
  return store.complete({ callback, sessionHash: 's', serverByName: () => server });
}

const odd: [name: string, change: Change, scopes?: string[]][] = [
  ['a resource whose scopes are null', { resource: { scopes_supported: null } }, []],
  ['a resource with unused members that are null', { resource: { jwks_uri: null, resource_name: null } }],
  ['metadata with an empty revocation endpoint', { metadata: { revocation_endpoint: '' } }],
  ['metadata without response types', { metadata: { response_types_supported: undefined } }],
  ['metadata whose response types are null', { metadata: { response_types_supported: null } }],
  [
    'metadata with unused members that are null',
    { metadata: { service_documentation: null, grant_types_supported: null } },
  ],
  [
    'metadata with unused members that are empty',
    { metadata: { service_documentation: '', introspection_endpoint: '' } },
  ],
  [
    'metadata with unused members of another type',
    { metadata: { ui_locales_supported: 'en', grant_types_supported: 'x' } },
  ],
  [
    'metadata whose scopes and methods are null',
    { metadata: { scopes_supported: null, token_endpoint_auth_methods_supported: null } },
  ],
  ['metadata with a flag that is null', { metadata: { client_id_metadata_document_supported: null } }],
  [
    'metadata that names one PKCE method in a text',
    { metadata: { code_challenge_methods_supported: 'S256' } },
  ],
  ['OpenID metadata without keys and subject types', { metadataAt: openIdMetadata }],
  [
    'OpenID metadata with policies that are empty',
    { metadataAt: openIdMetadata, metadata: { op_policy_uri: '', op_tos_uri: null } },
  ],
  ['a registration with nothing but client_id', { registration: { redirect_uris: undefined } }],
  [
    'a registration with empty addresses',
    { registration: { client_uri: '', logo_uri: '', tos_uri: '', policy_uri: '', jwks_uri: '' } },
  ],
  [
    'a registration with members that are null',
    {
      registration: {
        client_secret: null,
        client_secret_expires_at: null,
        client_uri: null,
        scope: null,
        contacts: null,
      },
    },
  ],
  ['a registration whose secret is empty', { registration: { client_secret: '' } }],
  ['a registration whose client_id is a number', { registration: { client_id: 17 } }],
  ['tokens without a token type', { tokens: { token_type: undefined } }],
  ['tokens whose type is null', { tokens: { token_type: null } }],
  ['tokens with an empty id token', { tokens: { id_token: '' } }],
  ['tokens whose scope is null', { tokens: { scope: null } }],
  ['tokens whose scope is a list', { tokens: { scope: ['read', 'write'] } }, ['read', 'write']],
  ['tokens whose scopes have commas between them', { tokens: { scope: 'read,write' } }, ['read', 'write']],
  ['tokens with a fraction of a second to live', { tokens: { expires_in: 3599.873214 } }],
  ['tokens whose life is no multiple of three', { tokens: { expires_in: 100 } }],
  ['tokens whose life is a text', { tokens: { expires_in: '3600' } }],
  ['tokens whose life is null', { tokens: { expires_in: null } }],
  ['tokens whose life is no number', { tokens: { expires_in: 'never' } }],
  ['tokens whose life is beyond all numbers', { tokens: { expires_in: 1e300 } }],
];

test.each(odd)('%s', async (_, change, scopes = ['read']) => {
  const made = await setup(change);
  expect(await connect(made)).toMatchObject({ kind: 'connected' });
  expect(await made.storage.connections.get(alice)).toMatchObject({ scopes });
  expect(await made.store.resolve(made.server, alice)).toMatchObject({
    headers: { authorization: 'Bearer first' },
  });
});

const oddRenewals: [name: string, renewed: Document][] = [
  ['members that are null', { refresh_token: null, scope: null, id_token: null, expires_in: null }],
  ['an empty refresh token', { refresh_token: '' }],
  ['no token type', { token_type: undefined }],
  ['a token type that is null', { token_type: null }],
  ['a list of scopes', { scope: ['read'] }],
  ['a fraction of a second to live', { expires_in: 3599.873214 }],
];

test.each(oddRenewals)('a renewal with %s', async (_, renewed) => {
  const { store, server, later, storage, ...rest } = await setup({ renewed });
  await connect({ store, server, later, storage, ...rest });
  later(3_590_000);
  expect(await store.resolve(server, alice)).toMatchObject({ headers: { authorization: 'Bearer second' } });
  expect(await storage.connections.get(alice)).toMatchObject({ scopes: ['read'], status: 'active' });
  later(3_590_000);
  expect(await store.resolve(server, alice)).toMatchObject({ kind: 'credential' });
});

test('a refused renewal whose description is null is a refusal', async () => {
  const made = await setup({
    renewalStatus: 400,
    renewed: { error: 'invalid_grant', error_description: null, error_uri: null },
  });
  await connect(made);
  made.later(3_700_000);
  expect(await made.store.resolve(made.server, alice)).toMatchObject({ reason: 'revoked' });
});

const wrong: [name: string, change: Change, words: string][] = [
  [
    'a resource document',
    { resource: { resource: null }, metadataAt: '/nowhere' },
    '/.well-known/oauth-protected-resource/mcp has no usable "resource"',
  ],
  [
    'metadata',
    { metadata: { token_endpoint: '' } },
    'metadata of its sign-in server has no usable "token_endpoint"',
  ],
  [
    'metadata',
    { metadata: { authorization_endpoint: 'javascript:alert(1)' } },
    'has no usable "authorization_endpoint"',
  ],
  [
    'a registration',
    { registration: { client_id: null } },
    'registration at its sign-in server has no usable "client_id"',
  ],
];

test.each(wrong)('%s without a member that is needed is named with it', async (_, change, words) => {
  const { store, server } = await setup(change);
  const begun = store.begin({ server, key: alice, elicitationId: 'q1', sessionHash: 's' });
  await expect(begun).rejects.toMatchObject({ forOperator: expect.stringContaining(words) });
});

test('a token response without an access token is named', async () => {
  const made = await setup({ tokens: { access_token: null } });
  const reason = 'token endpoint answered HTTP 200 with application/json and without an access token';
  expect(await connect(made)).toMatchObject({ kind: 'failed', reason: expect.stringContaining(reason) });
});
