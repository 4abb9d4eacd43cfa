import type { LogEntry, TurnEvent } from '../../turn/event.ts';
import type { ConversationRef, TurnRef } from '../../turn/turn.ts';

export interface NewEvent {
  /** Unique within the turn. Appending a key again is a no-op, which makes retried activities harmless. */
  key: string;
  event: TurnEvent;
}

export interface TurnLog {
  /**
   * Appends in order, in one transaction, and wakes followers after commit. Sequence numbers are given without gaps. A
   * `reset-step` removes, in the same transaction, what stands before it under the keys of its step.
   */
  append(turn: TurnRef, events: NewEvent[]): Promise<void>;
  /**
   * Entries with `seq > after`, oldest first. A cursor inside a merged delta gets the rest of that delta
   * (same `seq` as the merged row), no more and no less.
   */
  read(conversation: ConversationRef, after: number, limit?: number): Promise<LogEntry[]>;
  /**
   * Batches of entries as they come, never empty, never missing or repeating one. Ends only when `signal` aborts.
   * Woken by an in-process signal or LISTEN/NOTIFY, with a slow poll as safety net.
   */
  follow(conversation: ConversationRef, after: number, signal: AbortSignal): AsyncIterable<LogEntry[]>;
  /** The sequence number of the newest entry, 0 when there is none: where to follow from to see only what is new. */
  latest(conversation: ConversationRef): Promise<number>;
  /** The sequence number just before the turn's first event, or null when it has none yet. */
  startOf(turn: TurnRef): Promise<number | null>;
  /** The sequence number of the turn's last event, or null while it has not ended. */
  endOf(turn: TurnRef): Promise<number | null>;
  /** Merges each run of deltas of one part into its last row, remembering where the parts ended. Once is enough. */
  merge(turn: TurnRef): Promise<void>;
  /**
   * As `merge`, one turn after the other, beside whatever else goes on; `close` waits for it. A merge that fails, or is
   * lost with its process, is left to whoever claims the turn as due.
   */
  mergeLater(turn: TurnRef): void;
}
