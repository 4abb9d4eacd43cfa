/** HTTP+JSON of A2A 0.3 (section 3.2.3), below `v1/`: the same handler, with the messages of 0.3's protobuf as JSON. */
import { LegacyRestTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import type { A2AError } from '@a2a-js/sdk/errors';
import type { FastifyInstance } from 'fastify';
import {
  readLegacyConfig,
  readLegacySend,
  writeLegacyConfig,
  writeLegacyEvent,
  writeLegacyMessage,
  writeLegacyTask,
} from '../../a2a/legacy-rest.ts';
import { agentPath } from './card.ts';
import { acceptEmptyBodies, integerIn } from './rest-call.ts';
import { taskRoutes } from './rest-tasks.ts';
import type { RestWire } from './rest-tasks.ts';
import type { Agents } from './served.ts';

const wire: RestWire = {
  isLegacy: true,
  mediaType: 'application/json',
  extensionsHeader: 'x-a2a-extensions',
  writeEvent: writeLegacyEvent,
  // Clients tell errors by the code, and Python's by the name.
  writeError: (error) => ({
    type: (error as A2AError).name,
    ...LegacyRestTransportHandler.mapToLegacyHTTPError(error),
  }),
  readSend: readLegacySend,
  writeMessage: writeLegacyMessage,
  writeTask: writeLegacyTask,
  readConfig: readLegacyConfig,
  writeConfig: writeLegacyConfig,
  writeConfigs: ({ configs }) => ({ configs: configs.map(writeLegacyConfig), nextPageToken: '' }),
  historyLengthIn: (query) => integerIn(query, 'historyLength') ?? integerIn(query, 'history_length'),
};

export function legacyRestRoutes(fastify: FastifyInstance, agents: Agents): void {
  acceptEmptyBodies(fastify, [wire.mediaType]);
  const routes = taskRoutes(fastify, agents, wire, `${agentPath(':agent')}/v1`);
  routes.get('/card', ({ handler, context }) =>
    handler.getAuthenticatedExtendedAgentCard({ tenant: '' }, context),
  );
}
