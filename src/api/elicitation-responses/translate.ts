/** Answers in HTTP: the body that says yes or no, and the receipt that says what became of it. Pure. */
import type { ElicitationEvent } from '../../elicitation/elicitation.ts';
import type { ElicitationRow } from '../../storage/storage.ts';
import type { Answered } from '../answer.ts';

export interface Receipt {
  statusCode: 200 | 202;
  body: { elicitationId: string; status: string; duplicate?: boolean; awaiting?: 'connection' };
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

export function toElicitationEvent({ id, request, status, deadline }: ElicitationRow): ElicitationEvent {
  return {
    type: 'elicitation-request',
    elicitationId: id,
    ...request,
    status,
    expiresAt: new Date(deadline).toISOString(),
  };
}
