/**
 * Public agent cards (specification 1.0, section 4.4): each agent's below its address, and the first agent's at the
 * well-known path of the host.
 */
import { createHash } from 'node:crypto';
import { AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';
import type { AgentInterface, SecurityScheme } from '@a2a-js/sdk';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toLegacyCard } from './vocabulary/legacy.ts';
import { unknownAgent } from '../../service/start-turn.ts';
import { publicJwk } from '../../platform/config/signing-keys.ts';
import type { SigningKey } from '../../platform/config/signing-keys.ts';
import type { Service } from '../../service/service.ts';
import type { AgentConfig, AuthConfig } from '../../platform/config/config.ts';
import { imageTypes } from '@interlude-ai/core/images.ts';
import { elicitationExtension } from './vocabulary/question.ts';
import { isLegacy, namedVersionOf } from './caller.ts';

const wellKnown = '/.well-known/agent-card.json';
const keysPath = '/.well-known/jwks.json';

export async function cardRoutes(
  fastify: FastifyInstance,
  { agents, ...parts }: CardParts & { agents: Service['agents'] },
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
      // Public, and some clients run in web pages.
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
  // Depending on a slash at the end of the address, clients look below it or beside it.
  for (const path of [agentPath(':agent'), agentPath(':agent').replace(/\/a2a$/, '')])
    fastify.get<{ Params: { agent: string } }>(
      path + wellKnown,
      { schema: { hide: true } },
      (request, reply) => send(request, reply, request.params.agent),
    );
}

/** Signed with every key, so that clients that only know an older key can verify the card. */
async function signed(card: AgentCard, { publicUrl, signingKeys }: CardParts): Promise<AgentCard> {
  let result = card;
  for (const { alg, kid, jwk } of signingKeys) {
    const header = { alg, kid, typ: 'JOSE', jku: publicUrl + keysPath };
    result = await generateAgentCardSignature(jwk, header)(result);
  }
  return result;
}

type Form = 'current' | 'legacy' | 'both';

/** Clients of 0.3 and some of 1.0 name no version when they fetch a card: `both` has the members of either. */
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

export const agentPath = (agent: string) => `/run/agents/${agent}/a2a`;

export interface CardParts {
  publicUrl: string;
  auth: AuthConfig;
  version: string;
  /** Each key signs each card. */
  signingKeys: SigningKey[];
}

export function agentCard(
  { name, title, description, images, examples = [] }: AgentConfig,
  { publicUrl, auth, version }: Omit<CardParts, 'signingKeys'>,
): AgentCard {
  const url = publicUrl + agentPath(name);
  const words = description === '' ? `The agent ${title}.` : description;
  return {
    name: title,
    description: words,
    version,
    supportedInterfaces: [
      interfaceAt(url, 'JSONRPC', '1.0'),
      interfaceAt(url, 'HTTP+JSON', '1.0'),
      interfaceAt(url, 'JSONRPC', '0.3'),
    ],
    provider: { organization: 'Interlude', url: publicUrl },
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: false,
      extensions: [
        {
          uri: elicitationExtension,
          description: 'Questions to the user, and answers to them, as data',
          required: false,
          params: undefined,
        },
      ],
    },
    securitySchemes: { bearer: bearer(), issuer: issuer(auth) },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }, { schemes: { issuer: { list: [] } } }],
    defaultInputModes: ['text/plain', 'application/json', ...(images ? imageTypes : [])],
    defaultOutputModes: ['text/plain'],
    skills: [
      {
        id: name,
        name: title,
        description: words,
        tags: ['chat'],
        examples,
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    signatures: [],
  };
}

function interfaceAt(url: string, protocolBinding: string, protocolVersion: string): AgentInterface {
  return { url, protocolBinding, protocolVersion, tenant: '' };
}

function bearer(): SecurityScheme {
  const description = 'An access token of the user, or an API key';
  return {
    scheme: {
      $case: 'httpAuthSecurityScheme',
      value: { description, scheme: 'bearer', bearerFormat: '' },
    },
  };
}

function issuer({ issuer: url }: AuthConfig): SecurityScheme {
  return {
    scheme: {
      $case: 'openIdConnectSecurityScheme',
      value: {
        description: 'Where users sign in',
        openIdConnectUrl: `${url.replace(/\/$/, '')}/.well-known/openid-configuration`,
      },
    },
  };
}
