/** Questions in HTTP. Pure. */
import type { ElicitationEvent } from '../../elicitation/elicitation.ts';
import type { ElicitationRow } from '../../storage/ports/elicitations.ts';

export function toElicitationEvent({ id, request, status, deadline }: ElicitationRow): ElicitationEvent {
  return {
    type: 'elicitation-request',
    elicitationId: id,
    ...request,
    status,
    expiresAt: new Date(deadline).toISOString(),
  };
}
