import { describe, expect, onTestFinished, test } from 'vitest';
import { startAuthorizationServer } from '../authorization-server.ts';
import { alice, setUpOAuthStore } from '../oauth-store.ts';
import { issuerDocument, json, resourceDocument, serverConfig, startServer } from '../guarded-server.ts';

const wellKnown = '/.well-known/oauth-protected-resource';
const missing = { kind: 'connection-required', reason: 'missing' };

/** A body to send as JSON, or a bare status. */
type Reply = object;

/** A server that answers `<method> <path>` from a table, 404 otherwise, and keeps what it was asked. */
async function scripted(replies: (origin: string) => Record<string, Reply>) {
  const asked: string[] = [];
  const origin: string = await startServer((request, response) => {
    const line = `${request.method} ${request.url}`;
    asked.push(line);
    const reply = replies(origin)[line];
    if (reply === undefined) return response.writeHead(404).end();
    if (isBare(reply)) return response.writeHead(reply.status, reply.headers).end();
    return json(response, reply);
  });
  return { asked, origin, config: serverConfig(`${origin}/mcp`) };
}

function isBare(reply: unknown): reply is { status: number; headers: Record<string, string> } {
  return typeof reply === 'object' && reply !== null && 'status' in reply;
}

async function issuerOf(resource = 'http://nothing.example/mcp'): Promise<string> {
  const { issuer, stop } = await startAuthorizationServer({ resource: () => resource });
  onTestFinished(stop);
  return issuer;
}

test("the document beside the server's path is asked first, and no MCP request is made", async () => {
  const issuer = await issuerOf();
  const { asked, config } = await scripted((origin) => ({
    [`GET ${wellKnown}/mcp`]: resourceDocument(`${origin}/mcp`, [issuer]),
  }));
  const { store } = await setUpOAuthStore();
  expect(await store.resolve(config, alice)).toMatchObject({ ...missing, scopes: ['issues:read'] });
  expect(asked).toEqual([`GET ${wellKnown}/mcp`]);
});

test('a server that publishes no scopes is asked once which it names, so that people are asked once', async () => {
  const issuer = await issuerOf();
  const { asked, config } = await scripted((origin) => ({
    [`GET ${wellKnown}/mcp`]: { ...resourceDocument(`${origin}/mcp`, [issuer]), scopes_supported: undefined },
    'POST /mcp': { status: 401, headers: { 'www-authenticate': 'Bearer scope="issues:read issues:write"' } },
  }));
  const { store } = await setUpOAuthStore();
  const named = { ...missing, scopes: ['issues:read', 'issues:write'] };
  expect(await store.resolve(config, alice)).toMatchObject(named);
  expect(await store.resolve(config, alice)).toMatchObject(named);
  expect(asked).toEqual([`GET ${wellKnown}/mcp`, 'POST /mcp']);
});

test('a server that names none either is connected without scopes', async () => {
  const issuer = await issuerOf();
  const { config } = await scripted((origin) => ({
    [`GET ${wellKnown}/mcp`]: { ...resourceDocument(`${origin}/mcp`, [issuer]), scopes_supported: undefined },
    'POST /mcp': { status: 503, headers: {} },
  }));
  const { store } = await setUpOAuthStore();
  expect(await store.resolve(config, alice)).toEqual({ ...missing, seenVersion: 0 });
  const { url } = await store.begin({ server: config, key: alice, elicitationId: null, sessionHash: 's' });
  expect(new URL(url).searchParams.has('scope')).toBe(false);
});

test("the origin's document counts when the path has none", async () => {
  const issuer = await issuerOf();
  const { asked, config } = await scripted((origin) => ({
    [`GET ${wellKnown}`]: resourceDocument(origin, [issuer]),
  }));
  const { store } = await setUpOAuthStore();
  expect(await store.resolve(config, alice)).toMatchObject(missing);
  expect(asked).toEqual([`GET ${wellKnown}/mcp`, `GET ${wellKnown}`]);
});

test('a server that publishes nothing is probed once, and where its 401 points is kept', async () => {
  const issuer = await issuerOf();
  const { asked, config } = await scripted((origin) => ({
    'GET /elsewhere.json': resourceDocument(`${origin}/mcp`, [issuer]),
    'POST /mcp': {
      status: 401,
      headers: { 'www-authenticate': `Bearer resource_metadata="${origin}/elsewhere.json"` },
    },
  }));
  const { store, later } = await setUpOAuthStore();
  expect(await store.resolve(config, alice)).toMatchObject(missing);
  expect(await store.resolve(config, alice)).toMatchObject(missing);
  expect(asked).toEqual([`GET ${wellKnown}/mcp`, `GET ${wellKnown}`, 'POST /mcp', 'GET /elsewhere.json']);
  later(24 * 3_600_000 + 1);
  expect(await store.resolve(config, alice)).toMatchObject(missing);
  expect(asked).toHaveLength(8);
});

test('a server of the first generation is its own authorization server', async () => {
  const { config, origin } = await scripted((own) => ({
    'POST /mcp': { status: 401, headers: { 'www-authenticate': 'Bearer' } },
    'GET /.well-known/oauth-authorization-server': issuerDocument(own),
  }));
  const { store } = await setUpOAuthStore();
  const server = { ...config, oauth: { issuer: origin, clientId: 'by-hand' } };
  expect(await store.resolve(server, alice)).toMatchObject(missing);
  const { url } = await store.begin({ server, key: alice, elicitationId: 'q', sessionHash: 's' });
  expect(new URL(url).searchParams.get('resource')).toBe(config.url);
});

test('a server that lets anybody in needs no credential, and is not probed again', async () => {
  const { asked, config } = await scripted(() => ({ 'POST /mcp': { jsonrpc: '2.0', id: 0, result: {} } }));
  const { store } = await setUpOAuthStore();
  const free = { kind: 'credential', headers: {}, version: 0 };
  expect(await store.resolve(config, alice)).toEqual(free);
  expect(await store.resolve(config, alice)).toEqual(free);
  expect(asked.filter((line) => line === 'POST /mcp')).toHaveLength(1);
});

test('a server that lets anybody look but answers 401 to a call is asked about again', async () => {
  const issuer = await issuerOf();
  const { config, origin } = await scripted((base) => ({
    'POST /mcp': { jsonrpc: '2.0', id: 0, result: {} },
    'GET /elsewhere.json': resourceDocument(`${base}/mcp`, [issuer]),
  }));
  const { store } = await setUpOAuthStore();
  expect(await store.resolve(config, alice)).toMatchObject({ kind: 'credential' });
  const challenge = `Bearer scope="issues:write", resource_metadata="${origin}/elsewhere.json"`;
  expect(await store.reject(config, alice, { version: 0, status: 401, challenge })).toEqual({
    ...missing,
    seenVersion: 0,
    scopes: ['issues:write'],
  });
  expect(await store.resolve(config, alice)).toMatchObject(missing);
});

test('a page that answers every path is not taken for a document', async () => {
  const origin = await startServer((request, response) => {
    if (request.method === 'POST') return json(response, {});
    return response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>');
  });
  const { store } = await setUpOAuthStore();
  expect(await store.resolve(serverConfig(`${origin}/mcp`), alice)).toMatchObject({ kind: 'credential' });
});

test('a document about another resource is not trusted, wherever it was found', async () => {
  const issuer = await issuerOf();
  const { store } = await setUpOAuthStore();
  for (const resource of ['https://other.example/mcp', 'ORIGIN/mcp/deeper', 'ORIGIN/mc']) {
    const published = await scripted((origin) => ({
      [`GET ${wellKnown}/mcp`]: resourceDocument(resource.replace('ORIGIN', origin), [issuer]),
    }));
    await expect(store.resolve(published.config, alice)).rejects.toThrow(/belongs to another address/);
    const pointed = await scripted((origin) => ({
      'POST /mcp': {
        status: 401,
        headers: { 'www-authenticate': `Bearer resource_metadata="${origin}/doc"` },
      },
      'GET /doc': resourceDocument(resource.replace('ORIGIN', origin), [issuer]),
    }));
    await expect(store.resolve(pointed.config, alice)).rejects.toThrow(/belongs to another address/);
  }
});

test('an OpenID provider is found where OpenID keeps its document', async () => {
  const issuer = await scripted((origin) => ({
    'GET /tenant/.well-known/openid-configuration': issuerDocument(`${origin}/tenant`, {
      jwks_uri: `${origin}/jwks`,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    }),
  }));
  const { config } = await scripted((origin) => ({
    [`GET ${wellKnown}/mcp`]: resourceDocument(`${origin}/mcp`, [`${issuer.origin}/tenant`]),
  }));
  const { store } = await setUpOAuthStore();
  expect(await store.resolve(config, alice)).toMatchObject(missing);
  expect(issuer.asked).toEqual([
    'GET /.well-known/oauth-authorization-server/tenant',
    'GET /.well-known/openid-configuration/tenant',
    'GET /tenant/.well-known/openid-configuration',
  ]);
});

test.each([
  ['names another issuer', { issuer: 'https://other.example' }, /names itself differently/],
  ['offers no PKCE', { code_challenge_methods_supported: undefined }, /does not offer PKCE with S256/],
  [
    'offers plain PKCE only',
    { code_challenge_methods_supported: ['plain'] },
    /does not offer PKCE with S256/,
  ],
  ['sends people to a script', { authorization_endpoint: 'javascript:alert(1)' }, /sign-in/],
  ['sends people to a file', { authorization_endpoint: 'file:///etc/passwd' }, /sign-in/],
])('a sign-in server that %s is not used', async (_, fault, words) => {
  const issuer = await scripted((origin) => ({
    'GET /.well-known/oauth-authorization-server': issuerDocument(origin, fault),
  }));
  const { config } = await scripted((origin) => ({
    [`GET ${wellKnown}/mcp`]: resourceDocument(`${origin}/mcp`, [issuer.origin]),
  }));
  const { store } = await setUpOAuthStore();
  await expect(store.resolve(config, alice)).rejects.toMatchObject({
    name: 'CredentialStoreError',
    message: expect.stringMatching(words),
  });
});

interface Page {
  status?: number;
  type?: string;
  body: string;
}
const appPage: Page = { type: 'text/html', body: '<!doctype html><html><body>The app</body></html>' };
const outOfOrder: Page = { status: 500, body: 'oops' };
const brokenPages: [string, Page][] = [
  ["an app's HTML page", appPage],
  ['a page that says it is JSON', { ...appPage, type: 'application/json' }],
  ['a page of more than a megabyte', { type: 'text/html', body: '<p>'.repeat(500_000) }],
  ['a 500', outOfOrder],
  ['a 503', { ...outOfOrder, status: 503 }],
  ['a text', { type: 'text/plain', body: 'nothing here' }],
  ['JSON about something else', { type: 'application/json', body: '{"error":"not found"}' }],
  ['null', { type: 'application/json', body: 'null' }],
  ['nothing', { type: 'application/json', body: '' }],
];

/** Answers these paths with these pages, and all else from `replies`. */
async function withPages(pages: Record<string, Page>, replies: (origin: string) => Record<string, Reply>) {
  const origin: string = await startServer((request, response) => {
    const page = pages[request.url ?? ''];
    if (page)
      return response
        .writeHead(page.status ?? 200, { 'content-type': page.type ?? 'text/plain' })
        .end(page.body);
    const reply = replies(origin)[`${request.method} ${request.url}`];
    if (reply === undefined) return response.writeHead(404).end();
    return isBare(reply) ? response.writeHead(reply.status, reply.headers).end() : json(response, reply);
  });
  return { origin, config: serverConfig(`${origin}/mcp`) };
}

describe.each(brokenPages)('where a document should be, there is %s:', (_, page) => {
  test("the next place of a sign-in server's metadata is asked", async () => {
    const issuer = await withPages({ '/.well-known/oauth-authorization-server': page }, (origin) => ({
      'GET /.well-known/openid-configuration': issuerDocument(origin, {
        jwks_uri: `${origin}/jwks`,
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      }),
    }));
    const { config } = await scripted((origin) => ({
      [`GET ${wellKnown}/mcp`]: resourceDocument(`${origin}/mcp`, [issuer.origin]),
    }));
    const { store } = await setUpOAuthStore();
    expect(await store.resolve(config, alice)).toMatchObject(missing);
  });

  test("the next place of a server's document is asked", async () => {
    const issuer = await issuerOf();
    const { config } = await withPages({ [`${wellKnown}/mcp`]: page }, (origin) => ({
      [`GET ${wellKnown}`]: resourceDocument(origin, [issuer]),
    }));
    const { store } = await setUpOAuthStore();
    expect(await store.resolve(config, alice)).toMatchObject(missing);
  });

  test('the 401 of the server is asked last', async () => {
    const issuer = await issuerOf();
    const { config } = await withPages({ [`${wellKnown}/mcp`]: page, [wellKnown]: page }, (origin) => ({
      'POST /mcp': {
        status: 401,
        headers: { 'www-authenticate': `Bearer resource_metadata="${origin}/doc"` },
      },
      'GET /doc': resourceDocument(`${origin}/mcp`, [issuer]),
    }));
    const { store } = await setUpOAuthStore();
    expect(await store.resolve(config, alice)).toMatchObject(missing);
  });
});

test('a document that is sent as text counts, if it is one', async () => {
  const issuer = await issuerOf();
  const origin: string = await startServer((request, response) => {
    if (request.url !== `${wellKnown}/mcp`) return response.writeHead(404).end();
    const body = JSON.stringify(resourceDocument(`${origin}/mcp`, [issuer]));
    return response.writeHead(200, { 'content-type': 'text/plain' }).end(body);
  });
  const { store } = await setUpOAuthStore();
  expect(await store.resolve(serverConfig(`${origin}/mcp`), alice)).toMatchObject(missing);
});

test('the operator reads which documents are broken, and what is wrong with them', async () => {
  const issuer = await withPages(
    { '/.well-known/oauth-authorization-server': appPage, '/.well-known/openid-configuration': outOfOrder },
    () => ({}),
  );
  const { origin, config } = await withPages({ [`${wellKnown}/mcp`]: outOfOrder }, (own) => ({
    [`GET ${wellKnown}`]: resourceDocument(own, [issuer.origin]),
  }));
  const { store } = await setUpOAuthStore();
  await expect(store.resolve(config, alice)).rejects.toMatchObject({
    message: expect.stringMatching(/cannot be reached or gives no usable answer; try again later/),
    detail:
      `${origin}${wellKnown}/mcp answers with 500; the metadata of its sign-in server: ` +
      `${issuer.origin}/.well-known/oauth-authorization-server is a page and no JSON; ` +
      `${issuer.origin}/.well-known/openid-configuration answers with 500`,
  });
});

test('what was known yesterday counts while the documents of a server are broken', async () => {
  const issuer = await issuerOf();
  let broken = false;
  const origin: string = await startServer((request, response) => {
    if (request.method === 'POST') return json(response, {});
    if (broken) return response.writeHead(500).end();
    return json(response, resourceDocument(`${origin}/mcp`, [issuer]));
  });
  const { store, later } = await setUpOAuthStore();
  const config = serverConfig(`${origin}/mcp`);
  await store.resolve(config, alice);
  broken = true;
  later(25 * 3_600_000);
  expect(await store.resolve(config, alice)).toMatchObject(missing);
});

test('the second sign-in server is used when the first is away', async () => {
  const issuer = await issuerOf();
  const { config } = await scripted((origin) => ({
    [`GET ${wellKnown}/mcp`]: resourceDocument(`${origin}/mcp`, ['http://127.0.0.1:1', issuer]),
  }));
  const { store } = await setUpOAuthStore();
  expect(await store.resolve(config, alice)).toMatchObject(missing);
});

test('a server that is away is an outage with its name, and nobody is asked to connect', async () => {
  const { store } = await setUpOAuthStore();
  await expect(
    store.resolve(serverConfig('http://127.0.0.1:1/mcp?token=secret'), alice),
  ).rejects.toMatchObject({
    name: 'CredentialStoreError',
    message: 'Tracker (127.0.0.1:1): cannot be reached; try again later.',
  });
});

test('what was known yesterday is used while the server is away', async () => {
  const issuer = await issuerOf();
  let down = false;
  const origin: string = await startServer((_, response) => {
    if (down) return response.destroy();
    return json(response, resourceDocument(`${origin}/mcp`, [issuer]));
  });
  const { store, later } = await setUpOAuthStore();
  const config = serverConfig(`${origin}/mcp`);
  await store.resolve(config, alice);
  down = true;
  later(25 * 3_600_000);
  expect(await store.resolve(config, alice)).toMatchObject(missing);
});
