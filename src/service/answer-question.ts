/**
 * Answering a question, the same way from every surface: authorise, check, store the answer, signal the workflow
 * that asked, then wait until it has written down what became of the question. The status is the truth as that
 * workflow knows it.
 */
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { AnsweredBy, ElicitationResponse } from '../elicitation/elicitation.ts';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import type { Answer, AnswerSurface, ElicitationRow } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';
import { fitContent } from './answer-content.ts';
import { responseIdOf, saysTheSame, sealContent } from './answer-record.ts';
import { concludeAnswer, fromRow } from './conclude-answer.ts';
import type { Answered, Given } from './conclude-answer.ts';
import type { ConnectionAnnouncer } from './announce-connection.ts';
import { ServiceError } from './service-error.ts';
import { actorOf } from './principal.ts';
import type { Principal } from './principal.ts';
import { reservedForPerson } from './reserved-for-person.ts';
import { isToolPage } from './tool-page.ts';
import type { TurnWorkflows } from './turn-workflows.ts';

export interface AnswerRequest {
  elicitationId: string;
  /** Where it was asked, if the caller says so: then it has to be right. */
  conversation?: string;
  response: ElicitationResponse;
  /** Where the answer came from, for the audit. */
  address: string | null;
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
  storage: Storage;
  keys: KeyRing;
  workflows: Pick<TurnWorkflows, 'signalAnswer' | 'readElicitation'>;
  announcer: Pick<ConnectionAnnouncer, 'versionFor' | 'announceToOthers'>;
}

/** How long a caller waits for the workflow's word; after that the answer is only known to be kept. */
const confirmWithinMs = 2_000;

export function createAnswerQuestion({ storage, keys, workflows, announcer }: Parts): AnswerQuestion {
  const { elicitations } = storage;
  const conclude = (elicitation: Elicitation, given: Given) =>
    concludeAnswer({ elicitations, keys }, elicitation, given);

  return async (principal, request) => {
    const { elicitationId, conversation, response: given, address, source, idempotencyKey } = request;
    const { surface = 'other' } = request;
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
      await audit('refused', actorOf(principal), `${given.action} by a ${principal.kind}`);
      throw new ServiceError('not_your_question', 'Only the person it was put to may answer.');
    }
    const reserved = principal.actor && reservedForPerson(row.request, given, principal.actor);
    if (reserved) {
      await audit('refused', actorOf(principal), `${given.action} for the person`);
      throw new ServiceError('person_required', reserved);
    }
    const response = fitContent(row.request, given);

    const { action } = response;
    const responseId = responseIdOf(row, response, idempotencyKey);
    const isOpen = row.status === 'pending';
    const sealedContent = sealContent(keys, row.id, response);
    const answer: Answer = { responseId, action, sealedContent, receivedAt: Date.now(), surface };
    const isConsent = action === 'accept' && (row.server !== null || isToolPage(row));
    const [isNew, connected] = await Promise.all([
      isOpen && elicitations.storeAnswer(row.id, answer),
      // In another tab, say: then the answer itself says so, and nothing is left to wait for.
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

    const delivery = await workflows.signalAnswer(row, {
      responseId,
      action,
      user: principal.user,
      ...(connected !== null && { connected }),
    });
    const isConsentToPage = isConsent && isToolPage(row) && delivery !== 'gone';
    const [elicitation] = await Promise.all([
      delivery === 'gone'
        ? lastWord(row)
        : isConsent && connected === null
          ? workflows.readElicitation(row)
          : outcome(row),
      audit('answered', actorOf(principal), source === undefined ? action : `${action} by a ${source}`),
      connected === null ? undefined : announcer.announceToOthers(row, connected),
      isConsentToPage ? elicitations.noteConsent(row) : undefined,
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

  /** The workflow is gone: the row says how it ended. One that it could not close any more is closed here. */
  async function lastWord(row: ElicitationRow): Promise<Elicitation> {
    await elicitations.settle(row.id, 'cancel', null);
    return fromRow((await elicitations.get(row.id)) ?? row);
  }
}
