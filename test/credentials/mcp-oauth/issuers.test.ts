/** Which sign-in server a server may send people to: what the operator wrote, or else the first that was seen. */
import { expect, onTestFinished, test } from 'vitest';
import type { ServerConfig } from '../../../src/platform/config/config.ts';
import { createRecords } from '../../../src/credentials/mcp-oauth/records.ts';
import { startAuthorizationServer } from '../authorization-server.ts';
import type { AuthorizationServer } from '../authorization-server.ts';
import { alice, setUpOAuthStore, publicUrl } from '../oauth-store.ts';
import {
  issuerDocument,
  json,
  resourceDocument,
  serverConfig,
  startGuardedServer,
  startServer,
} from '../guarded-server.ts';
import { followRedirects } from '../redirects.ts';

const day = 24 * 3_600_000 + 1;
const missing = { kind: 'connection-required', reason: 'missing' };

/** Counts what it is asked: somebody who would like to have a code, a secret or a token. */
async function thief() {
  const asked: string[] = [];
  const issuer: string = await startServer((request, response) => {
    asked.push(request.url ?? '');
    return json(response, issuerDocument(issuer, { registration_endpoint: `${issuer}/register` }));
  });
  return { issuer, asked };
}

/** A server that names whatever the test has it name. */
async function naming(name: string, issuers: string[]): Promise<{ config: ServerConfig; issuers: string[] }> {
  const server = { issuers };
  const origin: string = await startServer((_, response) =>
    json(response, resourceDocument(`${origin}/mcp`, server.issuers)),
  );
  return Object.assign(server, { config: serverConfig(`${origin}/mcp`, { name, title: name }) });
}

async function honestIssuer(): Promise<AuthorizationServer> {
  const authorization = await startAuthorizationServer({ resource: () => 'http://nothing.example/mcp' });
  onTestFinished(() => authorization.stop());
  return authorization;
}

const mapOf = (...servers: ServerConfig[]) => new Map(servers.map((server) => [server.name, server]));

test('a server that names another sign-in server than before sends nobody there, and the operator is told what to write', async () => {
  const { issuer } = await honestIssuer();
  const other = await thief();
  const tracker = await naming('tracker', [issuer]);
  const { store, later } = await setUpOAuthStore();
  expect(await store.resolve(tracker.config, alice)).toMatchObject(missing);
  tracker.issuers = [other.issuer];
  later(day);
  const refused = {
    name: 'IssuerNotAgreed',
    message: expect.stringMatching(
      /has another sign-in server than before, and nobody is sent there until the operator .* agreed\.$/,
    ),
    forOperator: expect.stringContaining(
      `it names ${other.issuer}, and was first used with ${issuer}; ` +
        `if that is right, write oauth.issuer: ${other.issuer} for servers.tracker in the agents file`,
    ),
  };
  const begin = (server: ServerConfig) =>
    store.begin({ server, key: alice, elicitationId: null, sessionHash: 's' });
  await expect(store.resolve(tracker.config, alice)).rejects.toMatchObject(refused);
  await expect(begin(tracker.config)).rejects.toMatchObject(refused);
  const challenge = { version: 0, status: 401 as const, challenge: null };
  await expect(store.reject(tracker.config, alice, challenge)).rejects.toMatchObject(refused);
  expect(other.asked).toEqual([]);

  // What the operator writes is what counts, and stays when it is taken out again.
  const agreed = { ...tracker.config, oauth: { issuer: other.issuer } };
  expect(await store.resolve(agreed, alice)).toMatchObject(missing);
  expect(await store.resolve(tracker.config, alice)).toMatchObject(missing);
  tracker.issuers = [issuer];
  later(day);
  await expect(store.resolve(tracker.config, alice)).rejects.toThrow(/another sign-in server/);
});

test('what was known before first ones were remembered counts as the first', async () => {
  const { issuer } = await honestIssuer();
  const other = await thief();
  const tracker = await naming('tracker', [issuer]);
  const { store, later, storage, keys } = await setUpOAuthStore();
  await store.resolve(tracker.config, alice);
  await createRecords(storage.oauth, keys).forget(`issuer:${tracker.config.url}`);
  await store.resolve(tracker.config, alice);
  tracker.issuers = [other.issuer];
  later(day);
  await expect(store.resolve(tracker.config, alice)).rejects.toMatchObject({ name: 'IssuerNotAgreed' });
});

test('a server that stops saying which one does not become its own sign-in server', async () => {
  const { issuer } = await honestIssuer();
  const tracker = await naming('tracker', [issuer]);
  const { store, later } = await setUpOAuthStore();
  await store.resolve(tracker.config, alice);
  tracker.issuers = [];
  later(day);
  await expect(store.resolve(tracker.config, alice)).rejects.toMatchObject({ name: 'IssuerNotAgreed' });
});

test('a secret in the configuration goes to the sign-in server it was written for, whatever the server names', async () => {
  const guarded = await startGuardedServer({
    clients: [
      {
        client_id: 'by-hand',
        client_secret: 'kept in the environment',
        redirect_uris: [`${publicUrl}/auth/callback`],
        grant_types: ['authorization_code', 'refresh_token'],
        application_type: 'native',
      },
    ],
  });
  const { authorization } = guarded;
  const other = await thief();
  const { issuer } = authorization;
  const server = { ...guarded.config, oauth: { issuer, clientId: 'by-hand', clientSecretEnv: 'S' } };
  const setup = await setUpOAuthStore({ secret: () => 'kept in the environment' });
  expect(await setup.connect(server)).toMatchObject({ kind: 'connected' });

  authorization.issuer = other.issuer;
  setup.later(day);
  const begin = () => setup.store.begin({ server, key: alice, elicitationId: null, sessionHash: 's' });
  await expect(begin()).rejects.toMatchObject({
    message: expect.stringContaining('another sign-in server than the operator of this service has written'),
  });
  // The account goes on where it is.
  expect(await setup.store.resolve(server, alice)).toMatchObject({ kind: 'credential', version: 1 });
  expect(other.asked).toEqual([]);

  // An operator who writes another issuer takes the client away from the old one, also from who is on the way.
  const moved = { ...server, oauth: { ...server.oauth, issuer: other.issuer } };
  authorization.issuer = issuer;
  const callback = await followRedirects((await begin()).url, `${publicUrl}/auth/callback`);
  const before = authorization.tokenRequests.length;
  expect(await setup.store.complete({ callback, sessionHash: 's', serverByName: () => moved })).toMatchObject(
    { kind: 'failed', reason: expect.stringContaining('its client was removed') },
  );
  expect(authorization.tokenRequests).toHaveLength(before);
  authorization.issuer = other.issuer;
  setup.later(day);
  expect(await setup.store.resolve(moved, alice)).toMatchObject({ reason: 'revoked' });
  expect(other.asked).not.toContain('/token');
});

test('of several that a server names, the one the operator wrote is used', async () => {
  const { issuer } = await honestIssuer();
  const other = await thief();
  const tracker = await naming('tracker', [other.issuer, `${issuer}/`]);
  const { store } = await setUpOAuthStore();
  const server = { ...tracker.config, oauth: { issuer } };
  expect(await store.resolve(server, alice)).toMatchObject(missing);
  expect(other.asked).toEqual([]);
});

test('what the operator writes counts at once', async () => {
  const [one, two] = [await honestIssuer(), await honestIssuer()];
  const tracker = await naming('tracker', [one.issuer, two.issuer]);
  const { store } = await setUpOAuthStore();
  expect(await store.resolve(tracker.config, alice)).toMatchObject(missing);
  const server = { ...tracker.config, oauth: { issuer: two.issuer } };
  const { url } = await store.begin({ server, key: alice, elicitationId: null, sessionHash: 's' });
  expect(new URL(url).origin).toBe(two.issuer);
});

test('a server that names the sign-in server of another one is refused, unless the operator wrote it', async () => {
  const { issuer, registrations } = await honestIssuer();
  const tracker = await naming('tracker', [issuer]);
  const evil = await naming('evil', [issuer]);
  const { store } = await setUpOAuthStore({ servers: mapOf(tracker.config, evil.config) });
  expect(await store.resolve(tracker.config, alice)).toMatchObject(missing);
  await expect(store.resolve(evil.config, alice)).rejects.toMatchObject({
    name: 'IssuerNotAgreed',
    message: expect.stringContaining('names the sign-in server of another server'),
    forOperator: expect.stringContaining(
      `${issuer} is the one of servers.tracker; if it is this one's, too, write oauth.issuer: ${issuer} for servers.evil`,
    ),
  });

  const agreed = { ...evil.config, oauth: { issuer } };
  expect(await store.resolve(agreed, alice)).toMatchObject(missing);
  // Neither has a part in the client of the other.
  const begin = (server: ServerConfig) =>
    store.begin({ server, key: alice, elicitationId: null, sessionHash: 's' });
  const clients = [await begin(tracker.config), await begin(agreed), await begin(tracker.config)].map(
    ({ url }) => new URL(url).searchParams.get('client_id'),
  );
  expect(registrations).toHaveLength(2);
  expect(clients[0]).toBe(clients[2]);
  expect(clients[0]).not.toBe(clients[1]);
});

test('who came first has no advantage over what the operator writes', async () => {
  const { issuer } = await honestIssuer();
  const tracker = await naming('tracker', [issuer]);
  const evil = await naming('evil', [issuer]);
  const { store, another } = await setUpOAuthStore({ servers: mapOf(tracker.config, evil.config) });
  expect(await store.resolve(evil.config, alice)).toMatchObject(missing);
  await expect(store.resolve(tracker.config, alice)).rejects.toThrow(/sign-in server of another server/);

  const pinned = { ...tracker.config, oauth: { issuer } };
  const later = another({ servers: mapOf(pinned, evil.config) });
  expect(await later.resolve(pinned, alice)).toMatchObject(missing);
  await expect(later.resolve(evil.config, alice)).rejects.toThrow(/sign-in server of another server/);
});

test('servers of one origin share their sign-in server without a word', async () => {
  const { issuer } = await honestIssuer();
  const origin: string = await startServer((request, response) => {
    const path = (request.url ?? '').replace('/.well-known/oauth-protected-resource', '');
    return json(response, resourceDocument(`${origin}${path}`, [issuer]));
  });
  const one = serverConfig(`${origin}/one`, { name: 'one' });
  const two = serverConfig(`${origin}/two`, { name: 'two' });
  const { store } = await setUpOAuthStore({ servers: mapOf(one, two) });
  for (const server of [one, two]) expect(await store.resolve(server, alice)).toMatchObject(missing);
});

test('a client registered before is not used any more: a new one is, and accounts stay with the old', async () => {
  const { config, authorization } = await startGuardedServer();
  const setup = await setUpOAuthStore();
  const records = createRecords(setup.storage.oauth, setup.keys);
  const { issuer } = authorization;
  const before = { registration: { client_id: 'from before' }, awayFrom: null };
  await records.remember(`client:${issuer} ${publicUrl}/auth/callback`, before);
  expect(await setup.connect(config)).toMatchObject({ kind: 'connected' });
  expect(authorization.authorizations.at(-1)?.get('client_id')).not.toBe('from before');
  expect(authorization.registrations).toHaveLength(1);
  setup.later(day);
  expect(await setup.store.resolve(config, alice)).toMatchObject({ kind: 'credential', version: 1 });
  expect(authorization.registrations).toHaveLength(1);
});
