/**
 * The remark that the model reads after a server's result when questions of the call expired. MCP has no word for expiry,
 * so servers get `cancel` and report that the user dismissed the question.
 */
import { expiredForModel } from '../../elicitation/wording.ts';
import type { Storage } from '../../storage/storage.ts';
import type { TurnRef } from '../../turn/turn.ts';
import type { CallRounds } from './rounds.ts';

interface Parts {
  storage: Pick<Storage, 'elicitations'>;
  rounds: Pick<CallRounds, 'list'>;
}

export async function remarkOnExpired(
  { storage, rounds }: Parts,
  { turn, toolCallId, title }: { turn: TurnRef; toolCallId: string; title: string },
): Promise<string | undefined> {
  const kept = await rounds.list(turn, toolCallId);
  const ids = new Set(kept.flatMap(({ questions }) => questions.map(({ elicitationId }) => elicitationId)));
  const rows = await Promise.all([...ids].map((id) => storage.elicitations.get(id)));
  // A server that gave up by itself was told nothing, and says so in its result.
  const expired = rows.filter((row) => row?.status === 'expired' && row.because === null);
  return expired.length === 0 ? undefined : expiredForModel(title, expired.length, rows.length);
}
