/** A sign-in with the SDK's own functions, as `interlude try` makes it, where documents are broken. */
import { discoverOAuthServerInfo } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { skippingBrokenDocuments } from '@interlude-ai/core/oauth/locations.ts';
import { json, startServer } from '../guarded-server.ts';

test.each([
  ["an app's page", 200, 'text/html', '<!doctype html><p>The app</p>'],
  ['a 500', 500, 'text/plain', 'oops'],
  ['a text', 200, 'text/plain', 'nothing here'],
  ['JSON about something else', 200, 'application/json', '{"error":"not found"}'],
])('where the first place of a document has %s, the next one counts', async (_, status, type, body) => {
  const origin: string = await startServer((request, response) => {
    switch (request.url) {
      case '/.well-known/oauth-protected-resource':
        return json(response, { resource: `${origin}/mcp`, authorization_servers: [origin] });
      case '/.well-known/openid-configuration':
        return json(response, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          jwks_uri: `${origin}/jwks`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        });
      case '/token':
        return response.writeHead(500).end();
      default:
        return response.writeHead(status, { 'content-type': type }).end(body);
    }
  });
  const fetchFn = skippingBrokenDocuments(fetch);
  expect(await discoverOAuthServerInfo(`${origin}/mcp`, { fetchFn })).toMatchObject({
    authorizationServerUrl: origin,
    authorizationServerMetadata: { issuer: origin },
    resourceMetadata: { resource: `${origin}/mcp` },
  });
  // What is no document keeps its status.
  expect((await fetchFn(`${origin}/token`)).status).toBe(500);
});
