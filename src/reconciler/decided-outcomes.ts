/**
 * What workflows that were ended had decided about questions and could not write any more: somebody has been told that
 * their answer counts. A workflow that is closed still answers queries, as long as there is a worker that can read its
 * history.
 */
import type { Client } from '@temporalio/client';
import type { Settlement } from '../elicitation/elicitation.ts';
import { settlementOf } from '../elicitation/lifecycle.ts';
import type { Elicitations } from '../storage/ports/elicitations.ts';
import type { TurnRef } from '../turn/turn.ts';
import { elicitationQuery } from '../workflows/messages.ts';

const queryDeadlineMs = 2_000;

export function createDecidedOutcomes(
  client: Client,
  elicitations: Pick<Elicitations, 'ofConversation'>,
): (turn: TurnRef) => Promise<Settlement[]> {
  /** Null where nothing was decided, or nobody can tell. */
  async function outcomeOf(workflowId: string, elicitationId: string): Promise<Settlement | null> {
    const query = () => client.workflow.getHandle(workflowId).query(elicitationQuery, elicitationId);
    const question = await client.withDeadline(Date.now() + queryDeadlineMs, query).catch(() => null);
    return question && settlementOf(question);
  }

  return async (turn) => {
    const pending = await elicitations.ofConversation(turn, 'pending');
    const own = pending.filter(({ turnId }) => turnId === turn.turnId);
    const decided = await Promise.all(own.map(({ workflowId, id }) => outcomeOf(workflowId, id)));
    return decided.filter((outcome) => outcome !== null);
  };
}
