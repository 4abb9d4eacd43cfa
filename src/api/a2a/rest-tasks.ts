/** What both versions of HTTP+JSON offer at the same addresses: messages, tasks, and their push notification configs. */
import type {
  ListTaskPushNotificationConfigsResponse,
  Message,
  SendMessageRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { mayBeAnswer } from './answer.ts';
import { answer, decoded, unknownAction } from './rest-call.ts';
import type { Respond, RestCall, RestForm } from './rest-call.ts';
import type { Agents } from './served.ts';

/** How a version writes what both say. */
export interface RestWire extends RestForm {
  readSend(body: unknown): SendMessageRequest;
  writeMessage(message: Message): object;
  writeTask(task: Task): object;
  readConfig(body: unknown, taskId: string): TaskPushNotificationConfig;
  writeConfig(config: TaskPushNotificationConfig): object;
  writeConfigs(listed: ListTaskPushNotificationConfigsResponse): object;
  historyLengthIn(query: RestCall['query']): number | undefined;
}

/** The addresses of a version: a way to add those that it alone has. */
export interface RestRoutes {
  get(path: string, respond: Respond): void;
}

export function taskRoutes(
  fastify: FastifyInstance,
  agents: Agents,
  wire: RestWire,
  base: string,
): RestRoutes {
  const serve = (respond: Respond) => (request: FastifyRequest, reply: FastifyReply) =>
    answer(agents, request, reply, { form: wire, respond });
  const options = { schema: { hide: true } } as const;
  const get: RestRoutes['get'] = (path, respond) => {
    fastify.get(`${base}${path}`, options, serve(respond));
  };
  const sent: Respond = async ({ handler, context, body }) => {
    const result = await handler.sendMessage(decoded(wire.readSend, body), context);
    return 'messageId' in result ? { message: wire.writeMessage(result) } : { task: wire.writeTask(result) };
  };
  const streamed: Respond = ({ handler, context, body }) =>
    handler.sendMessageStream(decoded(wire.readSend, body), context);
  const sending = { ...options, config: { isAnswer: mayBeAnswer } };
  fastify.post(`${base}/message::send`, sending, serve(sent));
  fastify.post(`${base}/message::stream`, sending, serve(streamed));
  get('/tasks/*', (call) => getTask(wire, call));
  fastify.post(
    `${base}/tasks/*`,
    options,
    serve((call) => actOnTask(wire, call)),
  );
  fastify.delete(`${base}/tasks/*`, options, serve(deleteConfig));
  return { get };
}

function getTask(wire: RestWire, call: RestCall): ReturnType<Respond> {
  const { handler, context, id, action, query, path } = call;
  const config = pushPath(path);
  if (config) return readConfigs(wire, config, call);
  if (action === 'subscribe') return handler.resubscribe({ tenant: '', id }, context);
  if (action !== '') throw unknownAction(action);
  const historyLength = wire.historyLengthIn(query);
  const wanted = { tenant: '', id, ...(historyLength !== undefined && { historyLength }) };
  return handler.getTask(wanted, context).then(wire.writeTask);
}

function actOnTask(wire: RestWire, call: RestCall): ReturnType<Respond> {
  const { handler, context, id, action, path, body } = call;
  const config = pushPath(path);
  if (config) {
    const given = decoded((value) => wire.readConfig(value, config.taskId), body);
    return handler.createTaskPushNotificationConfig(given, context).then(wire.writeConfig);
  }
  switch (action) {
    case 'subscribe':
      return handler.resubscribe({ tenant: '', id }, context);
    case 'cancel':
      return handler.cancelTask({ tenant: '', id, metadata: undefined }, context).then(wire.writeTask);
    default:
      throw unknownAction(action);
  }
}

async function readConfigs(
  wire: RestWire,
  { taskId, id }: PushPath,
  { handler, context }: Pick<RestCall, 'handler' | 'context'>,
): Promise<object> {
  if (id !== '')
    return wire.writeConfig(await handler.getTaskPushNotificationConfig({ tenant: '', taskId, id }, context));
  const all = { tenant: '', taskId, pageSize: 0, pageToken: '' };
  return wire.writeConfigs(await handler.listTaskPushNotificationConfigs(all, context));
}

async function deleteConfig({ handler, context, path, action }: RestCall): Promise<object> {
  const config = pushPath(path);
  if (!config) throw unknownAction(action);
  await handler.deleteTaskPushNotificationConfig({ tenant: '', ...config }, context);
  return {};
}

interface PushPath {
  taskId: string;
  /** Empty: all of the task. */
  id: string;
}

const pattern = /^([^/]+)\/pushNotificationConfigs(?:\/([^/]+))?$/;

/** Of what stands behind `tasks/`; null for the address of anything else. */
function pushPath(path: string): PushPath | null {
  const [, taskId, id = ''] = pattern.exec(path) ?? [];
  return taskId === undefined ? null : { taskId, id };
}
