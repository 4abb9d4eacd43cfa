import type { Selectable } from 'kysely';
import { toElicitationEvent } from '../../elicitation/elicitation-event.ts';
import type { Status } from '../../elicitation/elicitation.ts';
import type { ElicitationRow, NewQuestion } from '../ports/elicitations.ts';
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
