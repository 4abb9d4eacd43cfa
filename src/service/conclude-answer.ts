/** The receipt of an answer: what the question's row says at the commit. */
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { ElicitationResponse, Outcome } from '../elicitation/elicitation.ts';
import { receiptFor, toLifecycle } from '../elicitation/lifecycle.ts';
import type { Answer, ElicitationRow } from '../storage/ports/elicitations.ts';
import { saysTheSame } from './answer-record.ts';
import { ServiceError } from './service-error.ts';

export type Answered =
  | { kind: 'recorded'; outcome: Outcome; duplicate: boolean }
  /** Consent is on record; the turn goes on as soon as the account is connected. */
  | { kind: 'awaiting-connection' }
  /** Consent is on record; the tool goes on as soon as its page reports that it is done. */
  | { kind: 'awaiting-page' };

/** An answer, and its question after it. */
export interface Given {
  question: ElicitationRow;
  responseId: string;
  response: ElicitationResponse;
  duplicate: boolean;
  isOverdue: boolean;
  /** The answer that has settled the question. */
  winner: Answer | null;
}

/** An answer that does not count is a `ServiceError`. */
export function concludeAnswer(keys: KeyRing, given: Given): Answered {
  const { question, responseId, response, duplicate, isOverdue, winner } = given;
  if (isOverdue) throw expired();
  const receipt = receiptFor(toLifecycle(question), responseId, response.action);
  switch (receipt.kind) {
    case 'recorded':
      return { kind: 'recorded', outcome: receipt.outcome, duplicate };
    case 'awaiting-connection':
    case 'awaiting-page':
      return receipt;
    case 'not-counted':
      throw new Error(`An answer to question ${question.id} was recorded and has changed nothing.`);
    case 'expired':
      throw expired();
    case 'withdrawn':
      throw receipt.because === 'server_gave_up'
        ? new ServiceError(
            'expired',
            'The server that asked did not wait this long. Ask the agent again to get a new question.',
          )
        : new ServiceError(
            'turn_over',
            'The server that asked is gone, and the question with it. Ask the agent again.',
          );
    case 'already-answered': {
      const { outcome } = receipt;
      if (outcome === 'cancel' && winner === null)
        throw new ServiceError('turn_over', 'The turn that asked has ended, and its question with it.');
      // Under another id, but the same answer as the one that won.
      if (winner && saysTheSame(keys, question.id, response, winner))
        return { kind: 'recorded', outcome, duplicate: true };
      const detail = `The answer on record is "${outcome}".`;
      throw new ServiceError('already_answered', detail, { outcome });
    }
    default:
      return receipt satisfies never;
  }
}

function expired(): ServiceError {
  return new ServiceError('expired', 'The deadline has passed. Ask the agent again to get a new question.');
}
