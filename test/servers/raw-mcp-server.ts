/**
 * An MCP server written by hand on node:http, for everything a well-behaved server never does. It shakes hands
 * properly in either era; what happens to `tools/call` (and, if wanted, to the handshake) is up to the test.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { listen } from '../../demo/listen.ts';
import type { ServerConfig } from '../../src/platform/config/config.ts';
import { serverConfig } from './mcp-server.ts';

export interface RawMessage {
  id?: number | string;
  /** `response` for what answers a request of the server's, the HTTP method for what has no body. */
  method: string;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
  params?: {
    name?: string;
    cursor?: string;
    arguments?: Record<string, unknown>;
    inputResponses?: Record<string, unknown>;
    requestState?: string;
    requestId?: number | string;
    _meta?: Record<string, unknown>;
  };
}
type Reply = (
  message: RawMessage,
  response: ServerResponse,
  request: IncomingMessage,
) => void | Promise<void>;

export interface RawMcpServer {
  config: ServerConfig;
  messages: RawMessage[];
  count: (method: string) => number;
  /** How many connections are open. */
  connections: () => Promise<number>;
  /** Resolves when a message with this method has arrived. */
  arrived: (method: string) => Promise<RawMessage>;
  stop(): Promise<void>;
}

interface Options {
  era?: 'modern' | 'legacy';
  /** Replies by JSON-RPC method; anything else gets the usual answer. */
  on: Record<string, Reply>;
  /** A free one unless given. */
  port?: number;
}

export const discovered = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: 'private',
};
const serverInfo = { name: 'raw', version: '1' };

export async function startRawMcpServer({
  era = 'modern',
  on,
  port: wanted = 0,
}: Options): Promise<RawMcpServer> {
  const messages: RawMessage[] = [];
  const waiting: { method: string; resolve: (message: RawMessage) => void }[] = [];
  const http = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      const message = (text === '' ? { method: request.method } : JSON.parse(text)) as RawMessage;
      // A response to a request of ours, in the old era.
      message.method ??= 'response';
      messages.push(message);
      for (const one of waiting) if (one.method === message.method) one.resolve(message);
      const reply = on[message.method] ?? usual(era);
      await reply(message, response, request);
    })();
  });
  // Longer than clients keep a connection: on a busy machine the two ends would meet.
  http.keepAliveTimeout = 60_000;
  const { port, stop } = await listen(http, wanted, 'none');
  const config = serverConfig(`http://127.0.0.1:${port}/mcp`);
  return {
    config,
    messages,
    connections: () => new Promise((resolve) => http.getConnections((_, count) => resolve(count))),
    count: (method) => messages.filter((message) => message.method === method).length,
    arrived: (method) => {
      const already = messages.find((message) => message.method === method);
      return already ? Promise.resolve(already) : new Promise((resolve) => waiting.push({ method, resolve }));
    },
    stop,
  };
}

function usual(era: 'modern' | 'legacy'): Reply {
  return (message, response) => {
    switch (message.method) {
      case 'server/discover':
        if (era === 'legacy') return answerError(message, response, -32601, 'Method not found');
        return answer(message, response, discovered);
      case 'initialize':
        if (era === 'modern') return answerError(message, response, -32601, 'Method not found', 400);
        return answer(message, response, {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {} },
          serverInfo,
        });
      case 'response':
        return void response.writeHead(202).end();
      default:
        response.writeHead(message.id === undefined ? 202 : 404).end();
    }
  };
}

export function answer({ id }: RawMessage, response: ServerResponse, result: unknown): void {
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

export function answerError(
  { id }: RawMessage,
  response: ServerResponse,
  code: number,
  message: string,
  status = 200,
): void {
  const body = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);
}

export function startStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
}

export function sendEvent(response: ServerResponse, message: object, eventId?: string): void {
  const id = eventId === undefined ? '' : `id: ${eventId}\n`;
  response.write(`${id}event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}
