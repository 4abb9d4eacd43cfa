import { expect, test } from 'vitest';
import { clientMetadata, issuerTag } from '../../../src/credentials/mcp-oauth/client-metadata.ts';
import { alice, setUpOAuthStore } from '../oauth-store.ts';
import { startGuardedServer } from '../guarded-server.ts';
import { callbackFor } from '../redirects.ts';

test('a client that was registered by hand comes first, with its secret from the environment', async () => {
  const { config, authorization } = await startGuardedServer({
    clients: [
      {
        client_id: 'by-hand',
        client_secret: 'kept in the environment',
        redirect_uris: ['https://interlude.example/auth/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    fetchDocument: () => Response.json({}),
  });
  const server = {
    ...config,
    oauth: {
      issuer: authorization.issuer,
      clientId: 'by-hand',
      clientSecretEnv: 'TRACKER_SECRET',
      scopes: ['issues:write'],
    },
  };
  const secret = (name: string) => (name === 'TRACKER_SECRET' ? 'kept in the environment' : undefined);
  const setup = await setUpOAuthStore({ publicUrl: 'https://interlude.example', secret });
  expect(await setup.store.resolve(server, alice)).toMatchObject({
    reason: 'missing',
    scopes: ['issues:write'],
  });
  expect(await setup.connect(server)).toMatchObject({ kind: 'connected' });
  expect(authorization.registrations).toEqual([]);
  expect(authorization.authorizations.at(-1)?.get('scope')).toBe('issues:write offline_access');
});

test('a wrong secret is the operator’s to mend: the person is not told to try again', async () => {
  const { config, authorization } = await startGuardedServer({
    clients: [
      {
        client_id: 'by-hand',
        client_secret: 'right',
        redirect_uris: ['http://127.0.0.1:3000/auth/callback'],
      },
    ],
  });
  const server = {
    ...config,
    oauth: { issuer: authorization.issuer, clientId: 'by-hand', clientSecretEnv: 'S' },
  };
  const setup = await setUpOAuthStore({ secret: () => 'wrong' });
  expect(await setup.connect(server)).toMatchObject({
    kind: 'failed',
    retry: false,
    trouble: { code: 'client_not_accepted', error: 'invalid_client' },
    reason: expect.stringMatching(
      /^Tracker \(.*\): .* does not accept this service as a client \("invalid_client"\).*the secret in S of servers.tracker in the agents file/,
    ),
  });
});

test('our metadata document is the client where the server takes it and our address is https', async () => {
  const publicUrl = 'https://interlude.example';
  const fetched: string[] = [];
  const fetchDocument = (url: string) => {
    fetched.push(url);
    return Response.json(clientMetadata(publicUrl, issuerTag(authorization.issuer)));
  };
  const { config, authorization } = await startGuardedServer({ fetchDocument });
  const setup = await setUpOAuthStore({ publicUrl });
  expect(await setup.connect(config)).toMatchObject({ kind: 'connected' });
  expect(fetched).toEqual([`https://interlude.example/auth/client/${issuerTag(authorization.issuer)}.json`]);
  expect(authorization.registrations).toEqual([]);

  const local = await setUpOAuthStore();
  expect(await local.connect(config)).toMatchObject({ kind: 'connected' });
  expect(authorization.registrations).toHaveLength(1);
});

test('elsewhere we register once, and say what we are', async () => {
  const { config, authorization } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  await setup.connect(config);
  await setup.connect(config);
  expect(authorization.registrations).toEqual([
    expect.objectContaining({
      client_name: 'Interlude',
      redirect_uris: [`http://127.0.0.1:3000/auth/callback/${issuerTag(authorization.issuer)}`],
      grant_types: ['authorization_code', 'refresh_token'],
      application_type: 'native',
    }),
  ]);
  expect(authorization.registrations[0]).not.toHaveProperty('client_id');
});

test('when a server has lost our registration, the next attempt is a new client', async () => {
  const { config, authorization } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  await setup.connect(config);
  const { client_id: lost } = Object.fromEntries(authorization.authorizations.at(-1) ?? []);
  await authorization.lose('Client', lost ?? '');

  await expect(setup.connect(config)).rejects.toThrow(/stuck with 400/);
  setup.later(120_001);
  expect(await setup.connect(config)).toMatchObject({ kind: 'connected', version: 2 });
  expect(authorization.registrations).toHaveLength(2);
});

test('a registration that is refused at the exchange is forgotten at once', async () => {
  const { config, authorization } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  const { url } = await setup.store.begin({
    server: config,
    key: alice,
    elicitationId: 'q1',
    sessionHash: 'laptop',
  });
  await authorization.lose('Client', new URL(url).searchParams.get('client_id') ?? '');
  const callback = callbackFor(new URL(url), { code: 'any', iss: authorization.issuer });
  expect(
    await setup.store.complete({ callback, sessionHash: 'laptop', serverByName: () => config }),
  ).toMatchObject({
    kind: 'failed',
    retry: true,
  });
  expect(await setup.connect(config)).toMatchObject({ kind: 'connected' });
});

test('a server without any way to register says what the operator has to do', async () => {
  const { config, authorization } = await startGuardedServer({ registration: false });
  const redirect = `http://127.0.0.1:3000/auth/callback/${issuerTag(authorization.issuer)}`;
  const setup = await setUpOAuthStore();
  await expect(setup.connect(config)).rejects.toMatchObject({
    name: 'CredentialStoreError',
    message: expect.stringMatching(/does not let us register ourselves, so the operator .* has to do it\.$/),
    forOperator: expect.stringContaining(
      `register a client there with the redirect ${redirect} and put its id under oauth.clientId`,
    ),
  });
});
