/**
 * A turn as a reader sees it: its log entries from the first to `turn-ended`, whenever the reader arrives.
 * Shared by every surface that shows one turn.
 */
import { unloggedEnd } from '../storage/log/unlogged-end.ts';
import type { Storage } from '../storage/storage.ts';
import type { TurnRow } from '../storage/ports/turns.ts';
import type { LogEntry } from '../turn/event.ts';
import { withoutVoidText } from '../turn/void-text.ts';
import type { OwnTurn } from './own-turn.ts';
import { invalidInput } from './service-error.ts';

/** A turn that no worker has taken up yet. */
export type WaitingTurn = Pick<TurnRow, 'agent'>;

/** How often a reader that has seen nothing yet makes sure that there will be something to see. */
const lookEveryMs = 2_000;
/** A worker takes a turn up within milliseconds; one that is being replaced, within a few seconds. */
const waitsAfterMs = 4_000;

export interface FollowTurn {
  signal: AbortSignal;
  /**
   * The sequence number of the last entry that the reader has; from the turn's first entry unless given, and for a
   * position before it. With one that the conversation's log has not come to, it is an `invalid_request`.
   */
  after?: number | undefined;
  /** Called while no worker has taken the turn up after some seconds. */
  onWaiting?: ((turn: WaitingTurn) => void) | undefined;
}

/**
 * Batches as they come, never empty. Ends after the batch with `turn-ended`, at once when the reader has that already, or
 * early when `signal` aborts.
 */
export async function* followTurn(
  storage: Pick<Storage, 'turnLog' | 'turns'>,
  turn: OwnTurn,
  { signal, after: seen, onWaiting }: FollowTurn,
): AsyncGenerator<LogEntry[]> {
  const { turnLog, turns } = storage;
  // In this order: a turn that begins, or ends, between the reads does so after `latest`.
  const latest = await turnLog.latest(turn);
  if (seen !== undefined && seen > latest)
    throw invalidInput(['after'], 'The conversation has not come that far; leave it out.');
  const start = (await turnLog.startOf(turn)) ?? latest;
  const after = Math.max(start, seen ?? 0);
  const end = seen === undefined ? null : await turnLog.endOf(turn);
  if (end !== null && after >= end) return;
  const stillborn = new AbortController();
  const look = async () => {
    const unlogged = await unloggedEnd(storage, turn, latest);
    if (unlogged) return stillborn.abort(unlogged);
    const row = onWaiting && (await turns.get(turn));
    if (row?.status === 'starting' && Date.now() - row.createdAt >= waitsAfterMs) onWaiting?.(row);
  };
  // While the database is away, nothing is known; the next look tells.
  const watch = setInterval(() => void look().catch(() => undefined), lookEveryMs);
  try {
    for await (const batch of turnLog.follow(turn, after, AbortSignal.any([signal, stillborn.signal]))) {
      const entries = batch.filter((entry) => entry.turnId === turn.turnId);
      if (entries.length === 0) continue;
      clearInterval(watch);
      yield entries;
      if (entries.some(({ event }) => event.type === 'turn-ended')) return;
    }
  } finally {
    clearInterval(watch);
  }
  if (stillborn.signal.aborted) yield [stillborn.signal.reason as LogEntry];
}

/** All of a turn, when it is over: what the model took back is left out, however late it did. Shorter when `signal` aborts. */
export async function readTurn(
  storage: Pick<Storage, 'turnLog' | 'turns'>,
  turn: OwnTurn,
  signal: AbortSignal,
): Promise<LogEntry[]> {
  let entries: LogEntry[] = [];
  for await (const batch of followTurn(storage, turn, { signal })) {
    entries.push(...batch);
    if (batch.some(({ event }) => event.type === 'reset-step')) entries = withoutVoidText(entries);
  }
  return entries;
}
