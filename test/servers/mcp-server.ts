/** A real MCP server of the v2 SDK, speaking one era or both, for tests of our side of the conversation. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import type { EventStore, McpServer } from '@modelcontextprotocol/server';
import type { ServerConfig } from '../../src/platform/config/config.ts';
import { createWaiting } from '../waiting.ts';
import { serve } from './serve.ts';

export type TestMcpServer = Awaited<ReturnType<typeof startMcpServer>>;

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
  port,
  guard = () => false,
}: Options) {
  const requests: { http: string; method: string; headers: Record<string, unknown>; body: unknown }[] = [];
  const sessions = createSessions(async (opened, closed) => {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: hasSessions ? randomUUID : undefined,
      onsessioninitialized: (session) => opened(session, transport),
      onsessionclosed: closed,
      ...(eventStore && { eventStore }),
    });
    await build('legacy').connect(transport);
    return transport;
  });
  const modern = toNodeHandler(createMcpHandler(() => build('modern'), { legacy: 'reject' }));

  const waiting = createWaiting();
  let passedOn = 0;
  const { origin, connections, stop } = await serve(async ({ request, response, body: text }) => {
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const method = (body as { method?: string } | undefined)?.method ?? '';
    requests.push({ http: request.method ?? '', method, headers: request.headers, body });
    if (guard(request, response, method)) return;
    const isLegacy =
      era !== 'modern' &&
      (era === 'legacy' || (await isLegacyRequest(await toWebRequest(request as never, body))));
    const handled = isLegacy
      ? sessions.handle(request, response, body)
      : modern(request as never, response, body);
    passedOn++;
    waiting.wake();
    await handled;
  }, port);
  return {
    config: serverConfig(`${origin}/mcp`),
    /** One entry per request, oldest first: method, headers and JSON-RPC method. */
    requests,
    /** Ids of the sessions that are open (legacy only). */
    sessions: sessions.ids,
    /** Resolves when another request has come and was passed on. */
    nextRequest() {
      const before = passedOn;
      return waiting.until(() => passedOn > before).then(() => undefined);
    },
    /** How many connections are open. */
    connections,
    stop,
  };
}

interface Transport {
  handleRequest(request: never, response: never, body: unknown): Promise<void>;
}

/** Gives requests of the old era to the transport of their session; one that names no session opens one. */
export function createSessions<T extends Transport>(
  open: (opened: (session: string, transport: T) => void, closed: (session: string) => void) => Promise<T>,
) {
  const transports = new Map<string, T>();
  const ids = new Set<string>();
  const opened = (session: string, transport: T) => {
    transports.set(session, transport);
    ids.add(session);
  };
  const closed = (session: string) => {
    transports.delete(session);
    ids.delete(session);
  };
  return {
    ids,
    /** As if the server had been restarted. */
    forget: () => transports.clear(),
    async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
      const id = request.headers['mcp-session-id'];
      const known = typeof id === 'string' ? transports.get(id) : undefined;
      if (!known && id !== undefined) return void response.writeHead(404).end();
      const transport = known ?? (await open(opened, closed));
      await transport.handleRequest(request as never, response as never, body);
    },
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
