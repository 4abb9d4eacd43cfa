/**
 * What workflows that were ended had decided about questions and could not write any more: somebody has been told that
 * their answer counts.
 */
import type { Settlement } from '../elicitation/elicitation.ts';
import { settlementOf } from '../elicitation/lifecycle.ts';
import type { TurnRuns } from '../service/turn-runs.ts';
import type { ElicitationRow, Elicitations } from '../storage/ports/elicitations.ts';
import type { TurnRef } from '../turn/turn.ts';

/** Those of the turn's open questions about which something was decided, as far as anybody can tell. */
export async function decidedOutcomes(
  runs: Pick<TurnRuns, 'questionOf'>,
  elicitations: Pick<Elicitations, 'ofConversation'>,
  turn: TurnRef,
): Promise<Settlement[]> {
  const pending = await elicitations.ofConversation(turn, 'pending');
  const own = pending.filter(({ turnId }) => turnId === turn.turnId);
  const decided = await Promise.all(own.map((question) => decidedOutcome(runs, question)));
  return decided.filter((outcome) => outcome !== null);
}

/** Null when nothing was decided about it, or nobody can tell. */
export async function decidedOutcome(
  runs: Pick<TurnRuns, 'questionOf'>,
  { workflowId, id }: Pick<ElicitationRow, 'workflowId' | 'id'>,
): Promise<Settlement | null> {
  const question = await runs.questionOf(workflowId, id);
  return question && settlementOf(question);
}
