/** An MCP server with one tool and a clock: it says when the call of a user arrived. */
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { listen } from '../../demo/listen.ts';
import type { CatalogueTool } from '../../src/storage/schema/account-tables.ts';

export interface McpDouble {
  url: string;
  origin: string;
  /** For whoever has nothing to say in MCP and only wants to arrive. */
  bareUrl: string;
  /** When the call with this access token reached the server (`performance.now()`). */
  arrival(token: string): Promise<number>;
  /** Calls of tools so far. */
  calls(): number;
  stop(): Promise<void>;
}

export const pingTool: CatalogueTool = { name: 'ping', inputSchema: { type: 'object', properties: {} } };

export async function startTimedMcpServer(): Promise<McpDouble> {
  const expected = new Map<string, (at: number) => void>();
  let calls = 0;
  const handle = toNodeHandler(createMcpHandler(build, { legacy: 'reject' }));

  const server = createServer((request, response) => {
    const at = performance.now();
    const document = documents(origin)[request.url ?? ''];
    if (document) return json(response, document);
    void (async () => {
      const body = await readJson(request);
      const isBare = request.url === '/bare';
      const isCall = (body as { method?: string }).method === 'tools/call';
      if (isCall) calls += 1;
      if (isBare || isCall) expected.get(request.headers.authorization ?? '')?.(at);
      if (isBare) return void response.writeHead(204).end();
      await handle(request as never, response as never, body);
    })().catch((error: unknown) => response.destroy(error as Error));
  });
  const { port, stop } = await listen(server, 0, 'none');
  const origin = `http://127.0.0.1:${port}`;
  return {
    url: `${origin}/mcp`,
    origin,
    bareUrl: `${origin}/bare`,
    arrival: (token) => new Promise((resolve) => expected.set(`Bearer ${token}`, resolve)),
    calls: () => calls,
    stop,
  };
}

function build(): McpServer {
  const server = new McpServer({ name: 'peer', version: '1' });
  server.registerTool('ping', {}, () => ({ content: [{ type: 'text', text: 'pong' }] }));
  return server;
}

/** What discovery asks for before anybody is asked to connect an account. */
function documents(origin: string): Record<string, object> {
  return {
    '/.well-known/oauth-protected-resource/mcp': {
      resource: `${origin}/mcp`,
      authorization_servers: [origin],
    },
    '/.well-known/oauth-authorization-server': {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    },
  };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

function json(response: Parameters<RequestListener>[1], body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
