/** What the sender of an answer is told, once it is stored and its question has been looked at. */
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { ElicitationResponse, Outcome } from '../elicitation/elicitation.ts';
import { receiptFor } from '../elicitation/lifecycle.ts';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import type { ElicitationRow, Elicitations } from '../storage/ports/elicitations.ts';
import { saysTheSame } from './answer-record.ts';
import { ServiceError } from './service-error.ts';
import { isToolPage } from './tool-page.ts';

export type Answered =
  | { kind: 'recorded'; outcome: Outcome; duplicate: boolean }
  /** Consent is on record; the turn goes on as soon as the account is connected. */
  | { kind: 'awaiting-connection' }
  /** Consent is on record; the tool goes on as soon as its page reports that it is done. */
  | { kind: 'awaiting-page' }
  /** Durable, but no worker confirmed it in time. */
  | { kind: 'received' };

/** An answer as it is looked at once it is stored. */
export interface Given {
  responseId: string;
  response: ElicitationResponse;
  duplicate: boolean;
}

interface Parts {
  elicitations: Pick<Elicitations, 'answer'>;
  keys: KeyRing;
}

/** What the answer has come to, now that its question stands like this; a question that is over is a `ServiceError`. */
export async function concludeAnswer(
  { elicitations, keys }: Parts,
  elicitation: Elicitation,
  given: Given,
): Promise<Answered> {
  const { responseId, response, duplicate } = given;
  const receipt = receiptFor(elicitation, responseId, response.action);
  switch (receipt.kind) {
    case 'recorded':
      return { kind: 'recorded', outcome: receipt.outcome, duplicate };
    case 'awaiting-connection':
    case 'awaiting-page':
      return receipt;
    case 'not-counted':
      return { kind: 'received' };
    case 'expired':
      throw new ServiceError(
        'expired',
        'Nobody answered in time. Ask the agent again to get a new question.',
      );
    case 'withdrawn':
      throw receipt.because === 'server_gave_up'
        ? new ServiceError(
            'expired',
            'Whoever asked did not wait this long. Ask the agent again to get a new question.',
          )
        : new ServiceError(
            'turn_over',
            'Whoever asked is gone, and the question with it. Ask the agent again.',
          );
    case 'already-answered': {
      const { outcome } = receipt;
      const winner = winnerOf(elicitation);
      if (outcome === 'cancel' && winner === undefined) {
        throw new ServiceError('turn_over', 'The turn that asked has ended, and its question with it.');
      }
      // Under another name perhaps, but the same answer as the one that won.
      const won = winner === undefined ? null : await elicitations.answer(elicitation.id, winner);
      if (won && saysTheSame(keys, elicitation.id, response, won))
        return { kind: 'recorded', outcome, duplicate: true };
      const detail = `The answer on record is "${outcome}".`;
      throw new ServiceError('already_answered', detail, { outcome });
    }
    default:
      return receipt satisfies never;
  }
}

function winnerOf({ state }: Elicitation): string | undefined {
  return state.kind === 'settled' ? state.responseId : undefined;
}

/** The row is a projection of what the workflow decided, so a settled one answers as the workflow would. */
export function fromRow(row: ElicitationRow): Elicitation {
  const { id, user, deadline, request, server, seenVersion, status, responseId, because } = row;
  return {
    id,
    user,
    deadline,
    mode: request.mode,
    server: server ?? request.context.server ?? '',
    ...(server !== null && { connection: { seenVersion: seenVersion ?? 0 } }),
    ...(isToolPage(row) && { page: 'reports' as const }),
    state:
      status === 'pending'
        ? { kind: 'pending' }
        : {
            kind: 'settled',
            outcome: status,
            ...(responseId !== null && { responseId }),
            ...(because !== null && { because }),
          },
  };
}
