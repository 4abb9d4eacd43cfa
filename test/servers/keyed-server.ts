/** A real MCP server that requires one of its keys for every request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { startMcpServer } from './mcp-server.ts';
import type { TestMcpServer } from './mcp-server.ts';

export interface KeyedServer extends TestMcpServer {
  /** What the header has to be, word before the key included. */
  accepted: Set<string>;
  /** What else it does with requests. `hangs`: it takes them and says nothing. */
  mood: Mood;
  /** The header of each run of the tool, oldest first. */
  runs: { key: string; note: string }[];
}

export type Mood =
  | { kind: 'works' | 'hangs' | 'open-to-all' | 'lists-to-all' }
  | { kind: 'answers'; status: number; headers?: Record<string, string>; body?: string };

interface Options {
  header?: string;
  era?: 'modern' | 'legacy';
  accepted?: string[];
}

/** Its one tool is `note {text}`. */
export async function startKeyedServer({
  header = 'authorization',
  era = 'modern',
  accepted = [],
}: Options = {}): Promise<KeyedServer> {
  const runs: KeyedServer['runs'] = [];
  const keyOf = (value: unknown) => (typeof value === 'string' ? value : '');

  function build(): McpServer {
    const server = new McpServer({ name: 'keyed', version: '1' });
    const inputSchema = z.object({ text: z.string() });
    server.registerTool('note', { inputSchema }, ({ text }, context) => {
      runs.push({ key: keyOf(context.http?.req?.headers.get(header)), note: text });
      return { content: [{ type: 'text', text: `noted: ${text}` }] };
    });
    return server;
  }

  function guard(request: IncomingMessage, response: ServerResponse, method: string): boolean {
    const { mood } = keyed;
    switch (mood.kind) {
      case 'hangs':
        return true;
      case 'answers':
        response.writeHead(mood.status, mood.headers).end(mood.body);
        return true;
      case 'open-to-all':
        return false;
      case 'lists-to-all':
      case 'works': {
        if (mood.kind === 'lists-to-all' && method !== 'tools/call') return false;
        const isIn = keyed.accepted.has(keyOf(request.headers[header.toLowerCase()]));
        if (!isIn) response.writeHead(401, { 'www-authenticate': 'ApiKey' }).end('Who is there?');
        return !isIn;
      }
      default:
        return mood satisfies never;
    }
  }

  const server = await startMcpServer({ era, build, guard });
  const keyed: KeyedServer = Object.assign(server, {
    accepted: new Set(accepted),
    mood: { kind: 'works' } as Mood,
    runs,
  });
  return keyed;
}
