/** Serves an agent of the A2A SDK over HTTP with JSON-RPC, as the SDK's own server does it: nothing of it is Interlude's. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentCard } from '@a2a-js/sdk';
import { SSE_HEADERS, formatSSEEvent } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { JsonRpcTransportHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { listen } from './listen.ts';

export interface ServedAgent {
  origin: string;
  /** Address of its card. */
  card: string;
  stop(): Promise<void>;
}

interface Options {
  /** 0 takes a free one. */
  port: number;
  /** The variable that names the port, for when it is taken. */
  portVariable: string;
  card: (origin: string) => AgentCard;
  handler: (card: AgentCard) => A2ARequestHandler;
  /** What the card is as JSON; by default as it is. */
  toJson?: (card: AgentCard) => unknown;
  /** Requests that are not A2A's. False: not found. */
  more?: (request: IncomingMessage, response: ServerResponse) => Promise<boolean> | boolean;
}

export async function serveA2aAgent(options: Options): Promise<ServedAgent> {
  const server = createServer();
  const listening = await listen(server, options.port, options.portVariable);
  const origin = `http://127.0.0.1:${listening.port}`;
  const card = options.card(origin);
  const handler = options.handler(card);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/.well-known/agent-card.json')
      return sendJson(response, options.toJson?.(card) ?? card);
    if (request.url === '/a2a' && request.method === 'POST') return answer(request, response, handler);
    if (await options.more?.(request, response)) return;
    response.writeHead(404).end();
  }

  server.on('request', (request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  return { origin, card: `${origin}/.well-known/agent-card.json`, stop: () => listening.stop() };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  handler: A2ARequestHandler,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const version = String(request.headers['a2a-version'] ?? '0.3');
  const transport = version.startsWith('0.')
    ? new LegacyJsonRpcTransportHandler(handler)
    : new JsonRpcTransportHandler(handler);
  const context = new ServerCallContext({ requestedVersion: version });
  const result = await transport.handle(Buffer.concat(chunks).toString(), context);
  if (!(Symbol.asyncIterator in result)) return sendJson(response, result);
  response.writeHead(200, SSE_HEADERS);
  // To its end, whether anybody still reads or not: the SDK stores what happens while it streams it.
  for await (const event of result) response.write(formatSSEEvent(event));
  response.end();
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
