/**
 * The end of a turn that never began: it was withdrawn, or its workflow was ended from outside before a worker took it up. The
 * log has no word about it, so whoever follows the turn is told with an entry that is made here.
 */
import type { LogEntry } from '../../turn/event.ts';
import type { TurnRef } from '../../turn/turn.ts';
import type { Storage } from '../storage.ts';

/** `seq`: the entry's. Null: the turn has begun, or is still about to. */
export async function unloggedEnd(
  { turns, turnLog }: Pick<Storage, 'turns' | 'turnLog'>,
  turn: TurnRef,
  seq: number,
): Promise<LogEntry | null> {
  const row = await turns.get(turn);
  if (row?.status === 'starting' || row?.status === 'running') return null;
  // Read after the row, because a turn that has ended in between has begun as well.
  if ((await turnLog.startOf(turn)) !== null) return null;
  const status = row?.status ?? 'cancelled';
  return { seq, turnId: turn.turnId, at: row?.endedAt ?? Date.now(), event: { type: 'turn-ended', status } };
}
