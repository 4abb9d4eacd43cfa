/**
 * What workflows that were ended had decided about questions and could not write any more: somebody has been told that
 * their answer counts.
 */
import type { Settlement } from '../elicitation/elicitation.ts';
import { settlementOf } from '../elicitation/lifecycle.ts';
import type { TurnRuns } from '../service/turn-runs.ts';
import type { Elicitations } from '../storage/ports/elicitations.ts';
import type { TurnRef } from '../turn/turn.ts';

/** Those of the turn's open questions about which something was decided, as far as anybody can tell. */
export async function decidedOutcomes(
  runs: Pick<TurnRuns, 'questionOf'>,
  elicitations: Pick<Elicitations, 'ofConversation'>,
  turn: TurnRef,
): Promise<Settlement[]> {
  const pending = await elicitations.ofConversation(turn, 'pending');
  const own = pending.filter(({ turnId }) => turnId === turn.turnId);
  const decided = await Promise.all(
    own.map(async ({ workflowId, id }) => {
      const question = await runs.questionOf(workflowId, id);
      return question && settlementOf(question);
    }),
  );
  return decided.filter((outcome) => outcome !== null);
}
