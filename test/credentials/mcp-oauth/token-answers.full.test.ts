/** What token endpoints answer to a renewal: who is asked, who has to correct something, and what is only away. */
import { describe, expect, test } from 'vitest';
import { readTokenAnswer } from '../../../src/credentials/oauth/tokens.ts';
import type { ServerConfig } from '../../../src/platform/config/config.ts';
import { startProviderDouble } from '../../servers/provider-double.ts';
import type { Answer, ProviderBehaviour } from '../../servers/provider-double.ts';
import { serverConfig } from '../guarded-server.ts';
import { alice, setUpOAuthStore } from '../oauth-store.ts';

const hour = 3_600_000;
const form = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
const json = { 'content-type': 'application/json' };
const page = '<!DOCTYPE html><title>Sign in</title>';

const refusals: [string, Answer][] = [
  [
    '200 with a code of its own',
    { status: 200, body: { error: 'bad_refresh_token', error_description: 'It expired.' } },
  ],
  ['400 with a code of its own', { status: 400, body: { error: 'bad_refresh_token' } }],
  ['400 as a page', { status: 400, body: page }],
  [
    '200 as a form',
    { status: 200, headers: form, body: 'error=bad_refresh_token&error_description=It+expired' },
  ],
  ['400 as a form', { status: 400, headers: form, body: 'error=invalid_grant' }],
  [
    'a form that is called a text',
    { status: 400, headers: { 'content-type': 'text/plain' }, body: 'error=invalid_grant' },
  ],
  ['403 with invalid_grant', { status: 403, body: { error: 'invalid_grant' } }],
  ['401 without a body', { status: 401, body: '' }],
  ['403 as a page', { status: 403, body: page }],
  ['404', { status: 404, body: { message: 'Not Found' } }],
  ['410', { status: 410, body: 'Gone' }],
  ['200 with ok: false', { status: 200, body: { ok: false, error: 'invalid_refresh_token' } }],
  ['an error as an object', { status: 400, body: { error: { code: 'invalid_grant', message: 'no' } } }],
  ['200 with an error as an object', { status: 200, body: { error: { message: 'no' } } }],
  [
    'a code in status',
    { status: 400, body: { status: 'BAD_REFRESH_TOKEN', message: 'missing or invalid refresh token' } },
  ],
  ['a code in errorCode', { status: 400, body: { errorCode: 'invalid_grant', errorSummary: 'no' } }],
  [
    'unauthorized_client about the grant',
    { status: 403, body: { error: 'unauthorized_client', error_description: 'refresh_token is invalid' } },
  ],
  ['interaction_required', { status: 400, body: { error: 'interaction_required' } }],
  ['access_denied', { status: 403, body: { error: 'access_denied' } }],
  ['unsupported_grant_type', { status: 400, body: { error: 'unsupported_grant_type' } }],
  ['500 with invalid_grant', { status: 500, body: { error: 'invalid_grant' } }],
  ['400 as a list', { status: 400, body: [{ error: 'invalid_grant' }] }],
  [
    'an error beside null members',
    { status: 200, body: { access_token: null, refresh_token: null, error: 'invalid_grant' } },
  ],
];

const outages: [string, Answer][] = [
  ['400 with temporarily_unavailable', { status: 400, body: { error: 'temporarily_unavailable' } }],
  ['200 with temporarily_unavailable', { status: 200, body: { error: 'temporarily_unavailable' } }],
  ['400 with slow_down', { status: 400, body: { error: 'slow_down' } }],
  ['400 with server_error', { status: 400, body: { error: 'server_error' } }],
  ['200 as a form with server_error', { status: 200, headers: form, body: 'error=server_error' }],
  ['408', { status: 408, body: '' }],
  ['429', { status: 429, body: { error: 'too_many_requests' } }],
  ['429 with invalid_request', { status: 429, body: { error: 'invalid_request' } }],
  ['500', { status: 500, body: page }],
  ['502 as a page', { status: 502, body: page }],
  ['503', { status: 503, body: '' }],
  ['503 with invalid_client', { status: 503, body: { error: 'invalid_client' } }],
  ['529', { status: 529, body: '' }],
  ['200 with ratelimited', { status: 200, body: { ok: false, error: 'ratelimited' } }],
  ['200 with fatal_error', { status: 200, body: { ok: false, error: 'fatal_error' } }],
  ['an outage as an object', { status: 400, body: { error: { code: 'INTERNAL_ERROR' } } }],
];

const operators: [string, Answer][] = [
  ['401 with invalid_client', { status: 401, body: { error: 'invalid_client' } }],
  ['400 with unauthorized_client', { status: 400, body: { error: 'unauthorized_client' } }],
  ['200 with invalid_client', { status: 200, body: { error: 'invalid_client' } }],
  ['a form with invalid_client', { status: 401, headers: form, body: 'error=invalid_client' }],
  ['200 with incorrect_client_credentials', { status: 200, body: { error: 'incorrect_client_credentials' } }],
  ['200 with bad_client_secret', { status: 200, body: { ok: false, error: 'bad_client_secret' } }],
  ['a client in status', { status: 400, body: { status: 'BAD_CLIENT_ID' } }],
  ['a client in errorCode', { status: 401, body: { errorCode: 'invalid_client' } }],
  [
    'unauthorized_client about grants',
    {
      status: 400,
      body: {
        error: 'unauthorized_client',
        error_description: 'The client may not use the grant refresh_token',
      },
    },
  ],
];

const server = 'https://mcp.tracker.example/mcp';
const signIn = 'https://sign-in.tracker.example';

function behaviour(more: Partial<ProviderBehaviour> = {}): ProviderBehaviour {
  return {
    server,
    resourceDocument: 'https://mcp.tracker.example/.well-known/oauth-protected-resource/mcp',
    names: signIn,
    scopes: ['issues:read'],
    metadataAt: `${signIn}/.well-known/oauth-authorization-server`,
    metadata: { issuer: signIn, code_challenge_methods_supported: ['S256'] },
    authorizationEndpoint: `${signIn}/authorize`,
    tokenEndpoint: `${signIn}/token`,
    clientAuth: 'client_secret_basic',
    clientId: 'interlude',
    clientSecret: 'right',
    lifetimeSeconds: 3600,
    isRotating: true,
    refusal: { status: 400, body: { error: 'invalid_grant' } },
    ...more,
  };
}

async function connected({
  oauth,
  ...more
}: Partial<ProviderBehaviour> & { oauth?: Partial<ServerConfig['oauth']> } = {}) {
  const double = await startProviderDouble(behaviour(more));
  const secret = { value: 'right' };
  const setup = await setUpOAuthStore({ fetch: double.fetch, secret: () => secret.value, browse: double.at });
  const isByHand = double.behaviour.clientId !== undefined;
  const config = serverConfig(server, {
    oauth: {
      issuer: signIn,
      ...(isByHand && { clientId: 'interlude', clientSecretEnv: 'TRACKER_SECRET' }),
      ...oauth,
    },
  });
  expect(await setup.connect(config)).toMatchObject({ kind: 'connected' });
  return {
    ...setup,
    double,
    secret,
    config,
    resolve: () => setup.store.resolve(config, alice),
    status: async () => setup.store.statusOf((await setup.storage.connections.get(alice))!, config),
  };
}

type Setup = Awaited<ReturnType<typeof connected>>;
const failureOf = ({ resolve }: Setup) =>
  resolve().then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a renewal that is refused by', () => {
  test.each(refusals)('%s is asked about once', async (_, answer) => {
    const setup = await connected();
    setup.later(hour);
    setup.double.answerRenewals = answer;
    const asked = { kind: 'connection-required', reason: 'revoked', seenVersion: 1 };
    expect(await setup.resolve()).toMatchObject(asked);
    expect(await setup.status()).toMatchObject({ status: 'broken', reason: 'revoked' });
    expect(await setup.resolve()).toMatchObject(asked);
    expect(setup.double.renewals).toHaveLength(1);
  });
});

describe('a renewal that fails with', () => {
  test.each(outages)('%s is tried again soon, and nobody is asked', async (_, answer) => {
    const setup = await connected();
    setup.later(hour);
    setup.double.answerRenewals = answer;
    expect(await failureOf(setup)).toMatchObject({
      name: 'CredentialStoreError',
      retryAfterMs: 1_000,
      isOperators: false,
      forOperator: expect.stringContaining(`its token endpoint answered HTTP ${answer.status}`),
    });
    expect(await setup.status()).toMatchObject({ status: 'active' });
    setup.double.answerRenewals = null;
    expect(await setup.resolve()).toMatchObject({ kind: 'credential', version: 1 });
  });

  test.each(operators)('%s is for the operator, and nobody is asked', async (_, answer) => {
    const setup = await connected();
    setup.later(hour);
    setup.double.answerRenewals = answer;
    expect(await failureOf(setup)).toMatchObject({
      name: 'CredentialStoreError',
      retryAfterMs: 30_000,
      isOperators: true,
      message: expect.stringContaining('does not accept this service as a client'),
      forOperator: expect.stringContaining(
        'check oauth.clientId and the secret in TRACKER_SECRET of servers.tracker in the agents file',
      ),
    });
    expect(await setup.status()).toMatchObject({ status: 'broken', reason: 'client_refused' });
    setup.double.answerRenewals = null;
    expect(await setup.resolve()).toMatchObject({ kind: 'credential', version: 1 });
    expect(await setup.status()).toMatchObject({ status: 'active' });
  });
});

test('a wrong secret takes no account away: calls wait two minutes for the right one, and later ones go on with it', async () => {
  const setup = await connected();
  setup.later(hour);
  setup.secret.value = 'rotated';
  for (const retryAfterMs of [30_000, 30_000, undefined]) {
    expect(await failureOf(setup)).toMatchObject({ isOperators: true, retryAfterMs });
    setup.later(60_000);
  }
  setup.secret.value = 'right';
  expect(await setup.resolve()).toMatchObject({ kind: 'credential', version: 1 });
});

test('a registration that its sign-in server has lost is replaced when the person connects again', async () => {
  const setup = await connected({
    clientAuth: 'none',
    clientId: undefined,
    registrationEndpoint: `${signIn}/register`,
    metadata: { ...behaviour().metadata, token_endpoint_auth_methods_supported: ['none'] },
  });
  setup.later(hour);
  setup.double.answerRenewals = { status: 401, body: { error: 'invalid_client' } };
  expect(await setup.resolve()).toMatchObject({ kind: 'connection-required', reason: 'revoked' });
  expect(await setup.connect(setup.config)).toMatchObject({ kind: 'connected', version: 2 });
  const [first, second] = setup.double.authorizations.map((params) => params.get('client_id'));
  expect(second).not.toBe(first);
});

test.each([
  ['seconds', '7', 7_000],
  ['longer than a call waits', '3600', undefined],
  ['a date, which is not read', 'Thu, 26 Nov 2026 13:00:00 GMT', 1_000],
])('an outage that says how long it takes, in %s, is waited for as long', async (_, header, expected) => {
  const setup = await connected();
  setup.later(hour);
  setup.double.answerRenewals = { status: 429, body: '', headers: { ...json, 'retry-after': header } };
  expect(await failureOf(setup)).toMatchObject({ retryAfterMs: expected });
});

test.each([
  ['a page', page, 'text/html'],
  ['an empty object', {}, 'application/json'],
])('200 with %s is neither: the operator reads what it was', async (_, body, type) => {
  const setup = await connected();
  setup.later(hour);
  setup.double.answerRenewals = { status: 200, body };
  expect(await failureOf(setup)).toMatchObject({
    retryAfterMs: undefined,
    forOperator: expect.stringContaining(`answered HTTP 200 with ${type} and without an access token`),
  });
  expect(await setup.status()).toMatchObject({ status: 'active' });
});

test('tokens that arrive as a form are tokens', () => {
  const body = 'access_token=abc&scope=repo&token_type=bearer';
  expect(readTokenAnswer({ status: 200, contentType: form['content-type'], retryAfter: null, body })).toEqual(
    { kind: 'tokens', document: { access_token: 'abc', scope: 'repo', token_type: 'bearer' } },
  );
});

test.each([
  ['null', null],
  ['empty', ''],
])('an error that is %s beside tokens is none', (_, error) => {
  const body = JSON.stringify({ access_token: 'abc', token_type: 'bearer', error });
  expect(readTokenAnswer({ status: 200, contentType: null, retryAfter: null, body }).kind).toBe('tokens');
});

describe('the parameter resource', () => {
  const refusing = (code: string) => (params: URLSearchParams) =>
    params.has('resource') && params.get('grant_type') === 'refresh_token'
      ? { status: 400, body: { error: code } }
      : null;

  test.each(['invalid_target', 'invalid_request', 'invalid_scope', 'invalid_resource'])(
    'is left out of a renewal that was refused with %s because of it, once and from then on',
    async (code) => {
      const setup = await connected({ refusesTokens: refusing(code) });
      setup.later(hour);
      expect(await setup.resolve()).toMatchObject({ kind: 'credential' });
      expect(setup.double.renewals.map((params) => params.get('resource'))).toEqual([server, null]);
      setup.later(hour);
      expect(await setup.resolve()).toMatchObject({ kind: 'credential' });
      expect(setup.double.renewals).toHaveLength(3);
    },
  );

  test('has nothing to do with a grant that has ended', async () => {
    const setup = await connected();
    setup.double.withdraw();
    setup.later(hour);
    expect(await setup.resolve()).toMatchObject({ reason: 'revoked' });
    expect(setup.double.renewals).toHaveLength(1);
  });

  test('is not sent at all where the operator says so, also for accounts from before', async () => {
    const setup = await connected();
    const config = { ...setup.config, oauth: { ...setup.config.oauth, resource: false } };
    setup.later(hour);
    expect(await setup.store.resolve(config, alice)).toMatchObject({ kind: 'credential' });
    await setup.connect(config);
    expect(setup.double.renewals.map((params) => params.has('resource'))).toEqual([false]);
    expect(setup.double.authorizations.map((params) => params.has('resource'))).toEqual([true, false]);
  });
});

test('renewals name the scopes of the account where the operator says so', async () => {
  const metadata = { ...behaviour().metadata, scopes_supported: ['issues:read', 'offline_access'] };
  const setup = await connected({ metadata, oauth: { scopeInRenewals: true } });
  setup.later(hour);
  await setup.resolve();
  expect(setup.double.renewals[0]?.get('scope')).toBe('issues:read offline_access');
  const plain = await connected({ metadata });
  plain.later(hour);
  await plain.resolve();
  expect(plain.double.renewals[0]?.has('scope')).toBe(false);
});

test('parameters of the operator are added to the authorization request, and take the place of a prompt of ours', async () => {
  const metadata = { ...behaviour().metadata, scopes_supported: ['issues:read', 'offline_access'] };
  const authorizationParams = { audience: 'https://api.example', prompt: 'select_account' };
  const { double } = await connected({ metadata, oauth: { authorizationParams } });
  const [params] = double.authorizations;
  expect(params?.get('audience')).toBe('https://api.example');
  expect(params?.getAll('prompt')).toEqual(['select_account']);
});

describe('an issuer whose metadata has another slash at its end', () => {
  const slashed = { metadata: { ...behaviour().metadata, issuer: `${signIn}/` } };
  const begin = async (oauth: Partial<ServerConfig['oauth']>) => {
    const double = await startProviderDouble(behaviour(slashed));
    const { store } = await setUpOAuthStore({ fetch: double.fetch, secret: () => 'right' });
    const config = serverConfig(server, { oauth: { ...oauth } });
    return store.begin({ server: config, key: alice, elicitationId: null, sessionHash: 'laptop' });
  };

  test.each([signIn, `${signIn}/`])('is used where the operator has written %s', async (issuer) => {
    expect((await begin({ issuer, clientId: 'interlude' })).url).toContain(`${signIn}/authorize`);
  });

  test('is not trusted otherwise, and the operator reads what to write', async () => {
    await expect(begin({})).rejects.toMatchObject({
      isOperators: true,
      detail: expect.stringContaining(
        `the metadata of ${signIn} says issuer: ${signIn}/; if they are one, write oauth.issuer`,
      ),
    });
  });

  test('is not trusted where more than the slash differs, whatever the operator has written', async () => {
    const double = await startProviderDouble(
      behaviour({ metadata: { ...behaviour().metadata, issuer: `${signIn}/other` } }),
    );
    const { store } = await setUpOAuthStore({ fetch: double.fetch });
    const config = serverConfig(server, { oauth: { issuer: signIn, clientId: 'interlude' } });
    await expect(
      store.begin({ server: config, key: alice, elicitationId: null, sessionHash: 'laptop' }),
    ).rejects.toThrow('names itself differently');
  });
});

describe('a sign-in server whose metadata says nothing of PKCE', () => {
  const begin = async (methods: string[] | undefined, oauth: Partial<ServerConfig['oauth']>) => {
    const metadata = { issuer: signIn, ...(methods && { code_challenge_methods_supported: methods }) };
    const double = await startProviderDouble(behaviour({ metadata }));
    const { store } = await setUpOAuthStore({ fetch: double.fetch, secret: () => 'right' });
    const config = serverConfig(server, { oauth: { issuer: signIn, clientId: 'interlude', ...oauth } });
    return store.begin({ server: config, key: alice, elicitationId: null, sessionHash: 'laptop' });
  };

  test.each([[undefined], [[]]])('is used with PKCE where the operator says so (%j)', async (methods) => {
    const { url } = await begin(methods, { pkce: 'S256' });
    expect(new URL(url).searchParams.get('code_challenge_method')).toBe('S256');
  });

  test('is refused otherwise, and the operator reads what to write', async () => {
    await expect(begin(undefined, {})).rejects.toMatchObject({
      isOperators: true,
      detail: expect.stringContaining('write oauth.pkce: S256'),
    });
  });

  test('is refused where it says that it has another kind, whatever the operator has written', async () => {
    await expect(begin(['plain'], { pkce: 'S256' })).rejects.toMatchObject({
      detail: expect.stringContaining('without S256'),
    });
  });
});

test('a code that is refused because of the client is not to be tried again, and the operator reads what to correct', async () => {
  const double = await startProviderDouble(behaviour());
  const setup = await setUpOAuthStore({ fetch: double.fetch, secret: () => 'wrong', browse: double.at });
  const config = serverConfig(server, {
    oauth: { issuer: signIn, clientId: 'interlude', clientSecretEnv: 'TRACKER_SECRET' },
  });
  expect(await setup.connect(config)).toMatchObject({
    kind: 'failed',
    retry: false,
    reason: expect.stringMatching(
      /does not accept this service as a client \("invalid_client"\).*the secret in TRACKER_SECRET of servers.tracker/,
    ),
  });
});

test.each(['invalid_client', 'unauthorized_client'])(
  'so is %s that comes back from the authorization endpoint',
  async (code) => {
    const double = await startProviderDouble(behaviour({ refusesAuthorization: () => code }));
    const setup = await setUpOAuthStore({ fetch: double.fetch, secret: () => 'right', browse: double.at });
    const config = serverConfig(server, { oauth: { issuer: signIn, clientId: 'interlude' } });
    expect(await setup.connect(config)).toMatchObject({
      kind: 'failed',
      retry: false,
      reason: expect.stringContaining('check oauth.clientId of servers.tracker in the agents file'),
    });
  },
);

test('invalid_target tells the operator which setting leaves the parameter out', async () => {
  const double = await startProviderDouble(behaviour({ refusesAuthorization: () => 'invalid_target' }));
  const setup = await setUpOAuthStore({ fetch: double.fetch, secret: () => 'right', browse: double.at });
  const config = serverConfig(server, { oauth: { issuer: signIn, clientId: 'interlude' } });
  expect(await setup.connect(config)).toMatchObject({
    reason: expect.stringContaining('write oauth.resource: false'),
  });
});
