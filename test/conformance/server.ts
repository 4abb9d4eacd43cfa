/** Our MCP endpoint with the suite's tools instead of agents, and without sign-in, which the suite has no word for. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Fastify from 'fastify';
import { createReaders } from '../../src/api/http/readers.ts';
import { refuseUnknownHosts } from '../../src/api/http/origins.ts';
import { withSchemas } from '../../src/api/http/validation.ts';
import { mcpSurface } from '../../src/api/mcp/route.ts';
import type { McpParts } from '../../src/api/mcp/route.ts';
import { generateKey, parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import { createOwnMcpSessions } from '../../src/service/mcp-sessions.ts';
import { createSealedText } from '../../src/service/sealed-text.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { createSuiteLayer } from './suite-layer.ts';

export async function startSuiteServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const fastify = Fastify();
  const readers = createReaders(fastify, { graceMs: 100 });
  const http = {
    publicUrl: 'http://localhost:3000',
    allowedHosts: [] as string[],
    corsOrigins: [] as string[],
  };
  refuseUnknownHosts(fastify, http);
  fastify.decorateRequest('principal');
  fastify.addHook('onRequest', async (request) => {
    request.principal = { kind: 'user', tenant: 'demo', user: 'suite' };
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'conformance-server-'));
  const storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'interlude.db') });
  const { layer, questions } = createSuiteLayer();
  const recordRefusal = async () => undefined;
  const service = {
    ...questions,
    mcpSessions: createOwnMcpSessions({ mcpSessions: storage.mcpSessions, recordRefusal }),
    agents: new Map([['assistant', { name: 'assistant', title: 'Assistant' }]]),
    sealedText: createSealedText(parseKeys(generateKey('suite'))),
    recordRefusal,
    listConversations: async () => ({ items: [], next: null }),
  } as unknown as McpParts['service'];
  mcpSurface(withSchemas(fastify), { service, readers, http, layer });
  const url = await fastify.listen({ port: 0, host: '127.0.0.1' });
  return {
    url: `${url}/run/v1/mcp`,
    async stop() {
      await fastify.close();
      await storage.close();
      await rm(folder, { recursive: true });
    },
  };
}
