/** HTTP+JSON of A2A 1.0 (section 11). The SDK's own routes keep no heartbeat, which a question of ten minutes needs. */
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
import { restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors';
import type { FastifyInstance } from 'fastify';
import { agentPath } from './card.ts';
import { acceptEmptyBodies, integerIn } from './rest-call.ts';
import { taskRoutes } from './rest-tasks.ts';
import type { RestWire } from './rest-tasks.ts';
import type { Agents } from './served.ts';

const wire: RestWire = {
  isLegacy: false,
  mediaType: 'application/a2a+json',
  extensionsHeader: 'a2a-extensions',
  writeEvent: (event) => StreamResponse.toJSON(event) as object,
  writeError: (error) => toRestErrorBody(error, restStatusFor(error)),
  readSend: SendMessageRequest.fromJSON,
  writeMessage: (message) => Message.toJSON(message) as object,
  writeTask: (task) => Task.toJSON(task) as object,
  readConfig: (body, taskId) => ({ ...TaskPushNotificationConfig.fromJSON(body), taskId }),
  writeConfig: (config) => TaskPushNotificationConfig.toJSON(config) as object,
  writeConfigs: (listed) => ListTaskPushNotificationConfigsResponse.toJSON(listed) as object,
  historyLengthIn: (query) => integerIn(query, 'historyLength'),
};

export function restRoutes(fastify: FastifyInstance, agents: Agents): void {
  acceptEmptyBodies(fastify, ['application/json', wire.mediaType]);
  const routes = taskRoutes(fastify, agents, wire, agentPath(':agent'));
  routes.get(
    '/extendedAgentCard',
    async ({ handler, context }) =>
      AgentCard.toJSON(await handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, context)) as object,
  );
  routes.get(
    '/tasks',
    async ({ handler, context, query }) =>
      ListTasksResponse.toJSON(await handler.listTasks(listRequest(query), context)) as object,
  );
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
