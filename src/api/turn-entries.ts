/**
 * A turn as a reader sees it: its log entries from the first to `turn-ended`, whenever the reader arrives.
 * Shared by every surface that shows one turn.
 */
import type { Storage } from '../storage/storage.ts';
import type { LogEntry } from '../turn/event.ts';
import type { TurnEndStatus, TurnRef } from '../turn/turn.ts';

/** How often a reader that has seen nothing yet makes sure that there will be something to see. */
const lookEveryMs = 2_000;

/** Batches as they come, never empty. Ends after the batch with `turn-ended`, or early when `signal` aborts. */
export async function* turnEntries(
  { turnLog, turns }: Pick<Storage, 'turnLog' | 'turns'>,
  turn: TurnRef,
  signal: AbortSignal,
): AsyncGenerator<LogEntry[]> {
  // In this order: a turn that begins between the two reads lies after `latest`.
  const latest = await turnLog.latest(turn);
  const after = (await turnLog.startOf(turn)) ?? latest;
  const stillborn = new AbortController();
  let end: TurnEndStatus = 'cancelled';
  const look = async () => {
    const [row, start] = await Promise.all([turns.get(turn), turnLog.startOf(turn)]);
    // Not in the log, and no longer about to begin: nothing will ever be logged.
    if (start !== null || row?.status === 'starting' || row?.status === 'running') return;
    end = row?.status ?? end;
    stillborn.abort();
  };
  // While the database is away, nothing is known; the next look tells.
  const watch = setInterval(() => void look().catch(() => undefined), lookEveryMs);
  try {
    for await (const batch of turnLog.follow(turn, after, AbortSignal.any([signal, stillborn.signal]))) {
      const entries = withoutVoidText(batch.filter((entry) => entry.turnId === turn.turnId));
      if (entries.length === 0) continue;
      clearInterval(watch);
      yield entries;
      if (entries.some(({ event }) => event.type === 'turn-ended')) return;
    }
  } finally {
    clearInterval(watch);
  }
  // Cancelled or withdrawn before its workflow took it up. The log has no word about it, so its end is told here.
  if (stillborn.signal.aborted)
    yield [{ seq: latest, turnId: turn.turnId, at: Date.now(), event: { type: 'turn-ended', status: end } }];
}

/**
 * Leaves out what a repeated model call took back, as far as it is in the same batch: whoever arrives later
 * never sees it. What an earlier batch already delivered stays, followed by its `reset-step`.
 */
export function withoutVoidText(entries: LogEntry[]): LogEntry[] {
  let kept: LogEntry[] = [];
  for (const entry of entries) {
    const { event } = entry;
    if (event.type !== 'reset-step') {
      kept.push(entry);
      continue;
    }
    const isSameAgent = (earlier: LogEntry) => earlier.event.parentToolCallId === event.parentToolCallId;
    const start = kept.findLastIndex(
      (earlier) => earlier.event.type === 'start-step' && isSameAgent(earlier),
    );
    kept = kept.filter((earlier, index) => index <= start || !isSameAgent(earlier) || !isText(earlier));
    if (start === -1) kept.push(entry);
  }
  return kept;
}

function isText({ event }: LogEntry): boolean {
  return event.type.startsWith('text-') || event.type.startsWith('reasoning-');
}
