/** Our agents as A2A agents: JSON-RPC and HTTP+JSON of 1.0 and 0.3, on one address for each agent, at any process. */
import { unknownAgent } from '../../service/start-turn.ts';
import type { Service } from '../../service/service.ts';
import type { Readers } from '../http/readers.ts';
import type { Api } from '../http/validation.ts';
import { contextOf } from './caller.ts';
import { agentCard } from './card.ts';
import type { CardParts } from './card.ts';
import { jsonRpcRoute } from './json-rpc.ts';
import { createRequestHandler } from './request-handler.ts';
import type { HandlerParts } from './request-handler.ts';
import { restRoutes } from './rest.ts';
import { legacyRestRoutes } from './rest-legacy.ts';
import type { Agents, Served } from './served.ts';
import {
  answerWithJsonRpcErrors,
  answerWithLegacyRestErrors,
  answerWithRestErrors,
} from './transport-errors.ts';
import { extensionsOf, versionOf } from './versions.ts';

export interface A2AParts extends CardParts {
  service: HandlerParts & Pick<Service, 'agents'>;
  readers: Readers;
  /** Of what is posted, in bytes. */
  bodyLimit: number;
}

export function a2aSurface(api: Api, { service, readers, bodyLimit, ...card }: A2AParts): void {
  const served = new Map(
    [...service.agents.values()].map((agent): [string, Served] => {
      const own = agentCard(agent, card);
      const handler = createRequestHandler(service, { agent: agent.name, card: own, logger: api.log });
      return [agent.name, { card: own, handler }];
    }),
  );
  const agents: Agents = {
    find(name) {
      const found = served.get(name);
      if (!found) throw unknownAgent(name, service.agents);
      return found;
    },
    contextFor: (request, reply) =>
      contextOf(
        { principal: request.principal, address: request.ip, signal: readers.listen(reply) },
        { version: versionOf(request), extensions: extensionsOf(request) },
      ),
  };
  for (const [answerWithErrors, routes] of [
    [answerWithJsonRpcErrors, jsonRpcRoute],
    [answerWithRestErrors, restRoutes],
    [answerWithLegacyRestErrors, legacyRestRoutes],
  ] as const)
    api.register(async (surface) => {
      surface.addHook('onRoute', (route) => {
        route.bodyLimit = bodyLimit;
      });
      answerWithErrors(surface);
      routes(surface, agents);
    });
}
