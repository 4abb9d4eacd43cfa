/** HTTP+JSON of A2A 0.3 (section 3.2.3), below `v1/`: the same handler, with the messages of 0.3's protobuf as JSON. */
import { LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import type { A2AError } from '@a2a-js/sdk/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  readLegacyConfig,
  readLegacySend,
  writeLegacyConfig,
  writeLegacyEvent,
  writeLegacyMessage,
  writeLegacyTask,
} from '../../a2a/legacy-rest.ts';
import { agentPath } from './card.ts';
import { acceptEmptyBodies, answer, decoded, integerIn, unknownAction } from './rest-call.ts';
import type { Respond, RestCall, RestForm } from './rest-call.ts';
import { pushPath } from './rest-push.ts';
import type { PushPath } from './rest-push.ts';
import type { Agents } from './served.ts';

const form: RestForm = {
  isLegacy: true,
  mediaType: 'application/json',
  extensionsHeader: 'x-a2a-extensions',
  writeEvent: writeLegacyEvent,
  // Clients tell errors by the code, and Python's by the name.
  writeError: (error) => ({
    type: (error as A2AError).name,
    ...LegacyRestTransportHandler.mapToLegacyHTTPError(error),
  }),
};

export function legacyRestRoutes(fastify: FastifyInstance, agents: Agents): void {
  acceptEmptyBodies(fastify, [form.mediaType]);
  const base = `${agentPath(':agent')}/v1`;
  const serve = (respond: Respond) => (request: FastifyRequest, reply: FastifyReply) =>
    answer(agents, request, reply, { form, respond });
  const options = { schema: { hide: true } } as const;
  fastify.post(
    `${base}/message::send`,
    options,
    serve(async ({ handler, context, body }) => {
      const result = await handler.sendMessage(decoded(readLegacySend, body), context);
      return 'messageId' in result
        ? { message: writeLegacyMessage(result) }
        : { task: writeLegacyTask(result) };
    }),
  );
  fastify.post(
    `${base}/message::stream`,
    options,
    serve(({ handler, context, body }) => handler.sendMessageStream(decoded(readLegacySend, body), context)),
  );
  fastify.get(
    `${base}/card`,
    options,
    serve(({ handler, context }) => handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, context)),
  );
  fastify.get(`${base}/tasks/*`, options, serve(getTask));
  fastify.post(`${base}/tasks/*`, options, serve(actOnTask));
  fastify.delete(`${base}/tasks/*`, options, serve(deleteConfig));
}

function getTask(call: RestCall): ReturnType<Respond> {
  const { handler, context, id, action, query, path } = call;
  const config = pushPath(path);
  if (config) return readConfigs(config, call);
  if (action === 'subscribe') return handler.resubscribe({ tenant: '', id }, context);
  if (action !== '') throw unknownAction(action);
  const historyLength = integerIn(query, 'historyLength') ?? integerIn(query, 'history_length');
  const wanted = { tenant: '', id, ...(historyLength !== undefined && { historyLength }) };
  return handler.getTask(wanted, context).then(writeLegacyTask);
}

function actOnTask(call: RestCall): ReturnType<Respond> {
  const { handler, context, id, action, path, body } = call;
  const config = pushPath(path);
  if (config) {
    const given = decoded((value) => readLegacyConfig(value, config.taskId), body);
    return handler.createTaskPushNotificationConfig(given, context).then(writeLegacyConfig);
  }
  switch (action) {
    case 'subscribe':
      return handler.resubscribe({ tenant: '', id }, context);
    case 'cancel':
      return handler.cancelTask({ tenant: '', id, metadata: undefined }, context).then(writeLegacyTask);
    default:
      throw unknownAction(action);
  }
}

async function deleteConfig({ handler, context, path, action }: RestCall): Promise<object> {
  const config = pushPath(path);
  if (!config) throw unknownAction(action);
  await handler.deleteTaskPushNotificationConfig({ tenant: '', ...config }, context);
  return {};
}

async function readConfigs(
  { taskId, id }: PushPath,
  { handler, context }: Pick<RestCall, 'handler' | 'context'>,
): Promise<object> {
  if (id !== '')
    return writeLegacyConfig(
      await handler.getTaskPushNotificationConfig({ tenant: '', taskId, id }, context),
    );
  const all = { tenant: '', taskId, pageSize: 0, pageToken: '' };
  const { configs } = await handler.listTaskPushNotificationConfigs(all, context);
  return { configs: configs.map(writeLegacyConfig), nextPageToken: '' };
}
