/**
 * Waits until the workflow has written the outcome of a question. For an activity that holds the connection to a server:
 * it reads the answer from the database, so that answers are not in workflow history.
 */
import type { Storage } from '../../storage/storage.ts';
import type { QuestionOutcome } from '../../turn/ask.ts';
import type { TurnRef } from '../../turn/turn.ts';

type Parts = Pick<Storage, 'turnLog' | 'elicitations'>;

/** Null when the call already has a result, because the question could not be asked. Rejects when `signal` aborts. */
export async function waitForOutcome(
  { turnLog, elicitations }: Parts,
  { turn, toolCallId, elicitationId }: { turn: TurnRef; toolCallId: string; elicitationId: string },
  signal: AbortSignal,
): Promise<QuestionOutcome | null> {
  const from = await turnLog.latest(turn);
  const already = await outcomeOf(elicitations, elicitationId);
  if (already) return already;
  for await (const entries of turnLog.follow(turn, from, signal)) {
    const events = entries.map(({ event }) => event);
    const isTold = events.some(
      (event) => event.type === 'elicitation-request' && event.elicitationId === elicitationId,
    );
    const outcome = isTold ? await outcomeOf(elicitations, elicitationId) : null;
    if (outcome) return outcome;
    if (events.some((event) => event.type === 'tool-output-error' && event.toolCallId === toolCallId))
      return null;
  }
  throw signal.reason;
}

async function outcomeOf(
  elicitations: Parts['elicitations'],
  elicitationId: string,
): Promise<QuestionOutcome | null> {
  const row = await elicitations.get(elicitationId);
  // Closed by nobody's answer: the call is about to be stopped, which says more than an answer nobody gave.
  const isAbandoned = row?.status === 'cancel' && row.responseId === null;
  if (!row || row.status === 'pending' || isAbandoned) return null;
  return { elicitationId, outcome: row.status, responseId: row.responseId };
}
