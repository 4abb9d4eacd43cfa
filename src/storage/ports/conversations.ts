import type { LogEntry } from '../../turn/event.ts';
import type { LeftOut } from '../../turn/left-out.ts';
import type { ConversationRef, TurnOwner, TurnRef } from '../../turn/turn.ts';

export interface ConversationRow extends ConversationRef, TurnOwner {
  agent: string;
  createdAt: number;
  /** When something was last written to it. */
  updatedAt: number;
}

/** A message as the model is given it: AI SDK `ModelMessage` content. */
export interface StoredMessage {
  /** Unique in the conversation; storing an id again is a no-op. */
  id: string;
  turnId: string;
  role: 'user' | 'assistant' | 'tool';
  content: unknown;
  /** What of it the model is no longer given. Absent: nothing. */
  leftOut?: LeftOut;
}

export interface Messages {
  /**
   * The conversation's messages in order, of begun turns only. Of a turn that is a delegation: the delegated agent's
   * own messages, which are not among the conversation's.
   */
  list(ref: ConversationRef | TurnRef): Promise<StoredMessage[]>;
}

/** A conversation, and which turn runs in it. */
export interface ListedConversation extends ConversationRow {
  liveTurn: string | null;
}

/** A turn that has begun, as it can be read again. */
export interface ToldTurn {
  turnId: string;
  /** Of its `turn-started`: tells turns of a conversation in their order. */
  seq: number;
  /** What clients sent to begin it: its user message, after the history of a conversation that was new. */
  given: StoredMessage[];
  /** All of its log, once it is over; null while it runs. */
  log: LogEntry[] | null;
}

export interface Conversations {
  /** Of this owner, last changed first. `after` is the last one of the page before. */
  list(
    owner: TurnOwner,
    page: { after: Pick<ConversationRow, 'updatedAt' | 'conversation'> | null; limit: number },
  ): Promise<ListedConversation[]>;
  /** The newest turns of those that began before the sequence number `before`, oldest first. */
  turns(ref: ConversationRef, page: { before: number | null; limit: number }): Promise<ToldTurn[]>;
  /** The turn that was accepted and has not begun; at most one. */
  starting(ref: ConversationRef): Promise<Pick<ToldTurn, 'turnId' | 'given'>[]>;
}
