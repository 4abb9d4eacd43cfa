/**
 * The calls that a model asks for, as workflows pass them on, and what an attempt at one comes to. Ids, names and
 * reasons only: all of it is part of workflow history.
 *
 * Something else to call is one more member of `ToolCall`, and of every `switch` over its `kind`.
 */
import type { Mode, Settlement } from '../elicitation/elicitation.ts';
import type { ConnectionAsk, QuestionOutcome } from './ask.ts';
import type { Turn } from './turn.ts';

export type ToolCall = ServerCall | DelegatedCall;

/** A tool of an MCP server. */
export interface ServerCall {
  kind: 'server';
  toolCallId: string;
  toolName: string;
  server: string;
  /** The tool's own name at its server; null for the `connect_<server>` tool. */
  tool: string | null;
}

/** A task for another agent, which may take so many steps for it. */
export interface DelegatedCall {
  kind: 'delegated';
  toolCallId: string;
  toolName: string;
  agent: string;
  maxSteps: number;
}

/** As it stands in the histories of turns that began before calls had a `kind`. */
type CallWithoutKind = Omit<ServerCall, 'kind'> | Omit<DelegatedCall, 'kind'>;

export function readToolCall(call: ToolCall | CallWithoutKind): ToolCall {
  if ('kind' in call) return call;
  return 'agent' in call ? { kind: 'delegated', ...call } : { kind: 'server', ...call };
}

/** One attempt at a server's tool. */
export interface ToolCallInput {
  turn: Turn;
  toolCallId: string;
  server: string;
  /** As in `ServerCall`. */
  tool: string | null;
  /** How often the user was asked to connect an account for this call so far. */
  connects: number;
  /** How many of the server's own rounds were answered so far, and what became of all their questions. */
  round: number;
  answers: QuestionOutcome[];
  /** Of questions, not written down yet as far as the workflow knows: one of them may be why the call goes on. */
  outcomes?: Settlement[];
}

/** What an attempt came to. */
export type AttemptResult =
  /** The model has its result, or its reason why there is none. */
  { kind: 'finished' } | { kind: 'connection-required'; user: string; ask: ConnectionAsk } | CallPaused;

/** The server has asked something: a round of the call, which goes on with the answers. */
export interface CallPaused {
  kind: 'asks';
  round: number;
  /** None: nobody is to be asked, the server only wants to be called again a little later. */
  questions: { elicitationId: string; mode: Mode }[];
  /** The server keeps its half of the call, and is to be told when nobody waits for it any more. */
  isLeftOpen?: true;
}

/** One round of a server's call, by its number from 1. */
export interface RoundRef {
  turn: Turn;
  toolCallId: string;
  server: string;
  round: number;
}
