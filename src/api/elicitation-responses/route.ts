/** The answer to a question, from any client; and the questions of a conversation. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ElicitationResponse } from '../../elicitation/elicitation.ts';
import type { Storage } from '../../storage/storage.ts';
import { unknownQuestion } from '../answer.ts';
import type { AnswerQuestion } from '../answer.ts';
import { clientId } from '../client-ids.ts';
import { requireOwn } from '../conversation-access.ts';
import { parseInput } from '../errors.ts';
import { elicitationResponse, toElicitationEvent, toReceipt } from './translate.ts';

export interface ElicitationResponsesParts {
  storage: Storage;
  answer: AnswerQuestion;
}

const headers = z.object({
  'idempotency-key': z.string().min(1).max(255).optional(),
});
const params = z.object({ conversation: clientId });
const query = z.object({ status: z.enum(['pending', 'accept', 'decline', 'cancel', 'expired']).optional() });

export function elicitationResponsesSurface(
  fastify: FastifyInstance,
  { storage, answer }: ElicitationResponsesParts,
): void {
  fastify.post('/run/api/elicitation-responses', async (request, reply) => {
    const { conversationId, elicitationId, action, content } = parseInput(elicitationResponse, request.body);
    const { 'idempotency-key': idempotencyKey } = parseInput(headers, request.headers);
    const row = await storage.elicitations.get(elicitationId);
    if (!row || row.tenant !== request.principal.tenant || row.conversation !== conversationId)
      throw unknownQuestion();
    const response: ElicitationResponse = { action, ...(content && { content }) };
    const answered = await answer(row, response, request.principal, { address: request.ip, idempotencyKey });
    const { statusCode, body } = toReceipt(row.id, answered);
    return reply.code(statusCode).send(body);
  });

  fastify.get('/run/v1/conversations/:conversation/elicitations', async (request) => {
    const { conversation } = parseInput(params, request.params);
    const { status } = parseInput(query, request.query);
    const ref = { tenant: request.principal.tenant, conversation };
    requireOwn(await storage.turns.conversation(ref), request.principal);
    const rows = await storage.elicitations.ofConversation(ref, status);
    return { items: rows.map(toElicitationEvent), next: null };
  });
}
