/** An answer as clients send it, on any surface: from the ids they know to the receipt they get. */
import type { ElicitationReceipt } from '../contract/elicitation.ts';
import type { ElicitationResponse } from '../elicitation/elicitation.ts';
import type { Storage } from '../storage/storage.ts';
import { unknownQuestion } from './answer-question.ts';
import type { Answered, AnswerOrigin, AnswerQuestion } from './answer-question.ts';
import type { Principal } from './principal.ts';

export interface TakeAnswerParts {
  storage: Pick<Storage, 'elicitations'>;
  answer: AnswerQuestion;
}

export interface GivenAnswer {
  conversationId: string;
  elicitationId: string;
  response: ElicitationResponse;
}

export interface Receipt {
  statusCode: 200 | 202;
  body: ElicitationReceipt;
}

export async function takeAnswer(
  { storage, answer }: TakeAnswerParts,
  { conversationId, elicitationId, response }: GivenAnswer,
  principal: Principal,
  origin: AnswerOrigin,
): Promise<Receipt> {
  const row = await storage.elicitations.get(elicitationId);
  if (!row || row.tenant !== principal.tenant || row.conversation !== conversationId) throw unknownQuestion();
  return toReceipt(elicitationId, await answer(row, response, principal, origin));
}

function toReceipt(elicitationId: string, answered: Answered): Receipt {
  switch (answered.kind) {
    case 'recorded':
      return {
        statusCode: 200,
        body: { elicitationId, status: answered.outcome, duplicate: answered.duplicate },
      };
    case 'awaiting-connection':
      return { statusCode: 202, body: { elicitationId, status: 'pending', awaiting: 'connection' } };
    case 'received':
      return { statusCode: 202, body: { elicitationId, status: 'received' } };
    default:
      return answered satisfies never;
  }
}
