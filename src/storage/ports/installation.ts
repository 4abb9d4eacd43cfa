import type { TurnRow } from './turns.ts';

/**
 * Which installation the database belongs to, and how far it has come. Temporal keeps the same three values in its mark.
 * `generation` 0: Temporal's mark has not been written yet.
 */
export interface InstallationRow {
  id: string;
  generation: number;
  /** Made for this generation alone, so that two databases that both go on from one backup differ. Null in generation 0. */
  token: string | null;
  /** Of the next generation, once a process has begun to write it. */
  nextToken: string | null;
  /** When the next generation is to be written. */
  dueAt: number;
}

export interface Installation {
  /** Null until a process has asked for it to be made. */
  read(): Promise<InstallationRow | null>;
  /** Makes the row, in generation 0; the one there is, if it was made before. */
  make(): Promise<InstallationRow>;
  /** True for one caller in each interval: it writes the next generation. */
  claim(everyMs: number): Promise<boolean>;
  /** The token of the generation after this one, the same for all who ask; null when the database is not in it any more. */
  intend(generation: number): Promise<string | null>;
  /** Compare-and-set: the intended generation is the database's from now on. */
  confirm(generation: number): Promise<void>;
  /** After an operator has decided: the database belongs to this installation from now on. */
  replace(row: { id: string; generation: number; token: string }): Promise<void>;
  /** Turns that have not ended, in all tenants, newest first. */
  liveTurns(limit?: number): Promise<TurnRow[]>;
  /** Turns that have begun, whether or not they have ended, newest first. */
  latestTurns(limit: number): Promise<TurnRow[]>;
  /**
   * Prepares a running turn to begin again under a new workflow, in one transaction: closes its questions and takes its
   * unfinished calls back to `requested`. Steps and results that are kept stay. It goes on with this version of the workflow
   * code. False when it has ended.
   */
  rewind(turn: Pick<TurnRow, 'turnId'>, buildId: string): Promise<boolean>;
  /**
   * Prepares a running turn to go on with a workflow that is older than its rows: attempts that the workflow makes again are
   * the newest, and it is notified again of questions that are settled.
   */
  catchUp(turn: Pick<TurnRow, 'turnId'>): Promise<void>;
}
