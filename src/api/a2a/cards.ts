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
import { isLegacy, namedVersionOf } from './versions.ts';

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
    const text = card[formFor(request)];
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

type Form = 'current' | 'legacy' | 'both';

/** Clients of 0.3 name no version, and of 1.0 not all do when they fetch a card; each finds its own members in `both`. */
function formFor(request: FastifyRequest): Form {
  const version = namedVersionOf(request);
  if (version === null) return 'both';
  return isLegacy(version) ? 'legacy' : 'current';
}

/** The SDK translates a card only where it answers a request for one. */
async function texts(card: AgentCard): Promise<Record<Form, string>> {
  const holder = { getAuthenticatedExtendedAgentCard: async () => card } as unknown as A2ARequestHandler;
  const request = { jsonrpc: '2.0', id: 1, method: 'agent/getAuthenticatedExtendedCard' };
  const answer = await new LegacyJsonRpcTransportHandler(holder).handle(request, new ServerCallContext());
  if (!('result' in answer)) throw new Error('a card has a form that 0.3 does not know');
  const current = AgentCard.toJSON(card) as CardJson;
  const legacy = answer.result as CardJson;
  const both = { ...legacy, ...current, securitySchemes: bothSchemes(legacy, current) };
  return {
    current: JSON.stringify(current),
    legacy: JSON.stringify(legacy),
    both: JSON.stringify(both),
  };
}

type CardJson = Record<string, unknown> & { securitySchemes?: Record<string, object> };

function bothSchemes(legacy: CardJson, current: CardJson): Record<string, object> {
  const schemes = Object.entries(current.securitySchemes ?? {});
  return Object.fromEntries(
    schemes.map(([name, scheme]) => [name, { ...legacy.securitySchemes?.[name], ...scheme }]),
  );
}
