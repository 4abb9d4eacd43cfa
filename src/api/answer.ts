/**
 * Answering a question, the same way from every surface: authorise, check, store the answer, signal the workflow
 * that asked, then ask it what became of the answer. The status is the truth as that workflow knows it.
 */
import { createHash } from 'node:crypto';
import type { KeyRing } from '../credentials/sealing.ts';
import type { Action, ElicitationResponse, Outcome } from '../elicitation/elicitation.ts';
import { receiptFor } from '../elicitation/lifecycle.ts';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import type { ElicitationRow, Storage } from '../storage/storage.ts';
import { checkContent } from './answer-content.ts';
import { canonicalJson, sealAnswer, saysTheSame } from './answer-record.ts';
import type { ConnectionNews } from './connection-news.ts';
import { invalidRequest, ProblemError } from './errors.ts';
import type { Principal } from './principal.ts';
import type { TurnWorkflows } from './turns.ts';

export type Answered =
  | { kind: 'recorded'; outcome: Outcome; duplicate: boolean }
  /** Consent is on record; the turn goes on as soon as the account is connected. */
  | { kind: 'awaiting-connection' }
  /** Durable, but no worker confirmed it in time. */
  | { kind: 'received' };

/** Where an answer came from, for the audit; and the name its sender gave it, to send it again safely. */
interface AnswerOrigin {
  address: string | null;
  idempotencyKey?: string | undefined;
}

/** Refusals are `ProblemError`s. */
export type AnswerQuestion = (
  row: ElicitationRow,
  response: ElicitationResponse,
  principal: Principal,
  origin: AnswerOrigin,
) => Promise<Answered>;

interface Parts {
  storage: Storage;
  keys: KeyRing;
  workflows: Pick<TurnWorkflows, 'tellAnswer' | 'fate'>;
  news: Pick<ConnectionNews, 'confirm'>;
}

export function createAnswerQuestion({ storage, keys, workflows, news }: Parts): AnswerQuestion {
  const { elicitations } = storage;

  return async (row, response, principal, { address, idempotencyKey }) => {
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

    if (principal.tenant !== row.tenant) throw unknownQuestion();
    if (principal.kind !== 'user' || principal.user !== row.user) {
      await audit(
        'refused',
        principal.kind === 'user' ? principal.user : null,
        `${response.action} by a ${principal.kind}`,
      );
      throw new ProblemError('not_your_question', 'Only the person it was put to may answer.');
    }
    checkContent(row.request, response);

    const responseId = responseIdOf(row, response, idempotencyKey);
    if (row.status !== 'pending') return conclude(fromRow(row), responseId, response.action, true);

    const sealedContent = sealAnswer(keys, row.id, response);
    const isNew = await elicitations.storeAnswer(row.id, {
      responseId,
      action: response.action,
      sealedContent,
      receivedAt: Date.now(),
    });
    if (!isNew && !saysTheSame(keys, row.id, response, await elicitations.answer(row.id, responseId))) {
      throw invalidRequest([
        { pointer: '', detail: 'this Idempotency-Key was already used for another answer' },
      ]);
    }

    const { action } = response;
    const [told] = await Promise.all([
      workflows.tellAnswer(row, { responseId, action, user: principal.user }),
      // Consent to connect an account that is already connected (in another tab, say): nothing is left to wait for.
      action === 'accept' && row.server !== null ? news.confirm(row.id) : undefined,
    ]);
    const [fate] = await Promise.all([
      told === 'told' ? workflows.fate(row) : null,
      audit('answered', row.user, action),
    ]);
    if (fate === 'unknown') return { kind: 'received' };
    return conclude(fate ?? (await lastWord(row)), responseId, action, !isNew);
  };

  /** The workflow is gone: the row says how it ended. One that it could not close any more is closed here. */
  async function lastWord(row: ElicitationRow): Promise<Elicitation> {
    await elicitations.settle(row.id, 'cancel', null);
    return fromRow((await elicitations.get(row.id)) ?? row);
  }
}

export function unknownQuestion(): ProblemError {
  return new ProblemError('elicitation_not_found', 'No such question was asked in this conversation.');
}

function conclude(
  elicitation: Elicitation,
  responseId: string,
  action: Action,
  duplicate: boolean,
): Answered {
  const receipt = receiptFor(elicitation, responseId, action);
  switch (receipt.kind) {
    case 'recorded':
      return { kind: 'recorded', outcome: receipt.outcome, duplicate };
    case 'awaiting-connection':
      return { kind: 'awaiting-connection' };
    case 'not-counted':
      return { kind: 'received' };
    case 'expired':
      throw new ProblemError(
        'expired',
        'Nobody answered in time. Ask the agent again to get a new question.',
      );
    case 'already-answered':
      if (receipt.outcome === 'cancel' && !wasAnswered(elicitation)) {
        throw new ProblemError('turn_over', 'The turn that asked has ended, and its question with it.');
      }
      throw new ProblemError('already_answered', `The answer on record is "${receipt.outcome}".`, {
        members: { outcome: receipt.outcome },
      });
    default:
      return receipt satisfies never;
  }
}

function wasAnswered({ state }: Elicitation): boolean {
  return state.kind === 'settled' && state.responseId !== undefined;
}

/** The row is a projection of what the workflow decided, so a settled one answers as the workflow would. */
function fromRow(row: ElicitationRow): Elicitation {
  const { id, user, request, server, seenVersion, status, responseId } = row;
  return {
    id,
    user,
    mode: request.mode,
    ...(server !== null && { connection: { server, seenVersion: seenVersion ?? 0 } }),
    state:
      status === 'pending'
        ? { kind: 'pending' }
        : { kind: 'settled', outcome: status, ...(responseId !== null && { responseId }) },
  };
}

/** Equal answers have equal ids. Salted, because ids stand in workflow history and answers are easily guessed. */
function responseIdOf(
  row: ElicitationRow,
  { action, content }: ElicitationResponse,
  idempotencyKey?: string,
): string {
  const named = idempotencyKey === undefined ? ['answer', action, content ?? null] : ['key', idempotencyKey];
  return createHash('sha256')
    .update(canonicalJson([row.salt, ...named]))
    .digest('base64url');
}
