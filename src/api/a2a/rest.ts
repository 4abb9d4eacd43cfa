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
import { restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { agentPath } from './card.ts';
import { createPushConfig, deletePushConfig, pushPath, readPushConfigs } from './rest-push.ts';
import { acceptEmptyBodies, answer, decoded, integerIn, unknownAction } from './rest-call.ts';
import type { Respond, RestCall, RestForm } from './rest-call.ts';
import type { Agents } from './served.ts';

const form: RestForm = {
  isLegacy: false,
  mediaType: 'application/a2a+json',
  extensionsHeader: 'a2a-extensions',
  writeEvent: (event) => StreamResponse.toJSON(event) as object,
  writeError: (error) => toRestErrorBody(error, restStatusFor(error)),
};

export function restRoutes(fastify: FastifyInstance, agents: Agents): void {
  acceptEmptyBodies(fastify, ['application/json', form.mediaType]);
  const base = agentPath(':agent');
  const serve = (respond: Respond) => (request: FastifyRequest, reply: FastifyReply) =>
    answer(agents, request, reply, { form, respond });
  const options = { schema: { hide: true } } as const;

  fastify.post(
    `${base}/message::send`,
    options,
    serve(async ({ handler, context, body }) => {
      const result = await handler.sendMessage(decoded(SendMessageRequest.fromJSON, body), context);
      return 'messageId' in result ? { message: Message.toJSON(result) } : { task: Task.toJSON(result) };
    }),
  );
  fastify.post(
    `${base}/message::stream`,
    options,
    serve(({ handler, context, body }) =>
      handler.sendMessageStream(decoded(SendMessageRequest.fromJSON, body), context),
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

function getTask(call: RestCall): ReturnType<Respond> {
  const { handler, context, id, action, query, path } = call;
  const config = pushPath(path);
  if (config) return readPushConfigs(config, call);
  if (action === 'subscribe') return handler.resubscribe({ tenant: '', id }, context);
  if (action !== '') throw unknownAction(action);
  const historyLength = integerIn(query, 'historyLength');
  const wanted = { tenant: '', id, ...(historyLength !== undefined && { historyLength }) };
  return handler.getTask(wanted, context).then((task) => Task.toJSON(task) as object);
}

function actOnTask(call: RestCall): ReturnType<Respond> {
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

function listRequest(query: Record<string, unknown>): ListTasksRequest {
  const { includeArtifacts, ...rest } = query;
  return ListTasksRequest.fromJSON({
    ...rest,
    ...(includeArtifacts !== undefined && { includeArtifacts: includeArtifacts === 'true' }),
    pageSize: integerIn(query, 'pageSize'),
    historyLength: integerIn(query, 'historyLength'),
  });
}
