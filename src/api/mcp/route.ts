/** Our agents as an MCP server: streamable HTTP on one address, for any client and at any process. */
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import { unknownAgent } from '../../service/start-turn.ts';
import { ProblemError } from '../http/problems.ts';
import { closing } from '../http/readers.ts';
import type { Readers } from '../http/readers.ts';
import type { Api } from '../http/validation.ts';
import { serveLegacy } from './legacy/serve.ts';
import type { LegacyParts } from './legacy/serve.ts';
import { liftExperimental } from './modern/caller.ts';
import type { Arrived } from './modern/caller.ts';
import { refuseForeignPages } from './foreign-pages.ts';
import type { OwnNames } from './foreign-pages.ts';
import { createModernServer } from './modern/server.ts';
import type { ModernParts } from './modern/server.ts';
import { isAnswer } from './tools/answers.ts';
import { createToolLayer } from './tools/tool-layer.ts';
import type { ToolLayer, ToolLayerService } from './tools/tool-layer.ts';
import { answerWithJsonRpcErrors, readJsonBodies } from './transport-errors.ts';

export const mcpPath = '/run/v1/mcp';

export interface McpParts {
  service: ToolLayerService & ModernParts['service'] & LegacyParts['service'];
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
      // Sessions and streams of their own are of the older revisions.
      if (request.method !== 'POST' && request.headers['mcp-protocol-version'] === '2026-07-28')
        throw notAllowed(request, 'POST');
      const signal = readers.listen(reply);
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
function agentIn(
  { query }: FastifyRequest,
  { agents }: Pick<ToolLayerService, 'agents'>,
): string | undefined {
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

/** Tool calls may take as long as people think, so they are streamed, and kept alive; all else is answered at once. */
function createModernHandlers(parts: ModernParts, logger: FastifyBaseLogger) {
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
      // All that this carries is ours: the token was checked before and is not passed on.
      const authInfo: AuthInfo = { token: '', clientId: '', scopes: [], extra: { arrived } };
      const response = await handler.fetch(request, {
        authInfo,
        ...(body !== undefined && { parsedBody: liftExperimental(body) }),
      });
      // It would replace ours, which allows no cache to keep anything.
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

/** Without its body, which has been read. Not aborted by a process that closes: its last word is that the call goes on. */
function toWebRequest(request: FastifyRequest, signal: AbortSignal): Request {
  const gone = new AbortController();
  const leave = () => {
    if (signal.reason !== closing) gone.abort();
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
