import type { Selectable, Transaction } from 'kysely';
import { toElicitationEvent } from '../../elicitation/elicitation-event.ts';
import type { Settlement, Status } from '../../elicitation/elicitation.ts';
import { compileOnce } from '../compile-once.ts';
import type { ElicitationRow } from '../ports/elicitations.ts';
import type { NewEvent } from '../ports/turn-log.ts';
import { fromJson } from '../schema.ts';
import type { Tables } from '../schema.ts';

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

export function toRow(elicitation: ElicitationRow, poll: string | null): Selectable<Tables['elicitations']> {
  return {
    id: elicitation.id,
    tenant: elicitation.tenant,
    conversation: elicitation.conversation,
    turn_id: elicitation.turnId,
    workflow_id: elicitation.workflowId,
    agent: elicitation.agent,
    user_id: elicitation.user,
    request: JSON.stringify(elicitation.request),
    server: elicitation.server,
    seen_version: elicitation.seenVersion,
    status: elicitation.status,
    response_id: elicitation.responseId,
    salt: elicitation.salt,
    created_at: elicitation.createdAt,
    deadline: elicitation.deadline,
    settled_at: elicitation.settledAt,
    because: elicitation.because,
    look: poll,
  };
}

export function toElicitation(row: Selectable<Tables['elicitations']>): ElicitationRow {
  return {
    id: row.id,
    tenant: row.tenant,
    conversation: row.conversation,
    turnId: row.turn_id,
    workflowId: row.workflow_id,
    agent: row.agent,
    user: row.user_id,
    request: fromJson(row.request),
    server: row.server,
    seenVersion: row.seen_version,
    status: row.status,
    responseId: row.response_id,
    salt: row.salt,
    createdAt: row.created_at,
    deadline: row.deadline,
    settledAt: row.settled_at,
    because: row.because,
  };
}

interface Settling extends Pick<ElicitationRow, 'id' | 'responseId' | 'because'> {
  outcome: Settlement['outcome'];
  now: number;
}

const updateSettled = compileOnce((write, { id, outcome, responseId, now, because }: Settling) =>
  write
    .updateTable('elicitations')
    .set({ status: outcome, response_id: responseId, settled_at: now, because })
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .returningAll()
    .compile(),
);

/** Those that were still pending, settled; in the order of `settlements`. Their events are for the caller to write. */
export async function settleRows(
  write: Transaction<Tables>,
  settlements: Settlement[],
  now: number,
): Promise<ElicitationRow[]> {
  const settled = new Map<string, ElicitationRow>();
  // Whoever settles several locks them in the same order.
  for (const settlement of settlements.toSorted(byId)) {
    const { elicitationId: id, outcome, responseId, because = null } = settlement;
    const {
      rows: [row],
    } = await updateSettled(write, { id, outcome, responseId, now, because });
    if (row) settled.set(id, toElicitation(row));
  }
  return settlements.flatMap(({ elicitationId }) => settled.get(elicitationId) ?? []);
}

function byId(one: Settlement, other: Settlement): number {
  return one.elicitationId < other.elicitationId ? -1 : 1;
}
