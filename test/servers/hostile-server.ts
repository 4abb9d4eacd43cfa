/** A server that shakes hands, lists its tools, and then does with each call what its trick says. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answer, listing, startRawMcpServer } from './raw-mcp-server.ts';
import type { RawMcpServer, RawMessage } from './raw-mcp-server.ts';
import { sendJson, serve } from './serve.ts';

export interface Call {
  /** All calls of this tool so far, this one included. */
  calls: RawMessage[];
  request: IncomingMessage;
  /** The answer to a request that the server itself has made (old era). */
  answerTo: (id: string | number) => Promise<RawMessage>;
}

export type Trick = (message: RawMessage, response: ServerResponse, call: Call) => void | Promise<void>;

export interface HostileServer extends RawMcpServer {
  calls: (tool: string) => RawMessage[];
}

export interface HostileServerOptions {
  era: 'modern' | 'legacy';
  /** By the tool's name. */
  tricks: Record<string, Trick>;
  /** Of the tools that say they may be repeated. */
  repeatable?: string[];
  /** The answer to a client that resumes a stream. With it, there are sessions. */
  resumed?: (lastEventId: string, response: ServerResponse) => void | Promise<void>;
}

export async function startHostileServer(options: HostileServerOptions): Promise<HostileServer> {
  const { era, tricks, repeatable = [], resumed } = options;
  const calls = (tool: string) =>
    server.messages.filter(({ method, params }) => method === 'tools/call' && params?.name === tool);
  const answers = new Map<string | number, PromiseWithResolvers<RawMessage>>();
  const answerTo = (id: string | number) => {
    const answered = answers.get(id) ?? Promise.withResolvers<RawMessage>();
    answers.set(id, answered);
    return answered;
  };

  const server = await startRawMcpServer({
    era,
    on: {
      ...(resumed && { initialize: openSession }),
      'tools/list': (message, response) => {
        const tools = Object.keys(tricks).map((name) => ({
          name,
          annotations: { readOnlyHint: repeatable.includes(name) },
        }));
        answer(message, response, listing(tools));
      },
      'tools/call': (message, response, request) => {
        const name = message.params?.name ?? '';
        return tricks[name]?.(message, response, {
          calls: calls(name),
          request,
          answerTo: (id) => answerTo(id).promise,
        });
      },
      response: (message, response) => {
        answerTo(message.id ?? '').resolve(message);
        response.writeHead(202).end();
      },
      GET: (_, response, request) => {
        const from = request.headers['last-event-id'];
        if (!resumed || typeof from !== 'string') return void response.writeHead(405).end();
        return resumed(from, response);
      },
    },
  });
  return { ...server, calls };
}

function openSession({ id }: RawMessage, response: ServerResponse): void {
  const result = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'hostile', version: '1' },
  };
  sendJson(response, { jsonrpc: '2.0', id, result }, 200, { 'mcp-session-id': randomUUID() });
}

/** What a server of the new era wants to know before it goes on. */
export const asks =
  (inputRequests: unknown, rest: object = {}): Trick =>
  (message, response) =>
    answer(message, response, { resultType: 'input_required', inputRequests, ...rest });

export const form = (params: object = {}) => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Really?',
    requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } } },
    ...params,
  },
});

export const page = (url: string) => ({
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Open this', url, elicitationId: url },
});

/** A prebuilt answer to a call, in JSON that no serializer would write. */
export function raw(members: string): Trick {
  const after = Buffer.from(`,${members}}`);
  return ({ id }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)}`), after]));
  };
}

/** A server that must get no requests: those that arrive were meant for another one. */
export async function startUnrelatedServer() {
  const { origin, stop } = await serve(({ response }) => {
    elsewhere.requests += 1;
    response.writeHead(401).end();
  });
  const elsewhere = { url: `${origin}/mcp`, requests: 0, stop };
  return elsewhere;
}
