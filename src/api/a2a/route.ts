/** Our agents as A2A agents: JSON-RPC of 1.0 and 0.3 and HTTP+JSON of 1.0, at one address per agent. */
import { unknownAgent } from '../../service/start-turn.ts';
import type { SurfaceParts } from '../http/readers.ts';
import type { Api } from '../http/validation.ts';
import { contextOf, extensionsOf, versionOf } from './caller.ts';
import type { Agents, Served } from './caller.ts';
import { agentCard } from './cards.ts';
import type { CardParts } from './cards.ts';
import { jsonRpcRoute } from './json-rpc.ts';
import { createRequestHandler } from './request-handler.ts';
import { restRoutes } from './rest.ts';
import { answerWithJsonRpcErrors, answerWithRestErrors } from './errors.ts';

export function a2aSurface(
  api: Api,
  { service, readers, bodyLimit, ...card }: SurfaceParts & CardParts,
): void {
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
  ] as const)
    api.register(async (surface) => {
      surface.addHook('onRoute', (route) => {
        route.bodyLimit = bodyLimit;
      });
      answerWithErrors(surface);
      routes(surface, agents);
    });
}
