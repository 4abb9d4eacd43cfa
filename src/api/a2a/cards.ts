/** Cards, for anybody: of each agent below its address, and of the first one where agents are looked for at a host. */
import { createHash } from 'node:crypto';
import { AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { toLegacyCard } from '../../a2a/legacy.ts';
import { unknownAgent } from '../../service/start-turn.ts';
import { publicJwk } from '../../config/signing-keys.ts';
import type { Service } from '../../service/service.ts';
import { agentCard, agentPath } from './card.ts';
import type { CardParts } from './card.ts';
import { isLegacy, namedVersionOf } from './versions.ts';

const wellKnown = '/.well-known/agent-card.json';
const keysPath = '/.well-known/jwks.json';

export async function cardRoutes(
  fastify: FastifyInstance,
  { agents, ...parts }: CardParts & Pick<Service, 'agents'>,
): Promise<void> {
  const cards = new Map(
    await Promise.all(
      [...agents.values()].map(
        async (agent) => [agent.name, await texts(await signed(agentCard(agent, parts), parts))] as const,
      ),
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
  fastify.get(keysPath, { schema: { hide: true } }, (_, reply) =>
    reply
      .headers({ 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' })
      .type('application/jwk-set+json')
      .send(JSON.stringify({ keys: parts.signingKeys.map(publicJwk) })),
  );
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

/** By each key, so that clients who know only an older one can still verify it. */
async function signed(card: AgentCard, { publicUrl, signingKeys }: CardParts): Promise<AgentCard> {
  let result = card;
  for (const { alg, kid, jwk } of signingKeys) {
    const header = { alg, kid, typ: 'JOSE', jku: publicUrl + keysPath };
    result = await generateAgentCardSignature(jwk, header)(result);
  }
  return result;
}

type Form = 'current' | 'legacy' | 'both';

/** Clients of 0.3 name no version, and of 1.0 not all do when they fetch a card; each finds its own members in `both`. */
function formFor(request: FastifyRequest): Form {
  const version = namedVersionOf(request);
  if (version === null) return 'both';
  return isLegacy(version) ? 'legacy' : 'current';
}

async function texts(card: AgentCard): Promise<Record<Form, string>> {
  const current = AgentCard.toJSON(card) as CardJson;
  const legacy = (await toLegacyCard(card)) as CardJson;
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
