/** Answers to questions over HTTP: from the posted body, and to a receipt. Pure. */
import type {
  ElicitationReceipt,
  ElicitationResponse as PostedResponse,
} from '@interlude-ai/core/contract/elicitation.ts';
import type { ElicitationResponse } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Answered } from '../../service/answer-question.ts';

export interface Receipt {
  statusCode: 200 | 202;
  body: ElicitationReceipt;
}

export function fromPosted({
  action,
  content,
  remember,
  reason,
}: Omit<PostedResponse, 'conversationId' | 'elicitationId'>): ElicitationResponse {
  return {
    action,
    ...(content && { content }),
    ...(remember && { remember }),
    ...(reason !== undefined && { reason }),
  };
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
    case 'awaiting-page':
      return { statusCode: 202, body: { elicitationId, status: 'pending', awaiting: 'page' } };
    default:
      return answered satisfies never;
  }
}
