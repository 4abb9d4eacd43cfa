import type { Turn } from '../../turn/turn.ts';

/** What is polled while a question is open: whoever could settle it may not tell us. */
export type PollSubject =
  /** The stream of a call that was left open, or the session in which its server says that a page is done. */
  | { kind: 'stream' | 'pages'; turn: Turn; toolCallId: string; server: string; round: number }
  /** An account that is kept elsewhere. `seenVersion`: the connection version that did not do. */
  | { kind: 'connection'; turn: Turn; server: string; seenVersion: number };

export interface NewPoll {
  id: string;
  subject: PollSubject;
  /** From now to the first one. */
  firstMs: number;
}

export interface Poll extends Pick<NewPoll, 'id' | 'subject'> {
  /** To be told of news. */
  workflowId: string;
  /** How many have been made, this one included. */
  count: number;
  /** Those that are still pending; at least one. */
  questions: string[];
}

export interface Polls {
  /**
   * Those that are due, longest first, but at most `perServer` of one server, and none of `except`. Nobody else gets
   * them for `leaseMs`; then they are due again.
   */
  claim(
    which: { kinds: PollSubject['kind'][]; limit: number; perServer: number; except: string[] },
    leaseMs: number,
  ): Promise<Poll[]>;
  /** Keeps claims for so long, and says which of them still have a pending question. */
  hold(ids: string[], ms: number): Promise<Set<string>>;
  /** Ends a claim: due again after so long. */
  again(id: string, afterMs: number): Promise<void>;
  /** There is nothing to look at any more. */
  drop(id: string): Promise<void>;
  /** Whether one has been due for so long. */
  isDue(kinds: PollSubject['kind'][], sinceMs: number): Promise<boolean>;
}
