/** A server whose tool asks nothing, does something that is not to be repeated, and counts it: for approvals. */
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { startMcpServer } from '../servers/mcp-server.ts';

export interface PlainServer {
  url: string;
  /** Cities, in their order. */
  done: string[];
  stop(): Promise<void>;
}

export async function startPlainServer(): Promise<PlainServer> {
  const done: string[] = [];
  const build = () => {
    const server = new McpServer({ name: 'plain', version: '1' });
    server.registerTool('visit', { inputSchema: z.object({ city: z.string() }) }, ({ city }) => {
      done.push(city);
      return { content: [{ type: 'text', text: `visit: ${city}` }] };
    });
    return server;
  };
  const server = await startMcpServer({ era: 'modern', build });
  return { url: server.config.url, done, stop: () => server.stop() };
}
