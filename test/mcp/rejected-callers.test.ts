/** Who may not call over MCP, in either era: nothing is begun, and what they tried is on record. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi } from '../api/api-under-test.ts';
import type { ApiUnderTest } from '../api/api-under-test.ts';

let api: ApiUnderTest;
beforeAll(async () => {
  // Whoever signs in at the demo's provider has a token for something else then.
  api = await startApi({ env: { AUTH_AUDIENCE: 'another-service' } });
});
afterAll(() => api.stop());

const modern = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'ask_assistant',
    arguments: { message: 'hello' },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};
const legacy = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {} },
};
const eras = [
  {
    era: 'modern',
    payload: modern,
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'ask_assistant',
    },
  },
  { era: 'legacy', payload: legacy, headers: {} },
];
const accept = { accept: 'application/json, text/event-stream' };
const refused = async () =>
  (await api.storage.audit.ofElicitation('')).map(({ actor, detail }) => [actor, detail]);

test.each(eras)('$era: a token for another audience', async ({ payload, headers }) => {
  const before = await refused();
  const answer = await api.send('alice', {
    method: 'POST',
    url: '/run/v1/mcp',
    headers: { ...accept, ...headers },
    payload,
  });
  expect(answer.statusCode).toBe(401);
  expect(answer.headers['www-authenticate']).toMatch(
    /^Bearer error="invalid_token".*resource_metadata=".*\/\.well-known\/oauth-protected-resource\/run\/v1\/mcp"/,
  );
  expect(answer.headers['mcp-session-id']).toBeUndefined();
  expect((await refused()).slice(before.length)).toEqual([['alice', 'token for another audience']]);
});

test.each(eras)('$era: a key that names a user without the right to', async ({ payload, headers }) => {
  const before = await refused();
  const answer = await api.send('service', {
    method: 'POST',
    url: '/run/v1/mcp',
    headers: { ...accept, ...headers, 'x-interlude-user': 'alice' },
    payload,
  });
  expect(answer.statusCode).toBe(403);
  expect(answer.headers['mcp-session-id']).toBeUndefined();
  expect((await refused()).slice(before.length)).toEqual([
    [null, expect.stringMatching(/^key \S+ named a user$/)],
  ]);
  expect(await api.storage.turns.conversation({ tenant: 'demo', conversation: 'demo' })).toBeNull();
});
