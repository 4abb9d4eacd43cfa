/** The OpenAI-compatible surface: chat completions, and the list of models, which are the agents. */
import { z } from 'zod';
import { TurnHeadersSchema } from '../../contract/headers.ts';
import {
  ChatCompletionChunkSchema,
  ChatCompletionRequestSchema,
  ChatCompletionSchema,
} from '../../contract/openai.ts';
import { cannotAsk } from '../../elicitation/capabilities.ts';
import { describeRoute, either, eventStream, json, problemsOf } from '../http/describe-route.ts';
import type { Readers } from '../http/readers.ts';
import type { Service } from '../../service/service.ts';
import { standingAt } from '../http/problems.ts';
import { readerFrom } from '../http/request-headers.ts';
import { withSchemas } from '../http/validation.ts';
import type { Api } from '../http/validation.ts';
import { answerWithOpenAIErrors } from './errors.ts';
import { listModels } from './models.ts';
import { givenMessages } from './request.ts';
import { createShowTurn } from './show-turn.ts';

export interface OpenAIParts {
  service: Pick<Service, 'agents' | 'startTurn' | 'followTurn' | 'readTurn'>;
  readers: Readers;
  /** Of what is posted, in bytes. */
  bodyLimit: number;
}

const HeadersSchema = TurnHeadersSchema.extend({
  'x-stainless-retry-count': z
    .string()
    .optional()
    .meta({
      examples: ['0'],
      description: 'Sent by the official clients: how often they have sent this request before',
    }),
});

export function openaiSurface(api: Api, parts: OpenAIParts): void {
  api.register(async (surface) => {
    answerWithOpenAIErrors(surface);
    const routes = withSchemas(surface);
    chatCompletions(routes, parts);
    listModels(routes, parts.service.agents);
  });
}

function chatCompletions(api: Api, parts: OpenAIParts): void {
  const show = createShowTurn(parts);

  const post = describeRoute({
    tag: 'openai',
    id: 'createChatCompletion',
    summary: 'Start a turn and follow it',
    description:
      "Parameters that are not listed are ignored. Problem documents have an additional member `error` in OpenAI's shape.",
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
          // A caller that waits for one JSON answer has nowhere to see a question.
          capabilities: body.stream ? reader.capabilities : cannotAsk,
          onBusy: body.onBusy,
          repetition:
            key === undefined ? { kind: 'announced', isRepeat: Number(retries) > 0 } : { kind: 'named', key },
        })
        .catch(standingAt({ agent: '/model' }));
      const { model } = body;
      if (body.stream) {
        const includeUsage = body.stream_options?.include_usage ?? false;
        return show.streamed(reply, turn, { model, reader, includeUsage });
      }
      const isRepeatable = key !== undefined || retries !== undefined;
      return show.whole(reply, turn, { model, isRepeatable });
    },
  );
}
