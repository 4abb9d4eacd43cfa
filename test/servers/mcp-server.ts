/** A real MCP server of the v2 SDK, speaking one era or both, for tests of our side of the conversation. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import type { EventStore, McpServer } from '@modelcontextprotocol/server';
import { listen } from '../../demo/listen.ts';
import type { ServerConfig } from '../../src/platform/config/config.ts';

export interface TestMcpServer {
  config: ServerConfig;
  /** One entry per request, oldest first: method, headers and JSON-RPC method. */
  requests: { http: string; method: string; headers: Record<string, unknown>; body: unknown }[];
  /** Resolves when another request has come and was passed on. */
  nextRequest(): Promise<void>;
  /** Ids of the sessions that are open (legacy only). */
  sessions: Set<string>;
  /** How many connections are open. */
  connections(): Promise<number>;
  stop(): Promise<void>;
}

interface Options {
  era: 'modern' | 'legacy' | 'both';
  build: (era: 'modern' | 'legacy') => McpServer;
  eventStore?: EventStore;
  /** In the old era; otherwise the server cannot push there. */
  hasSessions?: boolean;
  /** A free one unless given. */
  port?: number;
  /** Called before the server; returns true for a request that it has handled itself. */
  guard?: (request: IncomingMessage, response: ServerResponse, method: string) => boolean;
}

export async function startMcpServer({
  era,
  build,
  eventStore,
  hasSessions = true,
  port: wanted = 0,
  guard = () => false,
}: Options): Promise<TestMcpServer> {
  const requests: TestMcpServer['requests'] = [];
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const modern = toNodeHandler(createMcpHandler(() => build('modern'), { legacy: 'reject' }));
  const sessionIds = new Set<string>();

  const legacy: typeof modern = async (request, response, body) => {
    const id = request.headers['mcp-session-id'];
    let transport = typeof id === 'string' ? sessions.get(id) : undefined;
    if (!transport && id !== undefined) return (void response.writeHead(404), void response.end());
    if (!transport) {
      const fresh = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: hasSessions ? randomUUID : undefined,
        onsessioninitialized: (session) => void (sessions.set(session, fresh), sessionIds.add(session)),
        onsessionclosed: (session) => void (sessions.delete(session), sessionIds.delete(session)),
        ...(eventStore && { eventStore }),
      });
      await build('legacy').connect(fresh);
      transport = fresh;
    }
    await transport.handleRequest(request as never, response as never, body);
  };

  const waiting: (() => void)[] = [];
  const http = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      const method = (body as { method?: string } | undefined)?.method ?? '';
      requests.push({ http: request.method ?? '', method, headers: request.headers, body });
      if (guard(request, response, method)) return;
      const isLegacy =
        era !== 'modern' &&
        (era === 'legacy' || (await isLegacyRequest(await toWebRequest(request as never, body))));
      const handled = (isLegacy ? legacy : modern)(request as never, response, body);
      for (const wake of waiting.splice(0)) wake();
      await handled;
    })();
  });
  // Longer than clients keep a connection: on a busy machine the two ends would meet.
  http.keepAliveTimeout = 60_000;
  const { port, stop } = await listen(http, wanted, 'none');
  const config = serverConfig(`http://127.0.0.1:${port}/mcp`);
  return {
    config,
    requests,
    sessions: sessionIds,
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    connections: () =>
      new Promise((resolve, reject) =>
        http.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    stop,
  };
}

export function serverConfig(url: string, changes: Partial<ServerConfig> = {}): ServerConfig {
  return {
    name: 'peer',
    title: 'Peer',
    url,
    credentialScope: 'user',
    store: 'oauth',
    headers: {},
    headersEnv: {},
    timeout: 10_000,
    maxRounds: 10,
    ...changes,
  };
}
