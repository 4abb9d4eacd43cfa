import type { TurnRef } from '../../turn/turn.ts';
import type { ElicitationRow } from './elicitations.ts';

/**
 * Something that Temporal or a server still has to be notified of, because a transaction has decided it. It is a hint where
 * it is a signal: its receiver reads the rows.
 */
export type Mark = { id: string } &
  /** One for each workflow that waits; none where the question closes with its turn, whose workflow ends or is cancelled. */
  (
    | { kind: 'settled'; workflowId: string; elicitationId: string; turn: TurnRef }
    /** The turn has ended, or is to end: its workflow is cancelled. */
    | { kind: 'cancel'; workflowId: string; turn: TurnRef }
    /** Servers keep calls of the ended turn open: they are notified, and the rows that this needs are deleted. */
    | { kind: 'abandon'; turn: TurnRef }
    /** A command has settled the question. Its end is logged, counted and traced by the process that delivers the mark. */
    | { kind: 'report'; elicitationId: string; turn: TurnRef }
  );

export interface Outbox {
  /** Marks that are due, longest due first, leased for `leaseMs`. */
  claim(limit: number, leaseMs: number): Promise<Mark[]>;
  /** They have been delivered, or never can be. */
  done(ids: string[]): Promise<void>;
  /** Could not be delivered: due again after a delay that doubles with each attempt, from one second to ten minutes. */
  failed(ids: string[]): Promise<void>;
  /** For a command, which delivers nothing: its marks are due at once, and the ends of the questions it has settled are reported. */
  handOver(marks: Mark[], settled: ElicitationRow[]): Promise<void>;
}

/** Gets, after each commit, the marks that the process that has committed is to deliver at once. Must not throw. */
export type OutboxObserver = (marks: Mark[]) => void;
