/** A stored question as every client sees it: on the log, and in the list of a conversation's questions. */
import type { ClosedBecause, ElicitationEvent, ElicitationRequest, Status } from './elicitation.ts';

interface StoredQuestion {
  id: string;
  request: ElicitationRequest;
  status: Status;
  /** In epoch milliseconds. */
  deadline: number;
  because: ClosedBecause | null;
}

export function toElicitationEvent(question: StoredQuestion): ElicitationEvent {
  const { id, request, status, deadline, because } = question;
  return {
    type: 'elicitation-request',
    elicitationId: id,
    ...request,
    status,
    expiresAt: new Date(deadline).toISOString(),
    ...(because !== null && { because }),
  };
}
