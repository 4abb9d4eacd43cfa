/** Cards, for anybody: of each agent below its address, and of the first one where agents are looked for at a host. */
import { createHash } from 'node:crypto';
import { AgentCard } from '@a2a-js/sdk';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { ServerCallContext } from '@a2a-js/sdk/server';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { unknownAgent } from '../../service/start-turn.ts';
import type { Service } from '../../service/service.ts';
import { agentCard, agentPath } from './card.ts';
import type { CardParts } from './card.ts';
import { isLegacy, versionOf } from './versions.ts';

const wellKnown = '/.well-known/agent-card.json';

export async function cardRoutes(
  fastify: FastifyInstance,
  { agents, ...parts }: CardParts & Pick<Service, 'agents'>,
): Promise<void> {
  const cards = new Map(
    await Promise.all(
      [...agents.values()].map(async (agent) => [agent.name, await texts(agentCard(agent, parts))] as const),
    ),
  );
  const send = (request: FastifyRequest, reply: FastifyReply, name: string | undefined) => {
    const card = cards.get(name ?? '');
    if (!card) throw unknownAgent(name ?? '', agents);
    const text = isLegacy(versionOf(request)) ? card.legacy : card.current;
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
    reply.headers({
      etag,
      'cache-control': 'public, max-age=300',
      vary: 'a2a-version',
      // It is the same for everybody, and clients run in pages, too.
      'access-control-allow-origin': '*',
    });
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    return reply.type('application/json').send(text);
  };
  const [first] = agents.keys();
  fastify.get(wellKnown, { schema: { hide: true } }, (request, reply) => send(request, reply, first));
  // Clients look beside an address or below it, depending on a slash at its end.
  for (const path of [agentPath(':agent'), agentPath(':agent').replace(/\/a2a$/, '')])
    fastify.get<{ Params: { agent: string } }>(
      path + wellKnown,
      { schema: { hide: true } },
      (request, reply) => send(request, reply, request.params.agent),
    );
}

/** As 1.0 writes it and as 0.3 does: the SDK translates a card only where it answers a request for one. */
async function texts(card: AgentCard): Promise<{ current: string; legacy: string }> {
  const holder = { getAuthenticatedExtendedAgentCard: async () => card } as unknown as A2ARequestHandler;
  const request = { jsonrpc: '2.0', id: 1, method: 'agent/getAuthenticatedExtendedCard' };
  const answer = await new LegacyJsonRpcTransportHandler(holder).handle(request, new ServerCallContext());
  if (!('result' in answer)) throw new Error('a card has a form that 0.3 does not know');
  return { current: JSON.stringify(AgentCard.toJSON(card)), legacy: JSON.stringify(answer.result) };
}
