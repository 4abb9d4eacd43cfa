/**
 * HTTP+JSON of A2A 1.0 (section 11), and of 0.3 (section 3.2.3) below `v1/`. Both go to the same handler; `RestVersion` is what
 * they write differently. Not the SDK's own routes: those send no heartbeat, which a question of ten minutes needs.
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
import {
  A2AError,
  RequestMalformedError,
  restStatusFor,
  VersionNotSupportedError,
  toRestErrorBody,
} from '@a2a-js/sdk/errors';
import { validateVersion } from '@a2a-js/sdk/server';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import {
  readLegacyConfig,
  readLegacySend,
  writeLegacyConfig,
  writeLegacyEvent,
  writeLegacyMessage,
  writeLegacyTask,
} from '../../a2a/legacy.ts';
import { unreadable } from './errors.ts';
import { nameExtensions, isLegacy } from './caller.ts';
import type { Agents } from './caller.ts';
import { sendStream } from './stream.ts';
import { agentPath } from './cards.ts';
import { mayBeAnswer } from './send-message.ts';

/** How one version of the protocol reads and writes. */
interface RestVersion {
  isLegacy: boolean;
  mediaType: string;
  extensionsHeader: string;
  readSend(body: unknown): SendMessageRequest;
  writeMessage(message: Message): object;
  writeTask(task: Task): object;
  writeEvent(event: StreamResponse): object;
  writeError(error: unknown): object;
  readConfig(body: unknown, taskId: string): TaskPushNotificationConfig;
  writeConfig(config: TaskPushNotificationConfig): object;
  writeConfigs(listed: ListTaskPushNotificationConfigsResponse): object;
  historyLengthIn(query: RestCall['query']): number | undefined;
}

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

const current: RestVersion = {
  isLegacy: false,
  mediaType: 'application/a2a+json',
  extensionsHeader: 'a2a-extensions',
  readSend: SendMessageRequest.fromJSON,
  writeMessage: (message) => Message.toJSON(message) as object,
  writeTask: (task) => Task.toJSON(task) as object,
  writeEvent: (event) => StreamResponse.toJSON(event) as object,
  writeError: (error) => toRestErrorBody(error, restStatusFor(error)),
  readConfig: (body, taskId) => ({ ...TaskPushNotificationConfig.fromJSON(body), taskId }),
  writeConfig: (config) => TaskPushNotificationConfig.toJSON(config) as object,
  writeConfigs: (listed) => ListTaskPushNotificationConfigsResponse.toJSON(listed) as object,
  historyLengthIn: (query) => integerIn(query, 'historyLength'),
};

const legacy: RestVersion = {
  isLegacy: true,
  mediaType: 'application/json',
  extensionsHeader: 'x-a2a-extensions',
  readSend: readLegacySend,
  writeMessage: writeLegacyMessage,
  writeTask: writeLegacyTask,
  writeEvent: writeLegacyEvent,
  // Most clients tell errors apart by the code, Python's by the name.
  writeError: (error) => ({
    type: (error as A2AError).name,
    ...LegacyRestTransportHandler.mapToLegacyHTTPError(error),
  }),
  readConfig: readLegacyConfig,
  writeConfig: writeLegacyConfig,
  writeConfigs: ({ configs }) => ({ configs: configs.map(writeLegacyConfig), nextPageToken: '' }),
  historyLengthIn: (query) => integerIn(query, 'historyLength') ?? integerIn(query, 'history_length'),
};

export function restRoutes(fastify: FastifyInstance, agents: Agents): void {
  acceptEmptyBodies(fastify, ['application/json', current.mediaType]);
  const get = taskRoutes(fastify, agents, current, agentPath(':agent'));
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
}

export function legacyRestRoutes(fastify: FastifyInstance, agents: Agents): void {
  acceptEmptyBodies(fastify, [legacy.mediaType]);
  const get = taskRoutes(fastify, agents, legacy, `${agentPath(':agent')}/v1`);
  get('/card', ({ handler, context }) => handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, context));
}

/** What both versions offer: messages, tasks, and their push notification configs. Returns how to add another GET route. */
function taskRoutes(
  fastify: FastifyInstance,
  agents: Agents,
  version: RestVersion,
  base: string,
): (path: string, respond: Respond) => void {
  const serve = (respond: Respond) => (request: FastifyRequest, reply: FastifyReply) =>
    answer(agents, version, respond, request, reply);
  const options = { schema: { hide: true } } as const;
  const get = (path: string, respond: Respond) => {
    fastify.get(`${base}${path}`, options, serve(respond));
  };
  const sent: Respond = async ({ handler, context, body }) => {
    const result = await handler.sendMessage(decoded(version.readSend, body), context);
    return 'messageId' in result
      ? { message: version.writeMessage(result) }
      : { task: version.writeTask(result) };
  };
  const streamed: Respond = ({ handler, context, body }) =>
    handler.sendMessageStream(decoded(version.readSend, body), context);
  const sending = { ...options, config: { isAnswer: mayBeAnswer } };
  fastify.post(`${base}/message::send`, sending, serve(sent));
  fastify.post(`${base}/message::stream`, sending, serve(streamed));
  get('/tasks/*', (call) => getTask(version, call));
  fastify.post(
    `${base}/tasks/*`,
    options,
    serve((call) => actOnTask(version, call)),
  );
  fastify.delete(`${base}/tasks/*`, options, serve(deleteConfig));
  return get;
}

function getTask(version: RestVersion, call: RestCall): ReturnType<Respond> {
  const { handler, context, id, action, query, path } = call;
  const config = pushPath(path);
  if (config) return readConfigs(version, config, call);
  if (action === 'subscribe') return handler.resubscribe({ tenant: '', id }, context);
  if (action !== '') throw unknownAction(action);
  const historyLength = version.historyLengthIn(query);
  const wanted = { tenant: '', id, ...(historyLength !== undefined && { historyLength }) };
  return handler.getTask(wanted, context).then(version.writeTask);
}

function actOnTask(version: RestVersion, call: RestCall): ReturnType<Respond> {
  const { handler, context, id, action, path, body } = call;
  const config = pushPath(path);
  if (config) {
    const given = decoded((value) => version.readConfig(value, config.taskId), body);
    return handler.createTaskPushNotificationConfig(given, context).then(version.writeConfig);
  }
  switch (action) {
    case 'subscribe':
      return handler.resubscribe({ tenant: '', id }, context);
    case 'cancel':
      return handler.cancelTask({ tenant: '', id, metadata: undefined }, context).then(version.writeTask);
    default:
      throw unknownAction(action);
  }
}

async function readConfigs(
  version: RestVersion,
  { taskId, id }: PushPath,
  { handler, context }: RestCall,
): Promise<object> {
  if (id !== '') {
    const config = await handler.getTaskPushNotificationConfig({ tenant: '', taskId, id }, context);
    return version.writeConfig(config);
  }
  const all = { tenant: '', taskId, pageSize: 0, pageToken: '' };
  return version.writeConfigs(await handler.listTaskPushNotificationConfigs(all, context));
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
  version: RestVersion,
  respond: Respond,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const params = request.params as { agent: string; '*'?: string };
  const { card, handler } = find(params.agent);
  const context = contextFor(request, reply);
  nameExtensions(reply, context, version.extensionsHeader);
  reply.type(version.mediaType);
  try {
    const { requestedVersion } = context;
    validateVersion(requestedVersion, card, 'HTTP+JSON');
    if (isLegacy(requestedVersion) !== version.isLegacy)
      throw new VersionNotSupportedError(`This address is not one of version ${requestedVersion}.`);
    const path = params['*'] ?? '';
    const [id = '', action = ''] = splitLast(path);
    const query = request.query as Record<string, unknown>;
    const answered = respond({ handler, context, body: request.body, query, path, id, action });
    if (Symbol.asyncIterator in answered)
      return await sendStream(reply, written(answered, version), {
        failed: version.writeError,
        failedStatus: restStatusFor,
      });
    return await reply.send(await answered);
  } catch (error) {
    if (!(error instanceof A2AError)) throw error;
    return reply.code(restStatusFor(error)).send(version.writeError(error));
  }
}

/** Some clients send a content type without a body. */
function acceptEmptyBodies(fastify: FastifyInstance, mediaTypes: string[]): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeContentTypeParser('application/json');
  fastify.addContentTypeParser(mediaTypes, { parseAs: 'string' }, (request, body, done) =>
    body === '' ? done(null, undefined) : parse(request, body.toString(), done),
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

async function* written(events: Events, { writeEvent }: RestVersion): AsyncGenerator<object> {
  for await (const event of events) yield writeEvent(event);
}

function splitLast(path: string): string[] {
  const at = path.lastIndexOf(':');
  return at === -1 ? [path] : [path.slice(0, at), path.slice(at + 1)];
}
