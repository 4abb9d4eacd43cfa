/**
 * Answering a question, the same way from every surface: authorise, check, and record the answer in the one transaction that
 * decides whether it counts. The result is what the question's row says at the commit. It needs neither Temporal nor a
 * worker: the outbox notifies the workflows that wait.
 */
import type { Config } from '../config/config.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import { answerAddress } from '../elicitation/account-pages.ts';
import type { AnsweredBy, ElicitationResponse } from '../elicitation/elicitation.ts';
import type { AuditEntry } from '../storage/ports/audit.ts';
import type { AnswerSurface } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';
import { fitContent } from './answer-content.ts';
import { responseIdOf, saysTheSame, sealContent } from './answer-record.ts';
import { concludeAnswer } from './conclude-answer.ts';
import type { Answered } from './conclude-answer.ts';
import { ServiceError } from './service-error.ts';
import { actorOf } from './principal.ts';
import type { Principal } from './principal.ts';
import { reservedForPerson } from './reserved-for-person.ts';

export interface AnswerRequest {
  elicitationId: string;
  /** Where it was asked, if the caller says so: then it has to be right. */
  conversation?: string;
  response: ElicitationResponse;
  /** Where the answer came from, for the audit. */
  address: string | null;
  /** The caller may be a model that answers for its user: what takes the person goes to the hosted page. */
  mayBeModel?: boolean;
  /** Where it is given; other than in Slack unless it says so. */
  surface?: AnswerSurface;
  /** For the audit, too; a person unless given. */
  source?: AnsweredBy | undefined;
  /** The name its sender gave it, to send it again safely. */
  idempotencyKey?: string | undefined;
}

/** Refusals are `ServiceError`s. */
export type AnswerQuestion = (principal: Principal, request: AnswerRequest) => Promise<Answered>;

interface Parts {
  storage: Pick<Storage, 'elicitations' | 'audit'>;
  config: Pick<Config, 'http'>;
  keys: KeyRing;
}

export function createAnswerQuestion({ storage, config, keys }: Parts): AnswerQuestion {
  const { elicitations } = storage;

  return async (principal, request) => {
    const { elicitationId, conversation, response: given, address, source, idempotencyKey } = request;
    const { surface = 'other', mayBeModel = false } = request;
    const row = await elicitations.get(elicitationId);
    if (!row || row.tenant !== principal.tenant || row.conversation !== (conversation ?? row.conversation))
      throw notFound();
    const entry = (action: 'answered' | 'refused', detail: string): AuditEntry => ({
      at: Date.now(),
      tenant: row.tenant,
      elicitationId: row.id,
      actor: actorOf(principal),
      action,
      detail,
      address,
    });

    if (principal.kind !== 'user' || principal.user !== row.user) {
      await storage.audit.record(entry('refused', `${given.action} by a ${principal.kind}`));
      throw new ServiceError('not_your_question', 'Only the person it was put to may answer.');
    }
    const reserved = reservedForPerson(row.request, given, {
      actor: principal.actor,
      mayBeModel,
      page: answerAddress(config.http.publicUrl, elicitationId),
    });
    if (reserved) {
      await storage.audit.record(entry('refused', `${given.action} for the person`));
      throw new ServiceError('person_required', reserved);
    }

    const response = fitContent(row.request, given);
    const { action } = response;
    const responseId = responseIdOf(row, response, idempotencyKey);
    const sealedContent = sealContent(keys, row.id, response);
    const { user } = principal;
    const recorded = await elicitations.answer(
      row.id,
      { responseId, action, sealedContent, receivedAt: Date.now(), surface, user },
      entry('answered', source === undefined ? action : `${action} by a ${source}`),
    );
    if (!recorded) throw notFound();
    const { question, isOverdue, isNew, earlier, winner } = recorded;
    if (earlier && !earlier.isDeleted && !saysTheSame(keys, row.id, response, earlier))
      throw new ServiceError(
        'idempotency_key_reused',
        'It was already used for another answer. Choose a new one for each answer.',
      );
    return concludeAnswer(keys, { question, responseId, response, duplicate: !isNew, isOverdue, winner });
  };
}

function notFound(): ServiceError {
  return new ServiceError('elicitation_not_found', 'No such question was asked in this conversation.');
}
