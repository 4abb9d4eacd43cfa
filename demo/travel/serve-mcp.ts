/**
 * The MCP endpoint of a server that asks, for clients of both eras. The current protocol needs nothing but single
 * requests; the one before it asks in the middle of a call, so its clients get a session to answer in.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import type { McpServer } from '@modelcontextprotocol/server';

type Handle = ReturnType<typeof toNodeHandler>;
type Arguments = Parameters<Handle>;

const sessionsKept = 100;
const bodyLimit = 1_000_000;

export function createMcpEndpoint(
  build: () => McpServer,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const current = toNodeHandler(createMcpHandler(build, { legacy: 'reject' }));
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();

  async function begin(): Promise<NodeStreamableHTTPServerTransport> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized(id) {
        sessions.set(id, transport);
        const [oldest] = sessions.size > sessionsKept ? sessions : [];
        if (!oldest) return;
        sessions.delete(oldest[0]);
        void oldest[1].close();
      },
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await build().connect(transport);
    return transport;
  }

  return async (request, response) => {
    const body = await bodyOf(request);
    if (body instanceof Error) return void response.writeHead(400).end(body.message);
    const [incoming, outgoing] = [request, response] as unknown as Arguments;
    if (!(await isLegacyRequest(await toWebRequest(incoming, body))))
      return current(incoming, outgoing, body);
    const id = request.headers['mcp-session-id'];
    const session = typeof id === 'string' ? sessions.get(id) : await begin();
    if (!session) return void response.writeHead(404).end('This session is over; begin a new one.');
    await session.handleRequest(request, response, body);
  };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > bodyLimit) return new Error('The request is too long.');
  }
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return new Error('The request is not JSON.');
  }
}
