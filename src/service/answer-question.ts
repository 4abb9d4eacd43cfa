/**
 * Answering a question, the same way from every surface: authorise, check, store the answer, signal the workflow
 * that asked, then wait until it has written down what became of the question. The status is the truth as that
 * workflow knows it.
 */
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { ElicitationResponse, Outcome } from '../elicitation/elicitation.ts';
import { receiptFor } from '../elicitation/lifecycle.ts';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import type { Answer, ElicitationRow } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';
import { fitContent } from './answer-content.ts';
import { sealContent, saysTheSame } from './answer-record.ts';
import { digestOf } from '../credentials/sealing/canonical-json.ts';
import type { ConnectionAnnouncer } from './announce-connection.ts';
import { ServiceError } from './service-error.ts';
import type { Principal } from './principal.ts';
import { isToolPage } from './tool-page.ts';
import type { TurnWorkflows } from './turn-workflows.ts';

export type Answered =
  | { kind: 'recorded'; outcome: Outcome; duplicate: boolean }
  /** Consent is on record; the turn goes on as soon as the account is connected. */
  | { kind: 'awaiting-connection' }
  /** Consent is on record; the tool goes on as soon as its page reports that it is done. */
  | { kind: 'awaiting-page' }
  /** Durable, but no worker confirmed it in time. */
  | { kind: 'received' };

export interface AnswerRequest {
  elicitationId: string;
  /** Where it was asked, if the caller says so: then it has to be right. */
  conversation?: string;
  response: ElicitationResponse;
  /** Where the answer came from, for the audit. */
  address: string | null;
  /** The name its sender gave it, to send it again safely. */
  idempotencyKey?: string | undefined;
}

/** Refusals are `ServiceError`s. */
export type AnswerQuestion = (principal: Principal, request: AnswerRequest) => Promise<Answered>;

/** An answer as it is looked at once it is stored. */
interface Given {
  responseId: string;
  response: ElicitationResponse;
  duplicate: boolean;
}

interface Parts {
  storage: Storage;
  keys: KeyRing;
  workflows: Pick<TurnWorkflows, 'tellAnswer' | 'readElicitation'>;
  announcer: Pick<ConnectionAnnouncer, 'versionFor' | 'announceToOthers'>;
}

/** How long a caller waits for the workflow's word; after that the answer is only known to be kept. */
const confirmWithinMs = 2_000;

export function createAnswerQuestion({ storage, keys, workflows, announcer }: Parts): AnswerQuestion {
  const { elicitations } = storage;

  return async (principal, { elicitationId, conversation, response: given, address, idempotencyKey }) => {
    const row = await elicitations.get(elicitationId);
    if (!row || row.tenant !== principal.tenant || row.conversation !== (conversation ?? row.conversation))
      throw new ServiceError('elicitation_not_found', 'No such question was asked in this conversation.');
    const audit = (action: 'answered' | 'refused', actor: string | null, detail: string) =>
      storage.audit.record({
        at: Date.now(),
        tenant: row.tenant,
        elicitationId: row.id,
        actor,
        action,
        detail,
        address,
      });

    if (principal.kind !== 'user' || principal.user !== row.user) {
      await audit(
        'refused',
        principal.kind === 'user' ? principal.user : null,
        `${given.action} by a ${principal.kind}`,
      );
      throw new ServiceError('not_your_question', 'Only the person it was put to may answer.');
    }
    const response = fitContent(row.request, given);

    const { action } = response;
    const responseId = responseIdOf(row, response, idempotencyKey);
    const isOpen = row.status === 'pending';
    const sealedContent = sealContent(keys, row.id, response);
    const answer: Answer = { responseId, action, sealedContent, receivedAt: Date.now() };
    const isConsent = action === 'accept' && (row.server !== null || isToolPage(row));
    const [isNew, connected] = await Promise.all([
      isOpen && elicitations.storeAnswer(row.id, answer),
      // In another tab, say: then the answer itself brings the news, and nothing is left to wait for.
      isOpen && isConsent ? announcer.versionFor(row) : null,
    ]);
    const earlier = isNew ? null : await elicitations.answer(row.id, responseId);
    if (earlier && !saysTheSame(keys, row.id, response, earlier)) {
      throw new ServiceError(
        'idempotency_key_reused',
        'It was already used for another answer. Choose a new one for each answer.',
      );
    }
    if (!isOpen) return conclude(fromRow(row), { responseId, response, duplicate: true });

    const delivery = await workflows.tellAnswer(row, {
      responseId,
      action,
      user: principal.user,
      ...(connected !== null && { connected }),
    });
    const [elicitation] = await Promise.all([
      delivery === 'gone'
        ? lastWord(row)
        : isConsent && connected === null
          ? workflows.readElicitation(row)
          : outcome(row),
      audit('answered', row.user, action),
      connected === null ? undefined : announcer.announceToOthers(row, connected),
    ]);
    if (elicitation === 'unknown') return { kind: 'received' };
    return conclude(elicitation ?? (await lastWord(row)), { responseId, response, duplicate: !isNew });
  };

  /**
   * Every answer but consent to what is not connected yet settles its question, and only the workflow that asked, or
   * the end of its turn, settles a row: a settled one is the workflow's word, a pending one only says "not yet".
   */
  async function outcome(row: ElicitationRow): Promise<Elicitation | 'unknown'> {
    const settled = await elicitations.untilSettled(row, AbortSignal.timeout(confirmWithinMs));
    return settled ? fromRow(settled) : 'unknown';
  }

  async function conclude(elicitation: Elicitation, given: Given): Promise<Answered> {
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

  /** The workflow is gone: the row says how it ended. One that it could not close any more is closed here. */
  async function lastWord(row: ElicitationRow): Promise<Elicitation> {
    await elicitations.settle(row.id, 'cancel', null);
    return fromRow((await elicitations.get(row.id)) ?? row);
  }
}

function winnerOf({ state }: Elicitation): string | undefined {
  return state.kind === 'settled' ? state.responseId : undefined;
}

/** The row is a projection of what the workflow decided, so a settled one answers as the workflow would. */
function fromRow(row: ElicitationRow): Elicitation {
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

/** Equal answers have equal ids. Salted, because ids stand in workflow history and answers are easily guessed. */
function responseIdOf(
  row: ElicitationRow,
  { action, content }: ElicitationResponse,
  idempotencyKey?: string,
): string {
  const named = idempotencyKey === undefined ? ['answer', action, content ?? null] : ['key', idempotencyKey];
  return digestOf([row.salt, ...named]);
}
