/** Polls: what is asked again and again while a question is open, because what could settle it may not notify us. */
import type { Turn } from '../../turn/turn.ts';

export type PollSubject =
  /** The stream of a call that was left open, or the session in which its server says that a page is done. */
  | { kind: 'stream' | 'pages'; turn: Turn; toolCallId: string; server: string; round: number }
  /** An account that is kept in another system. `seenVersion`: the connection version that did not work. */
  | { kind: 'connection'; turn: Turn; server: string; seenVersion: number };

export interface NewPoll {
  id: string;
  subject: PollSubject;
  /** From now until the first poll. */
  firstMs: number;
}

export interface Poll extends Pick<NewPoll, 'id' | 'subject'> {
  /** How often it has been run, this time included. */
  count: number;
  /** The ids of its pending questions; at least one. */
  questions: string[];
}

export interface Polls {
  /**
   * Claims polls that are due, longest due first, at most `perServer` of one server and none of the servers in `except`.
   * The lease lasts `leaseMs`; then they are due again.
   */
  claim(
    which: { kinds: PollSubject['kind'][]; limit: number; perServer: number; except: string[] },
    leaseMs: number,
  ): Promise<Poll[]>;
  /** Renews leases for `ms`. Returns the ids of those that still have a pending question. */
  hold(ids: string[], ms: number): Promise<Set<string>>;
  /** Ends a lease: due again after `afterMs`. */
  again(id: string, afterMs: number): Promise<void>;
  /** Deletes a poll that has no use any more. */
  drop(id: string): Promise<void>;
  /** Whether a poll of these kinds has been due for at least `sinceMs`. */
  isDue(kinds: PollSubject['kind'][], sinceMs: number): Promise<boolean>;
}
