/**
 * Why a person has to be asked, as workflows pass it on, and what comes of opening the question. Ids and reasons only:
 * all of it is part of workflow history.
 *
 * Something else to ask is one more member of `Ask`, and of every `switch` over its `kind`.
 */
import type { ConnectionReason, Mode, Outcome, Settlement } from '../elicitation/elicitation.ts';
import type { Turn } from './turn.ts';

export type Ask = ConnectionAsk | ServerAsk;

/** An account has to be connected (again). */
export interface ConnectionAsk {
  kind: 'connection';
  server: string;
  /** The tool that needs the account; absent when nothing is known about the server's tools yet. */
  tool?: string;
  /** The first call that needs it: others of the same server share the question. */
  toolCallId?: string;
  reason: ConnectionReason;
  /** The connection version that did not work; 0 if there was none. */
  seenVersion: number;
  scopes?: string[];
}

/** A server's own question, in the middle of a tool call. What it asks is in the round's record. */
export interface ServerAsk {
  kind: 'server';
  server: string;
  tool: string;
  toolCallId: string;
  round: number;
  mode: Mode;
}

/** How the caller has to be able to show it. */
export function modeOf(ask: Ask): Mode {
  switch (ask.kind) {
    case 'connection':
      return 'url';
    case 'server':
      return ask.mode;
    default:
      return ask satisfies never;
  }
}

/** The name of whoever asks, or whose account is missing. */
export function askedBy(ask: Ask): string {
  switch (ask.kind) {
    case 'connection':
    case 'server':
      return ask.server;
    default:
      return ask satisfies never;
  }
}

/** The account that settles the question once it is connected; null where only an answer does. */
export function accountOf(ask: Ask): Omit<ExpectedConnection, 'turn'> | null {
  switch (ask.kind) {
    case 'connection':
      return { server: ask.server, seenVersion: ask.seenVersion };
    case 'server':
      return null;
    default:
      return ask satisfies never;
  }
}

/** One question and whose it is. */
export interface NewQuestion<Kind extends Ask = Ask> {
  turn: Turn;
  workflowId: string;
  elicitationId: string;
  user: string;
  ask: Kind;
  /** In epoch milliseconds. */
  deadline: number;
}

/** What came of opening a question. */
export type OpenResult =
  | Opened
  | { kind: 'too-many-open' }
  /** Its tool call has ended meanwhile: nobody waits for an answer. */
  | { kind: 'call-ended' };

export interface Opened {
  kind: 'opened' | 'already-connected';
  /** The version of an account that was connected meanwhile. */
  connectedVersion: number | null;
  /** The account is kept elsewhere, and nobody may tell us of it: it has to be looked for. */
  mayGoUnnoticed?: true;
}

/** What came of asking: an outcome, or nobody was asked. */
export type AskResult = Outcome | 'unsupported' | 'too-many-open';

/** What became of a question, for whoever goes on because of it. The content of the answer is in the database. */
export type QuestionOutcome = Omit<Settlement, 'because'>;

/** An account that is kept elsewhere and may have been connected though nobody said so. */
export interface ExpectedConnection {
  turn: Turn;
  server: string;
  /** As in `ConnectionAsk`. */
  seenVersion: number;
}
