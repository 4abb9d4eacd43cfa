/** What readers of one turn need from the log: its entries so far, and an end for a turn that never began. */
import type { LogEntry } from '../../turn/event.ts';
import type { TurnRef } from '../../turn/turn.ts';
import type { Storage } from '../storage.ts';

/**
 * The turn's entries up to position `last`, which the log must have reached, or a little further: up to `position`. Text that
 * was void by then is left out. Empty when the turn had not begun by then.
 */
export async function turnEntries(
  turnLog: Pick<Storage['turnLog'], 'startOf' | 'read'>,
  turn: TurnRef,
  last: number,
): Promise<{ entries: LogEntry[]; position: number }> {
  const entries: LogEntry[] = [];
  let position = (await turnLog.startOf(turn)) ?? last;
  while (position < last) {
    const batch = await turnLog.read(turn, position);
    position = batch.at(-1)?.seq ?? last;
    // Also later ones: text from before `last` may have been merged into them since.
    entries.push(...batch.filter(({ turnId }) => turnId === turn.turnId));
  }
  return { entries, position };
}

/**
 * The end of a turn that never began, because it was withdrawn, or its workflow was ended from outside before a worker took
 * it up. The log has no entry for it, so this makes one, with the number `seq`. Null: the turn has begun, or still may.
 */
export async function unloggedEnd(
  { turns, turnLog }: Pick<Storage, 'turns' | 'turnLog'>,
  turn: TurnRef,
  seq: number,
): Promise<LogEntry | null> {
  const row = await turns.get(turn);
  if (row?.status === 'starting' || row?.status === 'running') return null;
  // Read after the row: a turn that has ended in between has also begun.
  if ((await turnLog.startOf(turn)) !== null) return null;
  const status = row?.status ?? 'cancelled';
  return { seq, turnId: turn.turnId, at: row?.endedAt ?? Date.now(), event: { type: 'turn-ended', status } };
}
