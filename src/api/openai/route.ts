/** The OpenAI-compatible surface: chat completions, and models, which are the agents. */
import type { preValidationAsyncHookHandler } from 'fastify';
import { z } from 'zod';
import { TurnHeadersSchema, AgentNameSchema } from '@interlude-ai/core/contract/http.ts';
import {
  ChatCompletionChunkSchema,
  ChatCompletionRequestSchema,
  ChatCompletionSchema,
  ModelListSchema,
  ModelSchema,
} from '@interlude-ai/core/contract/openai.ts';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Service } from '../../service/service.ts';
import type { AgentConfig } from '../../platform/config/config.ts';
import { unknownAgent } from '../../service/start-turn.ts';
import { describeRoute, either, eventStream, json, problemsOf } from '../http/describe-route.ts';
import type { SurfaceParts } from '../http/readers.ts';
import { pointingTo } from '../http/problems.ts';
import { readerFrom } from '../http/reader-headers.ts';
import { misspeltMembers, withSchemas } from '../http/validation.ts';
import type { Api } from '../http/validation.ts';
import { answerWithOpenAIErrors } from './errors.ts';
import { givenMessages } from './request.ts';
import { streamTurn, wholeTurn } from './show-turn.ts';

const HeadersSchema = TurnHeadersSchema.extend({
  'x-stainless-retry-count': z
    .string()
    .optional()
    .meta({
      examples: ['0'],
      description: 'Sent by the official clients: how often they have sent this request before',
    }),
});

export function openaiSurface(api: Api, parts: SurfaceParts): void {
  api.register(async (surface) => {
    answerWithOpenAIErrors(surface);
    const routes = withSchemas(surface);
    chatCompletions(routes, parts);
    listModels(routes, parts.service.agents);
  });
}

function chatCompletions(api: Api, parts: SurfaceParts): void {
  const post = describeRoute({
    tag: 'openai',
    id: 'createChatCompletion',
    summary: 'Start a turn and follow it',
    description:
      "Parameters that are not listed are ignored; the header `x-interlude-warning` names those that look like a misspelt one. Problem documents have an additional member `error` in OpenAI's shape.",
    response: {
      200: either(
        eventStream('With `stream: true`, chunks of the answer, then `[DONE]`', ChatCompletionChunkSchema),
        json('Without it, the whole answer', ChatCompletionSchema),
      ),
    },
    problems: [
      ...problemsOf.takingABody,
      ...problemsOf.startingATurn,
      'turn_cancelled',
      'turn_failed',
      'turn_unfinished',
    ],
    namesTurn: true,
  });
  api.post(
    '/run/v1/chat/completions',
    {
      bodyLimit: parts.bodyLimit,
      // Before the schema fills in the defaults of missing members.
      preValidation: warnOfMisspelt(ChatCompletionRequestSchema),
      schema: { ...post, body: ChatCompletionRequestSchema, headers: HeadersSchema },
    },
    async (request, reply) => {
      const { body, headers, principal } = request;
      const reader = readerFrom(headers);
      const key = headers['idempotency-key'];
      const retries = headers['x-stainless-retry-count'];
      const turn = await parts.service
        .startTurn(principal, {
          conversation: body.conversationId ?? undefined,
          messages: givenMessages(body),
          agent: body.model,
          // A caller that waits for one JSON answer cannot be shown questions.
          capabilities: body.stream ? reader.capabilities : cannotAsk,
          onBusy: body.onBusy,
          repetition:
            key === undefined ? { kind: 'announced', isRepeat: Number(retries) > 0 } : { kind: 'named', key },
        })
        .catch(pointingTo({ agent: '/model' }));
      const { model } = body;
      if (body.stream) {
        const includeUsage = body.stream_options?.include_usage ?? false;
        return streamTurn(parts, reply, turn, { model, reader, includeUsage });
      }
      const isRepeatable = key !== undefined || retries !== undefined;
      return wholeTurn(parts, reply, turn, { model, isRepeatable });
    },
  );
}

/** OpenAI's clients send members that we do not know, so a misspelt one is accepted: a header and the log name it. */
function warnOfMisspelt(schema: z.ZodType): preValidationAsyncHookHandler {
  const logged = new Set<string>();
  return async (request, reply) => {
    const misspelt = misspeltMembers(schema, request.body).filter(({ name }) => /^[\w -]{1,64}$/.test(name));
    if (misspelt.length === 0) return;
    const words = misspelt.map(({ name, meant }) => `${name}: unknown (did you mean ${meant}?)`).join(', ');
    reply.header('x-interlude-warning', words);
    if (misspelt.every(({ meant }) => logged.has(meant))) return;
    for (const { meant } of misspelt) logged.add(meant);
    request.log.warn(`POST /run/v1/chat/completions has ${words}; it is ignored, and not logged again`);
  };
}

function listModels(api: Api, agents: Service['agents']): void {
  const list = describeRoute({
    tag: 'openai',
    id: 'listModels',
    summary: 'List the agents',
    response: { 200: json('Every agent is a model', ModelListSchema) },
  });
  api.get('/run/v1/models', { schema: list }, async () => ({
    object: 'list',
    data: [...agents.values()].map(toModel),
  }));

  const one = describeRoute({
    tag: 'openai',
    id: 'readModel',
    summary: 'One agent',
    response: { 200: json('The agent', ModelSchema) },
    problems: ['unknown_agent'],
  });
  const params = z.object({
    model: AgentNameSchema.meta({ description: 'The agent', examples: ['assistant'] }),
  });
  api.get('/run/v1/models/:model', { schema: { ...one, params } }, async ({ params: { model } }) => {
    const agent = agents.get(model);
    if (!agent) throw unknownAgent(model, agents);
    return toModel(agent);
  });
}

function toModel({ name, images }: AgentConfig) {
  return { id: name, object: 'model', created: 0, owned_by: 'interlude', ...(images && { images }) };
}
