/**
 * What a person has to be asked, as workflows and activities exchange it, and the results of opening the question. Ids
 * and reasons only, no text: all of it is recorded in workflow history, so fields stay readable as they are.
 *
 * A new kind of question is one more member of `Ask`; the compiler names every `switch` over `kind` that lacks it.
 */
import { isAction } from '../elicitation/elicitation.ts';
import type { ConnectionReason, Mode, Outcome, Settlement } from '../elicitation/elicitation.ts';
import type { Turn } from './turn.ts';

export type Ask = ConnectionAsk | ServerAsk | ApprovalAsk | ToolApprovalAsk | ModelAsk | ToolAsk;

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

/** A server's own question, in the middle of a tool call. Its text is stored with the round, in the call's row. */
export interface ServerAsk {
  kind: 'server';
  server: string;
  tool: string;
  toolCallId: string;
  round: number;
  mode: Mode;
  /** Of a url: that its page is done is noticed here, and only that settles it. */
  isReported?: true;
  /** Until when whoever asks waits for the answer, in epoch milliseconds. */
  expiresAt?: number;
}

/** A tool call of the model's, before anything of it is sent. What it would send is in the call's row. */
export interface ApprovalAsk {
  kind: 'approval';
  server: string;
  tool: string;
  toolCallId: string;
  /** Of the arguments, sealed: neither to be guessed from history nor made up in the database. */
  digest: string;
}

/** A call of a tool in TypeScript, before it is begun. What it would be given is in the call's row. */
export interface ToolApprovalAsk extends Pick<ApprovalAsk, 'toolCallId' | 'digest'> {
  kind: 'tool-approval';
  tool: string;
}

/** A question of the agent's own model. What it asks is in the tool call's input. */
export interface ModelAsk {
  kind: 'model';
  toolCallId: string;
  /** The agent's name. */
  agent: string;
}

/** A question of a tool in TypeScript. What it asks stands beside it (see `NewQuestion`). */
export interface ToolAsk {
  kind: 'tool';
  tool: string;
  toolCallId: string;
  mode: Mode;
}

/** The mode of elicitation that the client has to support to show it. */
export function modeOf(ask: Ask): Mode {
  switch (ask.kind) {
    case 'connection':
      return 'url';
    case 'server':
    case 'tool':
      return ask.mode;
    case 'approval':
    case 'tool-approval':
    case 'model':
      return 'form';
    default:
      return ask satisfies never;
  }
}

/** The name of the server that asks, or whose account is missing. */
export function askedBy(ask: Ask): string {
  switch (ask.kind) {
    case 'connection':
    case 'server':
    case 'approval':
      return ask.server;
    case 'model':
      return ask.agent;
    case 'tool':
    case 'tool-approval':
      return ask.tool;
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
    case 'approval':
    case 'tool-approval':
    case 'model':
    case 'tool':
      return null;
    default:
      return ask satisfies never;
  }
}

/** Until when whoever asks waits for the answer, in epoch milliseconds; null where only the turn's limit counts. */
export function expiresAtOf(ask: Ask): number | null {
  switch (ask.kind) {
    case 'server':
      return ask.expiresAt ?? null;
    case 'connection':
    case 'approval':
    case 'tool-approval':
    case 'model':
    case 'tool':
      return null;
    default:
      return ask satisfies never;
  }
}

/** Of a url: that its page is done is reported here, and only that settles the question. */
export function isReported(ask: Ask): boolean {
  switch (ask.kind) {
    case 'server':
      return ask.isReported === true;
    case 'tool':
      return ask.mode === 'url';
    case 'connection':
    case 'approval':
    case 'tool-approval':
    case 'model':
      return false;
    default:
      return ask satisfies never;
  }
}

/** A question to be opened. */
export interface NewQuestion<Kind extends Ask = Ask> {
  turn: Turn;
  workflowId: string;
  elicitationId: string;
  user: string;
  ask: Kind;
  /** What a tool in TypeScript asks: only in the sealed histories of such tools. */
  request?: ToolRequest;
  /** In epoch milliseconds. */
  deadline: number;
}

/** A tool's question as its author wrote it. */
export type ToolRequest = { toolTitle: string; message: string } & (
  | { mode: 'url'; url: string }
  | { mode: 'form'; requestedSchema: Record<string, unknown> }
);

/** The result of opening a question. */
export type OpenResult =
  | Opened
  /** The user, or the turn, has as many open questions as are allowed; this one was not opened. */
  | { kind: 'too-many-open'; of?: 'turn' }
  /** Its tool call has ended meanwhile; the question was not opened. */
  | { kind: 'call-ended' }
  /** It sends its user to a page, which has no secret to sign with that it is done; the question was not opened. */
  | { kind: 'page-cannot-report' };

export interface Opened {
  kind: 'opened' | 'already-connected';
  /** The version of an account that was connected meanwhile; null if none was. */
  connectedVersion: number | null;
  /** The account is kept in another system, which may fail to notify us: check once more before the question expires. */
  mayGoUnnoticed?: true;
}

/** The result of asking: how the question ended, or why nobody was asked. */
export type AskResult = Outcome | 'unsupported' | TooManyOpen;

/** Nobody was asked, because as many questions are open as are allowed: of the user, or of the turn. */
export type TooManyOpen = 'too-many-open' | 'too-many-in-turn';

export function isAskResult(value: unknown): value is AskResult {
  return isAction(value) || value === 'expired' || value === 'unsupported' || isTooManyOpen(value);
}

export function isTooManyOpen(value: unknown): value is TooManyOpen {
  return value === 'too-many-open' || value === 'too-many-in-turn';
}

/** How a question ended. The content of the answer is in the database, under `responseId`. */
export type QuestionOutcome = Omit<Settlement, 'because'>;

/** An account that is kept in another system and may have been connected without our being notified. */
export interface ExpectedConnection {
  turn: Turn;
  server: string;
  /** As in `ConnectionAsk`. */
  seenVersion: number;
}
