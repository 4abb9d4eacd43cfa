/** What became of an answer, as the surfaces that take answers over HTTP say it. Pure. */
import type { ElicitationReceipt } from '../../contract/elicitation.ts';
import type { Answered } from '../../service/answer-question.ts';

export interface Receipt {
  statusCode: 200 | 202;
  body: ElicitationReceipt;
}

export function toReceipt(elicitationId: string, answered: Answered): Receipt {
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
