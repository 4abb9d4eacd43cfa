/** The answer to a question, from any client; and the questions of a conversation, or to a user. */
import { z } from 'zod';
import {
  AnswerBodySchema,
  ElicitationReceiptSchema,
  ElicitationReceiptsSchema,
} from '../../contract/elicitation-response.ts';
import type { ElicitationResponse } from '../../contract/elicitation-response.ts';
import { AnswerHeadersSchema } from '../../contract/headers.ts';
import { problemFor } from '../http/answer-with-problems.ts';
import type { CountEach } from '../http/limits.ts';
import { fromPosted, toReceipt } from '../http/receipt.ts';
import type { Service } from '../../service/service.ts';
import { describeRoute, json, problemsOf } from '../http/describe-route.ts';
import type { Api } from '../http/validation.ts';
import { questionRoutes } from './questions.ts';
import type { QuestionRoutesParts } from './questions.ts';

type OneAnswer = Omit<ElicitationResponse, 'conversationId'>;

export interface ElicitationsParts extends QuestionRoutesParts {
  service: Pick<Service, 'answerQuestion'> & QuestionRoutesParts['service'];
  /** Each answer of a list counts as it would alone. */
  countEach: CountEach;
}

export function elicitationsSurface(api: Api, { service, readers, countEach }: ElicitationsParts): void {
  questionRoutes(api, { service, readers });
  const post = describeRoute({
    tag: 'elicitations',
    id: 'answerElicitation',
    summary: 'Answer a question, or several of a conversation',
    response: {
      200: json(
        'The answer is recorded, and what counts; for several answers, one item each',
        z.union([ElicitationReceiptsSchema, ElicitationReceiptSchema]),
      ),
      202: json('Consent is recorded; `awaiting` names what is missing', ElicitationReceiptSchema),
    },
    problems: [...problemsOf.takingABody, ...problemsOf.answering],
  });
  api.post(
    '/run/api/elicitation-responses',
    {
      config: { isAnswer: () => true },
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
          source: posted.source,
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
      const refusals = await countEach(request, body.responses.length);
      const items = await Promise.all(
        body.responses.map(async (single, index) => {
          const { elicitationId } = single;
          try {
            const refusal = refusals[index];
            if (refusal) throw refusal;
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
}
