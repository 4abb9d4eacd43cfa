/** Our agents as an MCP server: streamable HTTP at one address, for clients of every revision. */
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { unknownAgent } from '../../service/start-turn.ts';
import { ProblemError } from '../http/problems.ts';
import { closing, expired, untilExpired } from '../http/readers.ts';
import type { Readers } from '../http/readers.ts';
import type { Api } from '../http/validation.ts';
import { serveLegacy } from './legacy/serve.ts';
import { liftExperimental } from './modern/caller.ts';
import type { Arrived } from './modern/caller.ts';
import { refuseForeignPages } from '../http/origins.ts';
import type { OwnNames } from '../http/origins.ts';
import { createModernServer } from './modern/server.ts';
import { isAnswer } from './tools/questions.ts';
import { createToolLayer } from './tools/tool-layer.ts';
import type { ToolLayer, McpContext } from './tools/tool-layer.ts';
import { answerWithJsonRpcErrors, readJsonBodies } from './transport-errors.ts';
import type { Service } from '../../service/service.ts';

export const mcpPath = '/run/v1/mcp';

export interface McpParts {
  service: Service;
  readers: Readers;
  http: OwnNames;
  layer?: ToolLayer;
}

export function mcpSurface(api: Api, parts: McpParts): void {
  void api.register(async (surface) => {
    answerWithJsonRpcErrors(surface);
    readJsonBodies(surface);
    refuseForeignPages(surface, parts.http);
    mcpRoutes(surface, parts);
  });
}

function mcpRoutes(
  api: FastifyInstance,
  { service, readers, layer = createToolLayer(service) }: McpParts,
): void {
  const parts = { layer, service };
  const serve = createModernHandlers(parts, api.log);
  api.addHook('onClose', () => serve.close());

  api.route({
    method: ['GET', 'POST', 'DELETE'],
    url: mcpPath,
    config: { resource: mcpPath, isAnswer },
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      // Only older revisions have sessions and separate streams.
      if (request.method !== 'POST' && request.headers['mcp-protocol-version'] === '2026-07-28')
        throw notAllowed(request, 'POST');
      const signal = untilExpired(reply, readers.listen(reply));
      const key = request.headers['idempotency-key'];
      const arrived = {
        principal: request.principal,
        address: request.ip,
        idempotencyKey: typeof key === 'string' ? key : undefined,
        agent: agentIn(request, service),
        signal,
      };
      reply.header('x-accel-buffering', 'no');
      const web = toWebRequest(request, signal);
      if (await isLegacyRequest(web, request.body)) return serveLegacy(parts, { request, reply, arrived });
      return reply.send(await serve.fetch(web, { arrived, body: request.body }));
    },
  });

  api.route({
    method: ['PUT', 'PATCH'],
    url: mcpPath,
    config: { resource: mcpPath },
    handler: (request) => {
      throw notAllowed(request, 'GET, POST, DELETE');
    },
  });
}

function notAllowed({ method }: FastifyRequest, allow: string): ProblemError {
  return new ProblemError('method_not_allowed', `${method} is not possible here.`, { headers: { allow } });
}

/** `?agent=<name>`: clients that are configured for one agent. */
function agentIn({ query }: FastifyRequest, { agents }: Service): string | undefined {
  const { agent } = query as { agent?: unknown };
  if (agent === undefined) return undefined;
  const name = typeof agent === 'string' ? agent : '';
  if (agents.has(name)) return name;
  throw unknownAgent(name.slice(0, 128), agents);
}

interface Delivered {
  arrived: Arrived;
  body: unknown;
}

/** Tool calls may wait for people, so they are streamed with heartbeats. Everything else is answered at once. */
function createModernHandlers(parts: McpContext, logger: FastifyBaseLogger) {
  const options = {
    legacy: 'reject',
    onerror: (error: Error) => logger.debug({ err: error }, 'an MCP request was refused or failed'),
  } as const;
  const failed = (error: unknown) => logger.error({ err: error }, 'a request of MCP failed');
  const factory = ({ authInfo }: { authInfo?: AuthInfo }) =>
    createModernServer(parts, arrivedIn(authInfo), failed);
  const plain = createMcpHandler(factory, options);
  const streamed = createMcpHandler(factory, { ...options, responseMode: 'sse' });
  return {
    async fetch(request: Request, { arrived, body }: Delivered): Promise<Response> {
      const handler = methodOf(body) === 'tools/call' ? streamed : plain;
      // Our own data; the token was checked before and is not passed on.
      const authInfo: AuthInfo = { token: '', clientId: '', scopes: [], extra: { arrived } };
      const response = await handler.fetch(request, {
        authInfo,
        ...(body !== undefined && { parsedBody: liftExperimental(body) }),
      });
      // It would replace our `no-store`.
      response.headers.delete('cache-control');
      return response;
    },
    close: () => Promise.all([plain.close(), streamed.close()]),
  };
}

function arrivedIn(authInfo: AuthInfo | undefined): Arrived {
  const arrived = authInfo?.extra?.['arrived'];
  if (arrived === undefined) throw new Error('every request arrives with its principal');
  return arrived as Arrived;
}

function methodOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'method' in body ? body.method : undefined;
}

/**
 * Without the body, which has been read. A closing process and an expired token do not abort it: the handler then says that the
 * call goes on.
 */
function toWebRequest(request: FastifyRequest, signal: AbortSignal): Request {
  const gone = new AbortController();
  const leave = () => {
    if (signal.reason !== closing && signal.reason !== expired) gone.abort();
  };
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  return new Request(new URL(request.url, 'http://localhost'), {
    method: request.method,
    headers,
    signal: gone.signal,
  });
}
