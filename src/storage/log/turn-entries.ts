/** What the log says of one turn from its start up to a position, for whoever follows the conversation from there on. */
import type { LogEntry } from '../../turn/event.ts';
import type { TurnRef } from '../../turn/turn.ts';
import type { Storage } from '../storage.ts';

/**
 * `last`: a position that the log has reached, and so none of the text that was void by then is there. Nothing when the
 * turn had not begun by then.
 */
export async function turnEntries(
  turnLog: Pick<Storage['turnLog'], 'startOf' | 'read'>,
  turn: TurnRef,
  last: number,
): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for (let after = (await turnLog.startOf(turn)) ?? last; after < last;) {
    const batch = await turnLog.read(turn, after);
    after = batch.at(-1)?.seq ?? last;
    entries.push(...batch.filter(({ seq, turnId }) => turnId === turn.turnId && seq <= last));
  }
  return entries;
}
