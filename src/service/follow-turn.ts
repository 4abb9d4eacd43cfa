/** A turn as a reader sees it: its log entries from the first to `turn-ended`, whenever the reader arrives. */
import { unloggedEnd, turnEntries } from '../storage/log/turn-entries.ts';
import type { Storage } from '../storage/storage.ts';
import type { TurnRow } from '../storage/tables/turn-rows.ts';
import type { LogEntry } from '../turn/event.ts';
import type { OwnTurn, FoundTurn } from './own-turn.ts';
import { invalidInput } from './service-error.ts';
import { responseIdOf } from './answer-question.ts';

/** A turn that no worker has taken up yet. */
export type WaitingTurn = Pick<TurnRow, 'agent'>;

/** How often a reader that has seen nothing yet checks whether the turn can still begin. */
const lookEveryMs = 2_000;
/** A worker takes a turn up within milliseconds, or within a few seconds while workers are being replaced. */
const waitsAfterMs = 4_000;

interface FollowTurn {
  signal: AbortSignal;
  /**
   * The sequence number of the last entry that the reader has; by default, or if it is before the turn's first entry, all
   * entries follow. A position beyond the end of the conversation's log is an `invalid_request`.
   */
  after?: number | undefined;
  /** Called, repeatedly, when no worker has taken the turn up after some seconds. */
  onWaiting?: ((turn: WaitingTurn) => void) | undefined;
}

/**
 * Batches as they come, never empty. Ends after the batch with `turn-ended`, at once if the reader has that entry already, or
 * early when `signal` aborts.
 */
export async function* followTurn(
  storage: Storage,
  turn: OwnTurn,
  { signal, after: seen, onWaiting }: FollowTurn,
): AsyncGenerator<LogEntry[]> {
  const { turnLog, turns } = storage;
  // In this order, a turn that begins or ends between the reads does so after `latest`.
  const latest = await turnLog.latest(turn);
  if (seen !== undefined && seen > latest)
    throw invalidInput(['after'], 'The conversation has not come that far; leave it out.');
  const start = (await turnLog.startOf(turn)) ?? latest;
  const after = Math.max(start, seen ?? 0);
  const end = seen === undefined ? null : await turnLog.endOf(turn);
  if (end !== null && after >= end) return;
  const endedWithoutLog = new AbortController();
  const look = async () => {
    const unlogged = await unloggedEnd(storage, turn, latest);
    if (unlogged) return endedWithoutLog.abort(unlogged);
    const row = onWaiting && (await turns.get(turn));
    if (row?.status === 'starting' && Date.now() - row.createdAt >= waitsAfterMs) onWaiting?.(row);
  };
  // While the database is away, nothing is known; the next look will show it.
  const watch = setInterval(() => void look().catch(() => undefined), lookEveryMs);
  try {
    for await (const batch of turnLog.follow(
      turn,
      after,
      AbortSignal.any([signal, endedWithoutLog.signal]),
    )) {
      const entries = batch.filter((entry) => entry.turnId === turn.turnId);
      if (entries.length === 0) continue;
      clearInterval(watch);
      yield entries;
      if (entries.some(({ event }) => event.type === 'turn-ended')) return;
    }
  } finally {
    clearInterval(watch);
  }
  if (endedWithoutLog.signal.aborted) yield [endedWithoutLog.signal.reason as LogEntry];
}

/** All entries of a turn once it has ended. Fewer when `signal` aborts. */
export async function readTurn(storage: Storage, turn: OwnTurn, signal: AbortSignal): Promise<LogEntry[]> {
  const entries: LogEntry[] = [];
  for await (const batch of followTurn(storage, turn, { signal })) entries.push(...batch);
  return entries;
}

interface TurnSoFar extends Pick<FoundTurn, 'agent' | 'status' | 'createdAt' | 'endedAt'> {
  turn: OwnTurn;
  /** Content of the message that the turn began with. */
  given: unknown;
  /** The client's name for that message. */
  clientMessageId: string;
  entries: LogEntry[];
  /** The position of the log to follow from. */
  position: number;
}

/** What the turn's log contains now, without waiting for more. Null when the turn was withdrawn before it began. */
export async function turnSoFar({ turnLog, turns }: Storage, turn: OwnTurn): Promise<TurnSoFar | null> {
  const row = await turns.get(turn);
  if (!row) return null;
  const latest = await turnLog.latest(turn);
  const [{ entries, position }, given] = await Promise.all([
    turnEntries(turnLog, turn, latest),
    turns.given(row),
  ]);
  const { agent, status, createdAt, endedAt, clientMessageId } = row;
  return {
    turn,
    agent,
    status,
    createdAt,
    endedAt,
    given,
    clientMessageId,
    entries,
    position,
  };
}

/** The id of the turn's question that was answered under this idempotency key; null when none was. */
export async function questionAnsweredUnder(
  { elicitations }: Storage,
  turn: OwnTurn,
  idempotencyKey: string,
): Promise<string | null> {
  const questions = await elicitations.ofConversation(turn);
  for (const question of questions) {
    if (question.turnId !== turn.turnId) continue;
    // With a key, the response id does not depend on the answer's content.
    const responseId = responseIdOf(question, { action: 'cancel' }, idempotencyKey);
    if (await elicitations.recorded(question.id, responseId)) return question.id;
  }
  return null;
}
