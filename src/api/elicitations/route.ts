/** The answer to a question, from any client; and the questions of a conversation. */
import { z } from 'zod';
import {
  ElicitationListSchema,
  ElicitationReceiptSchema,
  ElicitationResponseSchema,
  ElicitationStatusSchema,
} from '../../contract/elicitation.ts';
import { AnswerHeadersSchema } from '../../contract/headers.ts';
import { ConversationParamsSchema } from '../../contract/ids.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AnswerQuestion } from '../../service/answer-question.ts';
import { requireOwn } from '../../service/conversation-access.ts';
import { describeRoute, json, problemsOf } from '../http/describe-route.ts';
import { takeAnswer } from '../../service/take-answer.ts';
import type { Api } from '../http/validation.ts';
import { toElicitationEvent } from './translate.ts';

export interface ElicitationsParts {
  storage: Storage;
  answer: AnswerQuestion;
}

const query = z.object({
  status: ElicitationStatusSchema.optional().meta({
    description: 'Only those of this status; `pending` are the open ones',
    examples: ['pending'],
  }),
});

export function elicitationsSurface(api: Api, { storage, answer }: ElicitationsParts): void {
  const post = describeRoute({
    tag: 'elicitations',
    id: 'answerElicitation',
    summary: 'Answer a question',
    response: {
      200: json('The answer is recorded, and what counts', ElicitationReceiptSchema),
      202: json(
        'The answer is stored; `status` and `awaiting` say what is missing',
        ElicitationReceiptSchema,
      ),
    },
    problems: [...problemsOf.takingABody, ...problemsOf.answering],
  });
  api.post(
    '/run/api/elicitation-responses',
    { schema: { ...post, body: ElicitationResponseSchema, headers: AnswerHeadersSchema } },
    async (request, reply) => {
      const { conversationId, elicitationId, action, content } = request.body;
      const response = { action, ...(content && { content }) };
      const { statusCode, body } = await takeAnswer(
        { storage, answer },
        { conversationId, elicitationId, response },
        request.principal,
        { address: request.ip, idempotencyKey: request.headers['idempotency-key'] },
      );
      return reply.code(statusCode).send(body);
    },
  );

  const list = describeRoute({
    tag: 'elicitations',
    id: 'listElicitations',
    summary: 'The questions of a conversation, oldest first',
    response: { 200: json('All of them, or those of one status', ElicitationListSchema) },
    problems: ['conversation_not_found'],
  });
  api.get(
    '/run/v1/conversations/:conversation/elicitations',
    { schema: { ...list, params: ConversationParamsSchema, querystring: query } },
    async (request) => {
      const ref = { tenant: request.principal.tenant, conversation: request.params.conversation };
      requireOwn(await storage.turns.conversation(ref), request.principal);
      const rows = await storage.elicitations.ofConversation(ref, request.query.status);
      return { items: rows.map(toElicitationEvent), next: null };
    },
  );
}
