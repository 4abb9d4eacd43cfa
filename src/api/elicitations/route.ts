/** The answer to a question, from any client; and the questions of a conversation. */
import { z } from 'zod';
import {
  AnswerBodySchema,
  ElicitationListSchema,
  ElicitationReceiptSchema,
  ElicitationReceiptsSchema,
  ElicitationStatusSchema,
} from '../../contract/elicitation.ts';
import type { ElicitationResponse } from '../../contract/elicitation.ts';
import { AnswerHeadersSchema } from '../../contract/headers.ts';
import { ConversationParamsSchema } from '../../contract/ids.ts';
import { toElicitationEvent } from '../../elicitation/elicitation-event.ts';
import { problemFor } from '../http/answer-with-problems.ts';
import { fromPosted, toReceipt } from '../http/receipt.ts';
import type { Service } from '../../service/service.ts';
import { describeRoute, json, problemsOf } from '../http/describe-route.ts';
import type { Api } from '../http/validation.ts';

type OneAnswer = Omit<ElicitationResponse, 'conversationId'>;

const query = z.object({
  status: ElicitationStatusSchema.optional().meta({
    description: 'Only those of this status; `pending` are the open ones',
    examples: ['pending'],
  }),
});

export function elicitationsSurface(
  api: Api,
  service: Pick<Service, 'answerQuestion' | 'listQuestions'>,
): void {
  const post = describeRoute({
    tag: 'elicitations',
    id: 'answerElicitation',
    summary: 'Answer a question, or several of a conversation',
    response: {
      200: json(
        'The answer is recorded, and what counts; for several answers, one item each',
        z.union([ElicitationReceiptsSchema, ElicitationReceiptSchema]),
      ),
      202: json(
        'The answer is stored; `status` and `awaiting` say what is missing',
        ElicitationReceiptSchema,
      ),
    },
    problems: [...problemsOf.takingABody, ...problemsOf.answering],
  });
  api.post(
    '/run/api/elicitation-responses',
    {
      schema: {
        ...post,
        body: AnswerBodySchema,
        headers: AnswerHeadersSchema,
      },
    },
    async (request, reply) => {
      const { body } = request;
      const answer = async ({ elicitationId, ...posted }: OneAnswer) => {
        const answered = await service.answerQuestion(request.principal, {
          conversation: body.conversationId,
          elicitationId,
          response: fromPosted(posted),
          address: request.ip,
          idempotencyKey: request.headers['idempotency-key'],
        });
        return toReceipt(elicitationId, answered);
      };
      if (!('responses' in body)) {
        const { conversationId: _, ...single } = body;
        const { statusCode, body: receipt } = await answer(single);
        return reply.code(statusCode).send(receipt);
      }
      const items = await Promise.all(
        body.responses.map(async (single) => {
          const { elicitationId } = single;
          try {
            const { statusCode: httpStatus, body: receipt } = await answer(single);
            return { elicitationId, httpStatus, receipt };
          } catch (error) {
            const problem = problemFor(error, request);
            return { elicitationId, httpStatus: problem.statusCode, problem: problem.toDocument() };
          }
        }),
      );
      return reply.code(200).send({ items });
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
    async ({ principal, params, query: { status } }) => {
      const rows = await service.listQuestions(principal, params.conversation, { status });
      return { items: rows.map(toElicitationEvent), next: null };
    },
  );
}
