/**
 * Two sign-in servers, one of them malicious (RFC 9700 §4.4): its page passes the person on to the honest one, which
 * does not name itself in its answers, to have us hand the code it gives to the wrong one.
 */
import { expect, test } from 'vitest';
import type { ServerConfig } from '../../../src/platform/config/config.ts';
import {
  clientMetadata,
  issuerTag,
  redirectUri,
} from '../../../src/credentials/mcp-oauth/client-metadata.ts';
import { alice, setUpOAuthStore, publicUrl } from '../oauth-store.ts';
import {
  issuerDocument,
  json,
  resourceDocument,
  serverConfig,
  startGuardedServer,
  startServer,
} from '../guarded-server.ts';
import { followRedirects, callbackFor } from '../redirects.ts';

const mallory = { ...alice, user: 'mallory' };
const sessions = { alice: 'laptop of alice', mallory: 'laptop of mallory' };

/** An MCP server and its sign-in server in one; `onward`: where its page passes people on to. */
async function malicious() {
  const codes: string[] = [];
  const asked: URLSearchParams[] = [];
  const evil = { onward: (_asked: URLSearchParams): string => '', codes, asked };
  const origin: string = await startServer((request, response, body) => {
    const { pathname, searchParams } = new URL(request.url ?? '', origin);
    if (pathname === '/.well-known/oauth-protected-resource/mcp')
      return json(response, resourceDocument(`${origin}/mcp`, [origin]));
    if (pathname === '/.well-known/oauth-authorization-server')
      return json(
        response,
        issuerDocument(origin, {
          registration_endpoint: `${origin}/register`,
          client_id_metadata_document_supported: true,
        }),
      );
    if (pathname === '/register') return json(response, { client_id: 'c', redirect_uris: [] }, 201);
    if (pathname === '/authorize') {
      asked.push(searchParams);
      return response.writeHead(302, { location: evil.onward(searchParams) }).end();
    }
    codes.push(new URLSearchParams(body).get('code') ?? '');
    return json(response, { access_token: 'whatever', token_type: 'bearer' });
  });
  const config = serverConfig(`${origin}/mcp`, { name: 'evil', title: 'Evil' });
  return Object.assign(evil, { origin, config });
}

async function setUp(options: Parameters<typeof startGuardedServer>[0] = {}, at = publicUrl) {
  const honest = await startGuardedServer(options);
  const evil = await malicious();
  const setup = await setUpOAuthStore({ publicUrl: at });
  const begin = async (server: ServerConfig, user: 'alice' | 'mallory') => {
    const key = { ...(user === 'alice' ? alice : mallory), server: server.name };
    const sessionHash = sessions[user];
    return new URL((await setup.store.begin({ server, key, elicitationId: null, sessionHash })).url);
  };
  const complete = (callback: URL, user: 'alice' | 'mallory') => {
    // As of a sign-in server that knows nothing of RFC 9207.
    callback.searchParams.delete('iss');
    const serverByName = (name: string) => (name === 'evil' ? evil.config : honest.config);
    return setup.store.complete({ callback, sessionHash: sessions[user], serverByName });
  };
  return { honest, evil, setup, begin, complete };
}

test('a code that comes back at the address of another sign-in server is given to nobody', async () => {
  const { honest, evil, begin, complete, setup } = await setUp();
  // Mallory begins at the honest server, and has Alice bring a code for his challenge.
  const mallorys = await begin(honest.config, 'mallory');
  evil.onward = (asked) => {
    const onward = new URL(mallorys);
    onward.searchParams.set('state', asked.get('state') ?? '');
    return onward.href;
  };
  const alices = await begin(evil.config, 'alice');
  const callback = await followRedirects(alices.href, `${publicUrl}/auth/callback`);
  const code = callback.searchParams.get('code') ?? '';
  expect(code).not.toBe('');
  expect(await complete(callback, 'alice')).toMatchObject({
    kind: 'failed',
    server: 'evil',
    isForeign: true,
    reason: "The answer did not come from Evil's sign-in server, so it was not used.",
  });
  expect(evil.codes).toEqual([]);
  expect(honest.authorization.tokenRequests).toEqual([]);
  expect(await setup.storage.connections.list({ tenant: 'acme', user: 'mallory' })).toEqual([]);
});

test('an honest sign-in server sends nobody to the address of another one', async () => {
  const { honest, evil, begin } = await setUp();
  const mallorys = await begin(honest.config, 'mallory');
  evil.onward = (asked) => {
    const onward = new URL(mallorys);
    for (const name of ['state', 'redirect_uri']) onward.searchParams.set(name, asked.get(name) ?? '');
    return onward.href;
  };
  const alices = await begin(evil.config, 'alice');
  await expect(followRedirects(alices.href, `${publicUrl}/auth/callback`)).rejects.toThrow(/stuck with 400/);
});

test('the same where our client is a document: each has the one address only', async () => {
  const at = 'https://interlude.example';
  const fetchDocument = (url: string) => {
    const [, tag = ''] = /\/auth\/client\/(.*)\.json$/.exec(url) ?? [];
    return Response.json(clientMetadata(at, tag));
  };
  const { honest, evil, begin, complete } = await setUp({ fetchDocument }, at);
  const mallorys = await begin(honest.config, 'mallory');
  const names = ['state', 'redirect_uri'];
  evil.onward = (asked) => {
    const onward = new URL(mallorys);
    for (const name of names) onward.searchParams.set(name, asked.get(name) ?? '');
    return onward.href;
  };
  const alices = await begin(evil.config, 'alice');
  expect(alices.searchParams.get('client_id')).toBe(`${at}/auth/client/${issuerTag(evil.origin)}.json`);
  await expect(followRedirects(alices.href, at)).rejects.toThrow(/stuck with 400/);
  names.pop();
  const callback = await followRedirects((await begin(evil.config, 'alice')).href, `${at}/auth/callback`);
  expect(await complete(callback, 'alice')).toMatchObject({ kind: 'failed', isForeign: true });
  expect(evil.codes).toEqual([]);
});

test('without an attack, both are connected at addresses of their own', async () => {
  const { honest, evil, begin, complete } = await setUp();
  evil.onward = (asked) => `${asked.get('redirect_uri')}?code=own&state=${asked.get('state')}`;
  for (const server of [honest.config, evil.config]) {
    const callback = await followRedirects((await begin(server, 'alice')).href, `${publicUrl}/auth/callback`);
    expect(await complete(callback, 'alice')).toMatchObject({
      kind: server === evil.config ? 'connected' : 'failed',
    });
  }
  const [at = ''] = evil.asked.map((asked) => asked.get('redirect_uri') ?? '');
  expect(at).toBe(redirectUri(publicUrl, evil.origin));
  expect(at).not.toBe(redirectUri(publicUrl, honest.authorization.issuer));
  expect(evil.codes).toEqual(['own']);
});

test('an answer at an address that no sign-in server was given is refused, and its code is not redeemed', async () => {
  const { evil, begin, complete } = await setUp();
  const leaving = await begin(evil.config, 'alice');
  leaving.searchParams.set('redirect_uri', `${publicUrl}/auth/callback/x`);
  expect(await complete(callbackFor(leaving, { code: 'c' }), 'alice')).toMatchObject({ isForeign: true });
  expect(evil.codes).toEqual([]);
});
