import { toElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Status } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationRow } from '../schema/question-tables.ts';
import type { NewEvent } from '../log/append.ts';
import { fromColumns, toColumns } from '../columns.ts';
import { fromJson } from '../schema.ts';
import type { Row } from '../schema.ts';
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
  { request, traceParent, ...same }: ElicitationRow,
  { place, poll }: Pick<NewQuestion, 'place' | 'poll'>,
): Row<'elicitations'> {
  const more = { request: JSON.stringify(request), place, look: poll?.id ?? null };
  return toColumns({ ...same, ...more, traceParent: traceParent ?? null });
}

export function toElicitation(row: Row<'elicitations'>): ElicitationRow {
  const { request, place: _, look: _poll, traceParent, ...same } = fromColumns(row);
  return { ...same, request: fromJson(request), ...(traceParent !== null && { traceParent }) };
}
