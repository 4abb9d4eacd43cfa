/** The answer to a question, from any client; and the questions of a conversation. */
import { z } from 'zod';
import {
  ElicitationReceiptSchema,
  ElicitationRequestSchema,
  ElicitationResponseSchema,
  ElicitationStatusSchema,
} from '../../contract/elicitation.ts';
import { AnswerHeadersSchema } from '../../contract/headers.ts';
import { ClientIdSchema } from '../../contract/ids.ts';
import type { Storage } from '../../storage/storage.ts';
import { unknownQuestion } from '../answer.ts';
import type { AnswerQuestion } from '../answer.ts';
import { requireOwn } from '../conversation-access.ts';
import { describeRoute } from '../describe-route.ts';
import type { Api } from '../validation.ts';
import { toElicitationEvent, toReceipt } from './translate.ts';

export interface ElicitationResponsesParts {
  storage: Storage;
  answer: AnswerQuestion;
}

const params = z.object({ conversation: ClientIdSchema });
const query = z.object({ status: ElicitationStatusSchema.optional() });

export function elicitationResponsesSurface(api: Api, { storage, answer }: ElicitationResponsesParts): void {
  const post = describeRoute({
    tag: 'elicitations',
    summary: 'Answer a question',
    description: '200: recorded, and what counts. 202: stored; `status` and `awaiting` say what is missing.',
    response: { 200: ElicitationReceiptSchema, 202: ElicitationReceiptSchema },
    problems: [403, 404, 409, 410, 413, 415, 422],
  });
  api.post(
    '/run/api/elicitation-responses',
    { schema: { ...post, body: ElicitationResponseSchema, headers: AnswerHeadersSchema } },
    async (request, reply) => {
      const { conversationId, elicitationId, action, content } = request.body;
      const idempotencyKey = request.headers['idempotency-key'];
      const row = await storage.elicitations.get(elicitationId);
      if (!row || row.tenant !== request.principal.tenant || row.conversation !== conversationId)
        throw unknownQuestion();
      const response = { action, ...(content && { content }) };
      const answered = await answer(row, response, request.principal, {
        address: request.ip,
        idempotencyKey,
      });
      const { statusCode, body } = toReceipt(row.id, answered);
      return reply.code(statusCode).send(body);
    },
  );

  const list = describeRoute({
    tag: 'elicitations',
    summary: 'The questions of a conversation, oldest first',
    response: { 200: z.object({ items: z.array(ElicitationRequestSchema), next: z.null() }) },
    problems: [404],
  });
  api.get(
    '/run/v1/conversations/:conversation/elicitations',
    { schema: { ...list, params, querystring: query } },
    async (request) => {
      const ref = { tenant: request.principal.tenant, conversation: request.params.conversation };
      requireOwn(await storage.turns.conversation(ref), request.principal);
      const rows = await storage.elicitations.ofConversation(ref, request.query.status);
      return { items: rows.map(toElicitationEvent), next: null };
    },
  );
}
