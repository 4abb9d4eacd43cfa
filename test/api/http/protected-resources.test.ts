/** What OAuth clients find from the address of a surface. */
import { discoverOAuthProtectedResourceMetadata } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi } from '../api-under-test.ts';
import type { ApiUnderTest } from '../api-under-test.ts';

const publicUrl = 'http://localhost:3000';
let api: ApiUnderTest;

beforeAll(async () => {
  api = await startApi({ env: { PUBLIC_URL: publicUrl, AUTH_PROGRAM_CLIENT_ID: 'the-program' } });
});

afterAll(() => api.stop());

test('a client of the MCP SDK finds the issuer from the challenge', async () => {
  const asked = await api.app.inject({ method: 'POST', url: '/run/v1/mcp', payload: {} });
  expect(asked.statusCode).toBe(401);
  const [, resourceMetadataUrl = ''] =
    /resource_metadata="([^"]+)"/.exec(String(asked.headers['www-authenticate'])) ?? [];
  const fetched: string[] = [];
  const found = await discoverOAuthProtectedResourceMetadata(
    new URL('/run/v1/mcp', publicUrl),
    { resourceMetadataUrl },
    async (url) => {
      fetched.push(String(url));
      const { statusCode, body, headers } = await api.app.inject({ url: new URL(url).pathname });
      return new Response(body, { status: statusCode, headers: headers as Record<string, string> });
    },
  );
  expect(fetched).toEqual([`${publicUrl}/.well-known/oauth-protected-resource/run/v1/mcp`]);
  expect(found).toMatchObject({
    resource: `${publicUrl}/run/v1/mcp`,
    authorization_servers: [api.config.auth?.issuer],
  });
});

test('the API as a whole says how programs sign in', async () => {
  const { headers, ...answer } = await api.app.inject({ url: '/.well-known/oauth-protected-resource' });
  expect(headers).toMatchObject({ 'access-control-allow-origin': '*' });
  expect(answer.json()).toMatchObject({ resource: publicUrl, interlude_client_id: 'the-program' });
});
