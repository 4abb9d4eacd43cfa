/** A server on the internet whose documents lead into the network we run in: nothing there is ever connected to. */
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { allowsAddress } from '../../../src/platform/network/addresses.ts';
import { createGuardedAgent } from '../../../src/platform/network/guarded-agent.ts';
import type { Reach } from '../../../src/platform/network/addresses.ts';
import { alice, setUpOAuthStore } from '../oauth-store.ts';
import { issuerDocument, json, serverConfig } from '../guarded-server.ts';
import { callbackFor } from '../redirects.ts';

/** Stands for an address of the internet. */
const outside = '127.0.0.9';

async function listening(server: Server, address: string): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Something in our network that must not be reached; `port` is open, `closed` is not. */
async function innerService() {
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections++;
    socket.destroy();
  });
  const port = await listening(server, '127.0.0.1');
  const gone = createTcpServer();
  const closed = await listening(gone, '127.0.0.1');
  await new Promise((resolve) => gone.close(resolve));
  return { port, closed, connections: () => connections };
}

type Answer = (url: string, ...exchange: Parameters<RequestListener>) => unknown;

/** `names` may change between two look-ups, as its owner likes. */
async function attackedBy(answer: (origin: string) => Answer, ownName = 'mcp.attacker.example') {
  const inner = await innerService();
  const names: Record<string, string> = {
    [ownName]: outside,
    'inner.attacker.example': '127.0.0.1',
    'mapped.attacker.example': '::ffff:127.0.0.1',
    'cloud.attacker.example': '169.254.169.254',
  };
  const server = createServer((request, response) => {
    request.resume();
    void answer(origin)(request.url ?? '', request, response);
  });
  const port = await listening(server, outside);
  const origin = `http://${ownName}:${port}`;
  const resolve: NonNullable<Parameters<typeof createGuardedAgent>[1]>['resolve'] = (name, _, callback) => {
    const address = names[name];
    if (address === undefined) return callback(new Error(`no such name: ${name}`), []);
    return callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
  };
  const agentOf = (reach: Reach) =>
    createGuardedAgent(reach, {
      resolve,
      allows: (address, to) => address === outside || allowsAddress(address, to),
    });
  const setup = await setUpOAuthStore({ agentOf });
  const config = serverConfig(`${origin}/mcp`, { local: false });
  const message = (promise: Promise<unknown>) =>
    promise.then(
      () => 'fulfilled',
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
  return { ...setup, inner, names, origin, config, message };
}

const metadata = (origin: string, more: Record<string, unknown>) =>
  issuerDocument(origin, {
    registration_endpoint: `${origin}/register`,
    revocation_endpoint: `${origin}/revoke`,
    ...more,
  });

/** Its own sign-in server, with these words of its metadata replaced. */
const signIn =
  (more: (origin: string) => Record<string, unknown>) =>
  (origin: string): Answer =>
  (url, _, response) => {
    if (url.startsWith('/.well-known/oauth-protected-resource'))
      return json(response, { resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (url.startsWith('/.well-known/oauth-authorization-server'))
      return json(response, metadata(origin, more(origin)));
    if (url === '/register')
      return json(response, { client_id: 'c', redirect_uris: ['http://x.example/'] }, 201);
    if (url === '/token')
      return json(response, {
        access_token: 'a',
        refresh_token: 'r',
        token_type: 'bearer',
        expires_in: 3600,
      });
    return response.writeHead(404).end();
  };

const oneWording = 'its sign-in server cannot be reached or gives no usable answer; try again later.';
const inside = (port: number) => [
  `https://127.0.0.1:${port}`,
  `https://[::ffff:127.0.0.1]:${port}`,
  `https://inner.attacker.example:${port}`,
  `https://mapped.attacker.example:${port}`,
];

test('sign-in servers that it names in our network are not asked, and in the same words whatever is there', async () => {
  let named = '';
  const { store, inner, config, message } = await attackedBy(
    (origin) => (url, _, response) =>
      url.startsWith('/.well-known/oauth-protected-resource')
        ? json(response, { resource: `${origin}/mcp`, authorization_servers: [named] })
        : response.writeHead(404).end(),
  );
  const said = new Set<string>();
  for (named of [
    ...inside(inner.port),
    ...inside(inner.closed),
    'https://169.254.169.254',
    'https://cloud.attacker.example',
    'https://no-such-name.example',
  ])
    said.add(await message(store.resolve(config, alice)));
  expect([...said]).toEqual([expect.stringContaining(oneWording)]);
  named = `http://127.0.0.1:${inner.port}`;
  expect(await message(store.resolve(config, alice))).toContain('is not reached by https');
  expect(inner.connections()).toBe(0);
});

test('the operator is told what was refused and what to write if it is meant', async () => {
  const { store, config, inner } = await attackedBy(
    (origin) => (_, __, response) =>
      json(response, {
        resource: `${origin}/mcp`,
        authorization_servers: [`https://inner.attacker.example:${inner.port}`],
      }),
  );
  await expect(store.resolve(config, alice)).rejects.toMatchObject({
    message: expect.not.stringContaining('inner.attacker.example'),
    forOperator: expect.stringMatching(/inner\.attacker\.example:\d+ is not at .*write local: true/),
  });
});

test('a document that its 401 points to, and a redirect, lead nowhere', async () => {
  const attack = await attackedBy((origin) => (url, _, response) => {
    const target = `https://inner.attacker.example:${attack.inner.port}/doc`;
    if (url === '/mcp')
      return response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${target}"` }).end();
    if (url === '/.well-known/oauth-protected-resource/mcp')
      return response.writeHead(302, { location: `http://127.0.0.1:${attack.inner.port}/` }).end();
    return response.writeHead(404).end(origin);
  });
  expect(await attack.message(attack.store.resolve(attack.config, alice))).toContain(oneWording);
  expect(attack.inner.connections()).toBe(0);
});

const endpoints = [
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
];

test.each(endpoints)('its %s is no address of our network', async (endpoint) => {
  let named = '';
  const { store, inner, config, message } = await attackedBy(signIn(() => ({ [endpoint]: named })));
  for (named of [`https://127.0.0.1:${inner.port}/`, 'https://169.254.169.254/latest/']) {
    expect(await message(store.resolve(config, alice))).toContain(oneWording);
  }
  expect(inner.connections()).toBe(0);
});

test('nothing is registered at, and no code or token goes to, a name that is an address of our network', async () => {
  let bad = '';
  const { store, inner, config, message, later } = await attackedBy(
    signIn(() => (bad === '' ? {} : { [bad]: `https://inner.attacker.example:${inner.port}/` })),
    // Without https, only this name gets as far as to a token.
    'localhost',
  );
  const begin = () => store.begin({ server: config, key: alice, elicitationId: null, sessionHash: 's' });
  const comeBack = async () => {
    const callback = callbackFor(new URL((await begin()).url), { code: 'c' });
    return store.complete({ callback, sessionHash: 's', serverByName: () => config });
  };
  bad = 'registration_endpoint';
  expect(await message(begin())).toContain(oneWording);
  later(25 * 3_600_000);
  bad = 'token_endpoint';
  expect(await comeBack()).toMatchObject({ kind: 'failed', reason: expect.stringContaining(oneWording) });
  later(25 * 3_600_000);
  bad = '';
  expect(await comeBack()).toMatchObject({ kind: 'connected' });
  bad = 'token_endpoint';
  later(25 * 3_600_000);
  expect(await message(store.resolve(config, alice))).toContain(oneWording);
  bad = 'revocation_endpoint';
  expect(await store.disconnect(alice, config)).toMatchObject({ revocation: { kind: 'failed' } });
  expect(inner.connections()).toBe(0);
});

test('a server that moves its own name into our network is not followed there', async () => {
  const { store, inner, config, names, message, later } = await attackedBy(signIn(() => ({})));
  expect(await store.resolve(config, alice)).toMatchObject({ reason: 'missing' });
  names['mcp.attacker.example'] = '127.0.0.1';
  const moved = { ...config, url: `http://mcp.attacker.example:${inner.port}/mcp` };
  expect(await message(store.resolve(moved, alice))).toContain(oneWording);
  later(25 * 3_600_000);
  await store.resolve(config, alice).catch(() => undefined);
  expect(inner.connections()).toBe(0);
});

test('of a server that the operator calls local, the same addresses are asked', async () => {
  let named = '';
  const { store, inner, config, message } = await attackedBy(
    signIn(() => ({ registration_endpoint: named })),
  );
  named = `http://inner.attacker.example:${inner.port}/`;
  const begin = store.begin({
    server: { ...config, local: true },
    key: alice,
    elicitationId: null,
    sessionHash: 's',
  });
  expect(await message(begin)).toContain(oneWording);
  expect(inner.connections()).toBe(1);
});
