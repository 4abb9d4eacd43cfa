/**
 * Answers a question, the same way for every surface: authorise, check, and record the answer in the one transaction that
 * decides whether it counts. Needs neither Temporal nor a worker: the outbox notifies the workflows that wait.
 */
import type { Config } from '../platform/config/config.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import { answerAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import type {
  AnsweredBy,
  ElicitationResponse,
  ElicitationRequest,
  Outcome,
} from '@interlude-ai/core/elicitation/elicitation.ts';
import type { AuditEntry, AnswerSurface, ElicitationRow } from '../storage/schema/question-tables.ts';
import type { Answer } from '../storage/tables/answering.ts';
import type { Storage } from '../storage/storage.ts';
import { fitContent } from './answer-content.ts';
import { ServiceError } from './service-error.ts';
import { actorOf } from './principal.ts';
import type { Principal, ActingKey } from './principal.ts';
import { personalKind } from '@interlude-ai/core/elicitation/personal.ts';
import { openAnswer, sealAnswer, canonicalJson, digestOf } from '../credentials/sealing/sealed-values.ts';
import { receiptFor, toLifecycle } from '@interlude-ai/core/elicitation/lifecycle.ts';

export interface AnswerRequest {
  elicitationId: string;
  /** Where it was asked. If given, it has to be right. */
  conversation?: string;
  response: ElicitationResponse;
  /** Where the answer came from, for the audit. */
  address: string | null;
  /** The caller may be a model: what only the person may answer is referred to the hosted page. */
  mayBeModel?: boolean;
  /** Where it was given; `other` by default. */
  surface?: AnswerSurface;
  /** For the audit; a person by default. */
  source?: AnsweredBy | undefined;
  /** Lets the sender repeat the request safely. */
  idempotencyKey?: string | undefined;
}

/** Refusals are `ServiceError`s. */
export type AnswerQuestion = (principal: Principal, request: AnswerRequest) => Promise<Answered>;

interface Parts {
  storage: Storage;
  config: Pick<Config, 'http'>;
  keys: KeyRing;
}

export async function answerQuestion(
  { storage, config, keys }: Parts,
  ...[principal, request]: Parameters<AnswerQuestion>
): ReturnType<AnswerQuestion> {
  const { elicitations } = storage;
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
    throw new ServiceError(
      'not_your_question',
      'Only the person who was asked can answer: sign in as that person.',
    );
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
}

function notFound(): ServiceError {
  return new ServiceError('elicitation_not_found', 'No such question was asked in this conversation.');
}

interface AnsweringCaller {
  /** Absent: the user's own token. */
  actor: ActingKey | undefined;
  mayBeModel: boolean;
  /** Where the person answers. */
  page: string;
}

/**
 * Why only the person, signed in, may give this answer, and where; null when the caller may. A program that acts for a user may
 * pass on what they filled in, and refuse anything. Approvals, secrets, and consent to the use of accounts come from the person.
 * The same holds for every caller that may be driven by a model, with any token.
 */
function reservedForPerson(
  request: ElicitationRequest,
  { action, remember }: ElicitationResponse,
  { actor, mayBeModel, page }: AnsweringCaller,
): string | null {
  if (action !== 'accept' || (!actor && !mayBeModel)) return null;
  if (request.mode === 'url')
    return actor
      ? 'A link is for the person who was asked: let them open it. They sign in there and consent themselves.'
      : null;
  const kind = personalKind(request);
  switch (kind) {
    case 'secret':
      return `This form wants something secret, which no program may send. The person answers it, signed in, on this page: ${page}`;
    case 'approval':
      if (mayBeModel)
        return `An approval is not accepted where a model may give it. The person approves, signed in, on this page: ${page}`;
      if (!actor?.mayApprove)
        return `This API key may not approve for users. The person approves, signed in, on this page: ${page} (or the operator makes a key that may).`;
      if (remember !== undefined)
        return `What a person allows in advance, they allow signed in, on this page: ${page} Approve this call only.`;
      return null;
    case null:
      return null;
    default:
      return kind satisfies never;
  }
}

/** In canonical form, so that equal answers are recognised as equal. */
export function sealContent(
  keys: KeyRing,
  elicitationId: string,
  { content }: ElicitationResponse,
): string | null {
  return content === undefined ? null : sealAnswer(keys, elicitationId, canonicalJson(content));
}

function saysTheSame(
  keys: KeyRing,
  elicitationId: string,
  response: ElicitationResponse,
  stored: Answer,
): boolean {
  if (stored.action !== response.action) return false;
  const content =
    stored.sealedContent === null ? null : openAnswer(keys, elicitationId, stored.sealedContent);
  return content === (response.content === undefined ? null : canonicalJson(response.content));
}

/** Equal answers have equal ids. Salted, because workflow histories contain ids, and answers are easily guessed. */
export function responseIdOf(
  { salt }: Pick<ElicitationRow, 'salt'>,
  { action, content }: ElicitationResponse,
  idempotencyKey?: string,
): string {
  const named = idempotencyKey === undefined ? ['answer', action, content ?? null] : ['key', idempotencyKey];
  return digestOf([salt, ...named]);
}

/** The receipt of an answer, as of the commit. */
export type Answered =
  | { kind: 'recorded'; outcome: Outcome; duplicate: boolean }
  /** Consent is recorded; the turn goes on as soon as the account is connected. */
  | { kind: 'awaiting-connection' }
  /** Consent is recorded; the tool goes on as soon as its page reports that it is done. */
  | { kind: 'awaiting-page' };

/** `question`: as it is after the answer. */
interface Given {
  question: ElicitationRow;
  responseId: string;
  response: ElicitationResponse;
  duplicate: boolean;
  isOverdue: boolean;
  /** The answer that settled the question. */
  winner: Answer | null;
}

/** An answer that does not count is a `ServiceError`. */
function concludeAnswer(keys: KeyRing, given: Given): Answered {
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
      // The same answer as the winner, under another id.
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
