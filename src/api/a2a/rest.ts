/** HTTP+JSON of A2A 1.0 (section 11). The SDK's own routes keep no heartbeat, which a question of ten minutes needs. */
import {
  AgentCard,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
} from '@a2a-js/sdk';
import { A2AError, RequestMalformedError, restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import { validateVersion } from '@a2a-js/sdk/server';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { agentPath } from './card.ts';
import { createPushConfig, deletePushConfig, pushPath, readPushConfigs } from './rest-push.ts';
import { nameExtensions } from './served.ts';
import type { Agents } from './served.ts';
import { sendStream } from './stream.ts';

const mediaType = 'application/a2a+json';

interface Call {
  handler: A2ARequestHandler;
  context: ServerCallContext;
  body: unknown;
  query: Record<string, unknown>;
  /** What stands behind `tasks/`. */
  path: string;
  /** The part of it before an action; empty elsewhere. */
  id: string;
  action: string;
}

type Answer = object | AsyncGenerator<StreamResponse, void, undefined>;
type Respond = (call: Call) => Promise<Answer> | AsyncGenerator<StreamResponse, void, undefined>;

export function restRoutes(fastify: FastifyInstance, agents: Agents): void {
  // Clients name a type also where they send nothing.
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeContentTypeParser('application/json');
  fastify.addContentTypeParser(
    ['application/json', mediaType],
    { parseAs: 'string' },
    (request, body, done) => (body === '' ? done(null, undefined) : parse(request, body.toString(), done)),
  );
  const base = agentPath(':agent');
  const serve = (respond: Respond) => (request: FastifyRequest, reply: FastifyReply) =>
    answer(agents, request, reply, respond);
  const options = { schema: { hide: true } } as const;

  fastify.post(
    `${base}/message::send`,
    options,
    serve(async ({ handler, context, body }) => {
      const result = await handler.sendMessage(SendMessageRequest.fromJSON(body ?? {}), context);
      return 'messageId' in result ? { message: Message.toJSON(result) } : { task: Task.toJSON(result) };
    }),
  );
  fastify.post(
    `${base}/message::stream`,
    options,
    serve(({ handler, context, body }) =>
      handler.sendMessageStream(SendMessageRequest.fromJSON(body ?? {}), context),
    ),
  );
  fastify.get(
    `${base}/extendedAgentCard`,
    options,
    serve(
      async ({ handler, context }) =>
        AgentCard.toJSON(await handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, context)) as object,
    ),
  );
  fastify.get(
    `${base}/tasks`,
    options,
    serve(async ({ handler, context, query }) => {
      const wanted = listRequest(query);
      return ListTasksResponse.toJSON(await handler.listTasks(wanted, context)) as object;
    }),
  );
  fastify.get(
    `${base}/tasks/*`,
    options,
    serve((call) => getTask(call)),
  );
  fastify.post(
    `${base}/tasks/*`,
    options,
    serve((call) => actOnTask(call)),
  );
  fastify.delete(
    `${base}/tasks/*`,
    options,
    serve((call) => {
      const config = pushPath(call.path);
      if (!config) throw unknownAction(call.action);
      return deletePushConfig(config, call);
    }),
  );
}

function getTask(call: Call): ReturnType<Respond> {
  const { handler, context, id, action, query, path } = call;
  const config = pushPath(path);
  if (config) return readPushConfigs(config, call);
  if (action === 'subscribe') return handler.resubscribe({ tenant: '', id }, context);
  if (action !== '') throw unknownAction(action);
  const historyLength = integerIn(query, 'historyLength');
  const wanted = { tenant: '', id, ...(historyLength !== undefined && { historyLength }) };
  return handler.getTask(wanted, context).then((task) => Task.toJSON(task) as object);
}

function actOnTask(call: Call): ReturnType<Respond> {
  const { handler, context, id, action, path, body } = call;
  const config = pushPath(path);
  if (config) return createPushConfig(config, body, call);
  switch (action) {
    case 'subscribe':
      return handler.resubscribe({ tenant: '', id }, context);
    case 'cancel':
      return handler
        .cancelTask({ tenant: '', id, metadata: undefined }, context)
        .then((task) => Task.toJSON(task) as object);
    default:
      throw unknownAction(action);
  }
}

function unknownAction(action: string): A2AError {
  return new RequestMalformedError(`There is nothing called "${action}" to do with a task.`);
}

async function answer(
  { find, contextFor }: Agents,
  request: FastifyRequest,
  reply: FastifyReply,
  respond: Respond,
): Promise<FastifyReply> {
  const params = request.params as { agent: string; '*'?: string };
  const { card, handler } = find(params.agent);
  const context = contextFor(request, reply);
  nameExtensions(reply, context, 'a2a-extensions');
  reply.type(mediaType);
  const failed = (error: unknown) => toRestErrorBody(error, restStatusFor(error));
  try {
    validateVersion(context.requestedVersion, card, 'HTTP+JSON');
    const path = params['*'] ?? '';
    const [id = '', action = ''] = splitLast(path);
    const query = request.query as Record<string, unknown>;
    const answered = respond({ handler, context, body: request.body, query, path, id, action });
    if (Symbol.asyncIterator in answered)
      return await sendStream(reply, toJson(answered), { failed, failedStatus: restStatusFor });
    return await reply.send(await answered);
  } catch (error) {
    // What is not of the protocol is the surface's to explain.
    if (!(error instanceof A2AError)) throw error;
    return reply.code(restStatusFor(error)).send(failed(error));
  }
}

async function* toJson(events: AsyncGenerator<StreamResponse, void, undefined>): AsyncGenerator<object> {
  for await (const event of events) yield StreamResponse.toJSON(event) as object;
}

/** `{id}:{action}` */
function splitLast(path: string): string[] {
  const at = path.lastIndexOf(':');
  return at === -1 ? [path] : [path.slice(0, at), path.slice(at + 1)];
}

function listRequest(query: Record<string, unknown>): ListTasksRequest {
  const { includeArtifacts, ...rest } = query;
  return ListTasksRequest.fromJSON({
    ...rest,
    ...(includeArtifacts !== undefined && { includeArtifacts: includeArtifacts === 'true' }),
    pageSize: integerIn(query, 'pageSize'),
    historyLength: integerIn(query, 'historyLength'),
  });
}

function integerIn(query: Record<string, unknown>, name: string): number | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  if (typeof text === 'string' && /^-?\d{1,9}$/.test(text)) return Number(text);
  throw new RequestMalformedError(`${name}: send a whole number.`);
}
