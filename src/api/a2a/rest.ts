/**
 * HTTP+JSON of A2A 1.0 (section 11). Not the SDK's own routes: those send no heartbeat, which a question of ten minutes needs.
 */
import {
  AgentCard,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { A2AError, RequestMalformedError, restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import { validateVersion } from '@a2a-js/sdk/server';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { unreadable } from './errors.ts';
import { nameExtensions } from './caller.ts';
import type { Agents } from './caller.ts';
import { sendStream } from './stream.ts';
import { agentPath } from './cards.ts';
import { mayBeAnswer } from './send-message.ts';

interface RestCall {
  handler: A2ARequestHandler;
  context: ServerCallContext;
  body: unknown;
  query: Record<string, unknown>;
  /** What follows `tasks/`. */
  path: string;
  /** `path` is `id:action`; action may be empty. */
  id: string;
  action: string;
}

type Events = AsyncGenerator<StreamResponse, void, undefined>;
type Respond = (call: RestCall) => Promise<object> | Events;

const mediaType = 'application/a2a+json';
const options = { schema: { hide: true } } as const;

export function restRoutes(fastify: FastifyInstance, agents: Agents): void {
  acceptEmptyBodies(fastify);
  const base = agentPath(':agent');
  const serve = (respond: Respond) => (request: FastifyRequest, reply: FastifyReply) =>
    answer(agents, respond, request, reply);
  const get = (path: string, respond: Respond) => {
    fastify.get(`${base}${path}`, options, serve(respond));
  };
  const sending = { ...options, config: { isAnswer: mayBeAnswer } };
  fastify.post(
    `${base}/message::send`,
    sending,
    serve(async ({ handler, context, body }) => {
      const result = await handler.sendMessage(decoded(SendMessageRequest.fromJSON, body), context);
      return 'messageId' in result ? { message: Message.toJSON(result) } : { task: Task.toJSON(result) };
    }),
  );
  fastify.post(
    `${base}/message::stream`,
    sending,
    serve(({ handler, context, body }) =>
      handler.sendMessageStream(decoded(SendMessageRequest.fromJSON, body), context),
    ),
  );
  get(
    '/extendedAgentCard',
    async ({ handler, context }) =>
      AgentCard.toJSON(await handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, context)) as object,
  );
  get(
    '/tasks',
    async ({ handler, context, query }) =>
      ListTasksResponse.toJSON(await handler.listTasks(listRequest(query), context)) as object,
  );
  get('/tasks/*', getTask);
  fastify.post(`${base}/tasks/*`, options, serve(actOnTask));
  fastify.delete(`${base}/tasks/*`, options, serve(deleteConfig));
}

function getTask(call: RestCall): ReturnType<Respond> {
  const { handler, context, id, action, query, path } = call;
  const config = pushPath(path);
  if (config) return readConfigs(config, call);
  if (action === 'subscribe') return handler.resubscribe({ tenant: '', id }, context);
  if (action !== '') throw unknownAction(action);
  const historyLength = integerIn(query, 'historyLength');
  const wanted = { tenant: '', id, ...(historyLength !== undefined && { historyLength }) };
  return handler.getTask(wanted, context).then(taskJson);
}

function actOnTask({ handler, context, id, action, path, body }: RestCall): ReturnType<Respond> {
  const config = pushPath(path);
  if (config) {
    const { taskId } = config;
    const given = { ...decoded(TaskPushNotificationConfig.fromJSON, body), taskId };
    return handler.createTaskPushNotificationConfig(given, context).then(configJson);
  }
  switch (action) {
    case 'subscribe':
      return handler.resubscribe({ tenant: '', id }, context);
    case 'cancel':
      return handler.cancelTask({ tenant: '', id, metadata: undefined }, context).then(taskJson);
    default:
      throw unknownAction(action);
  }
}

const taskJson = (task: Task) => Task.toJSON(task) as object;
const configJson = (config: TaskPushNotificationConfig) =>
  TaskPushNotificationConfig.toJSON(config) as object;

async function readConfigs({ taskId, id }: PushPath, { handler, context }: RestCall): Promise<object> {
  if (id !== '') {
    const config = await handler.getTaskPushNotificationConfig({ tenant: '', taskId, id }, context);
    return configJson(config);
  }
  const all = { tenant: '', taskId, pageSize: 0, pageToken: '' };
  const listed = await handler.listTaskPushNotificationConfigs(all, context);
  return ListTaskPushNotificationConfigsResponse.toJSON(listed) as object;
}

async function deleteConfig({ handler, context, path, action }: RestCall): Promise<object> {
  const config = pushPath(path);
  if (!config) throw unknownAction(action);
  await handler.deleteTaskPushNotificationConfig({ tenant: '', ...config }, context);
  return {};
}

interface PushPath {
  taskId: string;
  /** Empty: all configs of the task. */
  id: string;
}

const pushPattern = /^([^/]+)\/pushNotificationConfigs(?:\/([^/]+))?$/;

/** Null if the path is not one of push notification configs. */
function pushPath(path: string): PushPath | null {
  const [, taskId, id = ''] = pushPattern.exec(path) ?? [];
  return taskId === undefined ? null : { taskId, id };
}

function unknownAction(action: string): A2AError {
  return new RequestMalformedError(`There is nothing called "${action}" to do with a task.`);
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

async function answer(
  { find, contextFor }: Agents,
  respond: Respond,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const params = request.params as { agent: string; '*'?: string };
  const { card, handler } = find(params.agent);
  const context = contextFor(request, reply);
  nameExtensions(reply, context, 'a2a-extensions');
  reply.type(mediaType);
  try {
    validateVersion(context.requestedVersion, card, 'HTTP+JSON');
    const path = params['*'] ?? '';
    const [id = '', action = ''] = splitLast(path);
    const query = request.query as Record<string, unknown>;
    const answered = respond({ handler, context, body: request.body, query, path, id, action });
    if (Symbol.asyncIterator in answered)
      return await sendStream(reply, written(answered), {
        failed: errorJson,
        failedStatus: restStatusFor,
      });
    return await reply.send(await answered);
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    return reply.code(restStatusFor(error)).send(errorJson(error));
  }
}

const errorJson = (error: unknown) => toRestErrorBody(error, restStatusFor(error));

/** Some clients send a content type without a body. */
function acceptEmptyBodies(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeContentTypeParser('application/json');
  fastify.addContentTypeParser(
    ['application/json', mediaType],
    { parseAs: 'string' },
    (request, body, done) => (body === '' ? done(null, undefined) : parse(request, body.toString(), done)),
  );
}

/** `decode`: a codec of the SDK, which throws errors of its own. */
function decoded<T>(decode: (body: unknown) => T, body: unknown): T {
  try {
    return decode(body ?? {});
  } catch {
    throw unreadable();
  }
}

function integerIn(query: Record<string, unknown>, name: string): number | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  if (typeof text === 'string' && /^-?\d{1,9}$/.test(text)) return Number(text);
  throw new RequestMalformedError(`${name}: send a whole number.`);
}

async function* written(events: Events): AsyncGenerator<object> {
  for await (const event of events) yield StreamResponse.toJSON(event) as object;
}

function splitLast(path: string): string[] {
  const at = path.lastIndexOf(':');
  return at === -1 ? [path] : [path.slice(0, at), path.slice(at + 1)];
}
