import type { ConversationRef, TurnOwner, TurnRef } from '../../turn/turn.ts';

/** What is known of the trace of a turn: where it begins, and when its agents have waited for people. */
export interface TurnTrace extends ConversationRef, TurnOwner {
  turnId: string;
  agent: string;
  /** W3C's, of the span with which the turn began. */
  traceParent: string;
  startedAt: number;
  endedAt: number | null;
  /** By the database's clock. */
  now(): number;
  /** All that were asked, in no order. */
  questions: TracedQuestion[];
  /** Agents that were delegated to, by the calls that did it. */
  delegates: Map<string, TracedDelegate>;
}

export interface TracedQuestion {
  id: string;
  askedAt: number;
  settledAt: number | null;
  /** Whose calls wait, or have waited, for it: the calls that delegated to these agents; null: the turn's own agent. */
  agents: (string | null)[];
}

export interface TracedDelegate {
  agent: string;
  startedAt: number;
  /** The call that delegated to the agent that delegates to this one; null: the turn's own agent does. */
  delegatedBy: string | null;
}

export interface TurnTraces {
  /** Null: it is not traced. `delegates`: the calls of those that may not have asked anything, and are needed. */
  read(turn: TurnRef, delegates?: string[]): Promise<TurnTrace | null>;
  /** `traceparent` of the conversation's newest turn; null where that is not traced, or there is none. */
  latest(conversation: ConversationRef): Promise<string | null>;
  /** When the model asked for the call; null: there is none. */
  requestedAt(turn: TurnRef, toolCallId: string): Promise<number | null>;
}
