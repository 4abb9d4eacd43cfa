/** The AI SDK surface, for an unmodified `useChat`. */
import { z } from 'zod';
import {
  CancelAnswerSchema,
  ChatAnswerSchema,
  ChatChunkSchema,
  ChatRequestSchema,
} from '@interlude-ai/core/contract/chat.ts';
import type { ChatRequest } from '@interlude-ai/core/contract/chat.ts';
import { ElicitationReceiptSchema } from '@interlude-ai/core/contract/elicitation.ts';
import {
  ReaderHeadersSchema,
  TurnHeadersSchema,
  ConversationParamsSchema,
} from '@interlude-ai/core/contract/http.ts';
import { cannotAsk } from '@interlude-ai/core/elicitation/elicitation.ts';
import { describeRoute, either, eventStream, json, nothing, problemsOf } from '../http/describe-route.ts';
import { toReceipt } from '../http/receipt.ts';
import { readerFrom } from '../http/reader-headers.ts';
import type { Api } from '../http/validation.ts';
import { isAnswer, readPosted } from './request.ts';
import type { SurfaceParts } from '../http/readers.ts';
import { pointingTo } from '../http/problems.ts';
import { streamTurn, wholeTurn } from './show-turn.ts';

const uiStream = eventStream(
  'An AI SDK UI message stream: one `ChatChunk` per event, then `[DONE]`',
  ChatChunkSchema,
);

export function chatSurface(api: Api, parts: SurfaceParts): void {
  const { service } = parts;

  const post = describeRoute({
    tag: 'chat',
    id: 'chat',
    summary: 'Start a turn and follow it; or answer a question',
    response: {
      200: either(
        uiStream,
        json(
          'With `stream: false`, the whole answer; for an answer to a question, its receipt',
          z.union([ChatAnswerSchema, ElicitationReceiptSchema]),
        ),
      ),
      202: json('Consent is recorded; `awaiting` names what is missing', ElicitationReceiptSchema),
    },
    problems: [...problemsOf.takingABody, ...problemsOf.startingATurn, ...problemsOf.answering],
    namesTurn: true,
  });
  api.post(
    '/run/api/chat',
    {
      bodyLimit: parts.bodyLimit,
      config: { isAnswer: (body) => isAnswer(body as ChatRequest) },
      schema: { ...post, body: ChatRequestSchema, headers: TurnHeadersSchema },
    },
    async (request, reply) => {
      const { body, headers, principal } = request;
      const key = headers['idempotency-key'];
      const posted = readPosted(body);
      if (posted.kind === 'answer') {
        const { answer, pointer } = posted;
        const answered = await service
          .answerQuestion(principal, { ...answer, address: request.ip, idempotencyKey: key })
          .catch(pointingTo({ content: `${pointer}/content` }));
        const receipt = toReceipt(answer.elicitationId, answered);
        // Never 204: the SDK takes an empty body for a failure.
        return reply.code(receipt.statusCode).send(receipt.body);
      }
      const given = readerFrom(headers);
      // A caller that waits for one JSON answer cannot be shown questions.
      const reader = body.stream ? given : { ...given, capabilities: cannotAsk };
      const turn = await service
        .startTurn(principal, {
          conversation: body.id,
          messages: posted.messages,
          agent: body.agentId,
          capabilities: reader.capabilities,
          onBusy: body.onBusy,
          repetition: key === undefined ? { kind: 'unnamed' } : { kind: 'named', key },
        })
        .catch(pointingTo({ agent: '/agentId' }));
      return (body.stream ? streamTurn : wholeTurn)(parts, reply, { turn, reader });
    },
  );

  const stream = describeRoute({
    tag: 'chat',
    id: 'followLiveTurn',
    summary: 'Replay the live turn from its start, then follow it',
    response: { 200: uiStream, 204: nothing('No turn is live') },
    problems: ['conversation_not_found'],
    namesTurn: true,
  });
  api.get(
    '/run/api/chat/:conversation/stream',
    {
      exposeHeadRoute: false,
      schema: { ...stream, params: ConversationParamsSchema, headers: ReaderHeadersSchema },
    },
    async (request, reply) => {
      const { conversation } = request.params;
      // `useChat` asks on every mount, even for a conversation that so far exists only in the browser.
      const turn = await service.currentTurn(request.principal, conversation);
      if (turn === null) return reply.code(204).send();
      return streamTurn(parts, reply, { turn, reader: readerFrom(request.headers) });
    },
  );

  const cancel = describeRoute({
    tag: 'chat',
    id: 'cancelTurn',
    summary: 'Ask the live turn to stop; again is harmless',
    response: { 200: json('Whether there is anything to stop', CancelAnswerSchema) },
    problems: [...problemsOf.takingABody, 'conversation_not_found'],
  });
  api.post(
    '/run/api/chat/:conversation/cancel',
    { schema: { ...cancel, params: ConversationParamsSchema } },
    ({ principal, params }) => service.cancelTurn(principal, params),
  );
}
