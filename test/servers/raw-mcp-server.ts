/**
 * An MCP server written by hand, for everything a well-behaved server never does. It shakes hands properly in either era;
 * what happens to `tools/call` (and, if wanted, to the handshake) is up to the test.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerConfig } from '../../src/platform/config/config.ts';
import { createWaiting } from '../waiting.ts';
import { serverConfig } from './mcp-server.ts';
import { sendJson, serve } from './serve.ts';
import type { Exchange } from './serve.ts';

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
  /** Returns true for a request that it has answered itself, before it is read as a message. */
  guard?: (exchange: Exchange) => boolean;
  /** A free one unless given. */
  port?: number;
}

const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
export const discovered = { ...complete, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
const serverInfo = { name: 'raw', version: '1' };

export async function startRawMcpServer({
  era = 'modern',
  on,
  guard = () => false,
  port,
}: Options): Promise<RawMcpServer> {
  const messages: RawMessage[] = [];
  const waiting = createWaiting();
  const { origin, connections, stop } = await serve((exchange) => {
    if (guard(exchange)) return;
    const { request, response, body } = exchange;
    const message = (body === '' ? { method: request.method } : JSON.parse(body)) as RawMessage;
    // A response to a request of ours, in the old era.
    message.method ??= 'response';
    messages.push(message);
    waiting.wake();
    const reply = on[message.method] ?? usual(era);
    return reply(message, response, request);
  }, port);
  return {
    config: serverConfig(`${origin}/mcp`),
    messages,
    connections,
    count: (method) => messages.filter((message) => message.method === method).length,
    arrived: (method) => waiting.until(() => messages.find((message) => message.method === method)),
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

/** The result of `tools/list`; a tool takes any object unless it says otherwise. */
export const listing = (tools: object[]) => ({
  ...complete,
  tools: tools.map((tool) => ({ inputSchema: { type: 'object' }, ...tool })),
});

export function answer({ id }: RawMessage, response: ServerResponse, result: unknown): void {
  sendJson(response, { jsonrpc: '2.0', id, result });
}

export function answerError(
  { id }: RawMessage,
  response: ServerResponse,
  code: number,
  message: string,
  status = 200,
): void {
  sendJson(response, { jsonrpc: '2.0', id, error: { code, message } }, status);
}

export function startStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
}

export function sendEvent(response: ServerResponse, message: object, eventId?: string): void {
  const id = eventId === undefined ? '' : `id: ${eventId}\n`;
  response.write(`${id}event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}
