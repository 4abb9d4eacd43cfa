import type { Selectable } from 'kysely';
import { toElicitationEvent } from '../../elicitation/elicitation.ts';
import type { Status } from '../../elicitation/elicitation.ts';
import type { ElicitationRow } from '../schema/question-tables.ts';
import type { NewEvent } from '../log/append.ts';
import { fromJson } from '../schema.ts';
import type { Tables } from '../schema.ts';
import type { NewPoll } from './polls.ts';

/** What waits for a question: a call, and the workflow that continues it. */
interface Waiter {
  toolCallId: string;
  /** Notified when the question is settled; null: the process that opened it watches the row itself. */
  workflowId: string | null;
}

export interface NewQuestion extends Pick<
  ElicitationRow,
  | 'id'
  | 'tenant'
  | 'conversation'
  | 'turnId'
  | 'agent'
  | 'user'
  | 'request'
  | 'server'
  | 'seenVersion'
  | 'isReported'
  | 'salt'
> {
  /**
   * The place in the turn that asks: an account of the turn, a call's approval, a question of a round. A question that is
   * opened again at the same place, after a retry or a reset of the workflow, is the existing one.
   */
  place: string;
  waiter: Waiter;
  /** From its opening, by the database's clock. */
  timeoutMs: number;
  /** When the server that asks stops waiting, in epoch milliseconds. */
  expiresAt?: number;
  /** The poll that runs while it is open. Questions may share a poll by its id. */
  poll?: NewPoll;
}

export function eventOf(question: ElicitationRow, status: Status): NewEvent {
  const { id, request } = question;
  const { path } = request.context;
  const event = { ...toElicitationEvent({ ...question, status }), ...(path && { path }) };
  return { key: `elicitation/${id}/${status}`, event };
}

export function consentOf({ id, request }: Pick<ElicitationRow, 'id' | 'request'>): NewEvent {
  const { path } = request.context;
  const event = { type: 'elicitation-consented' as const, elicitationId: id, ...(path && { path }) };
  return { key: `elicitation/${id}/consented`, event };
}

export function settledEvent(elicitation: ElicitationRow): NewEvent {
  return eventOf(elicitation, elicitation.status);
}

export function toRow(
  elicitation: ElicitationRow,
  { place, poll }: Pick<NewQuestion, 'place' | 'poll'>,
): Selectable<Tables['elicitations']> {
  return {
    id: elicitation.id,
    tenant: elicitation.tenant,
    conversation: elicitation.conversation,
    turn_id: elicitation.turnId,
    place,
    agent: elicitation.agent,
    user_id: elicitation.user,
    request: JSON.stringify(elicitation.request),
    server: elicitation.server,
    seen_version: elicitation.seenVersion,
    is_reported: elicitation.isReported ? 1 : 0,
    status: elicitation.status,
    response_id: elicitation.responseId,
    consent: elicitation.consent,
    salt: elicitation.salt,
    created_at: elicitation.createdAt,
    deadline: elicitation.deadline,
    settled_at: elicitation.settledAt,
    because: elicitation.because,
    is_unused: elicitation.isUnused ? 1 : 0,
    look: poll?.id ?? null,
    trace_parent: elicitation.traceParent ?? null,
  };
}

export function toElicitation(row: Selectable<Tables['elicitations']>): ElicitationRow {
  return {
    id: row.id,
    tenant: row.tenant,
    conversation: row.conversation,
    turnId: row.turn_id,
    agent: row.agent,
    user: row.user_id,
    request: fromJson(row.request),
    server: row.server,
    seenVersion: row.seen_version,
    isReported: row.is_reported === 1,
    status: row.status,
    responseId: row.response_id,
    consent: row.consent,
    salt: row.salt,
    createdAt: row.created_at,
    deadline: row.deadline,
    settledAt: row.settled_at,
    because: row.because,
    isUnused: row.is_unused === 1,
    ...(row.trace_parent !== null && { traceParent: row.trace_parent }),
  };
}
