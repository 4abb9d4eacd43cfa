/** An MCP server that wants an account: its sign-in is published, and it takes one token. */
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { issuerDocument } from '../credentials/guarded-server.ts';
import { startMcpServer } from '../servers/mcp-server.ts';
import type { TestMcpServer } from '../servers/mcp-server.ts';
import { sendJson } from '../servers/serve.ts';

export function startAccountServer(token: string): Promise<TestMcpServer> {
  return startMcpServer({
    era: 'modern',
    build() {
      const server = new McpServer({ name: 'tracker', version: '1' });
      server.registerTool('list_issues', { inputSchema: z.object({}) }, () => ({
        content: [{ type: 'text', text: 'Broken lamp' }],
      }));
      return server;
    },
    guard(request, response) {
      const { host = '' } = request.headers;
      const origin = `http://${host}`;
      const path = request.url ?? '';
      if (path.startsWith('/.well-known/oauth-protected-resource')) {
        sendJson(response, { resource: `${origin}/mcp`, authorization_servers: [origin] });
        return true;
      }
      if (path.startsWith('/.well-known/')) {
        sendJson(response, issuerDocument(origin, { registration_endpoint: `${origin}/register` }));
        return true;
      }
      if (request.headers.authorization === `Bearer ${token}`) return false;
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      return true;
    },
  });
}
