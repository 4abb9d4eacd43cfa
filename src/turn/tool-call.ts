/**
 * The calls that a model asks for, and the results of attempts at them, as workflows and activities exchange them. Ids,
 * names and reasons only: all of it is recorded in workflow history, so fields stay readable as they are.
 *
 * A new kind of call is one more member of `ToolCall`; the compiler names every `switch` over `kind` that lacks it.
 */
import type { Settlement } from '../elicitation/elicitation.ts';
import type {
  ApprovalAsk,
  AskResult,
  ConnectionAsk,
  QuestionOutcome,
  ServerAsk,
  ToolApprovalAsk,
} from './ask.ts';
import type { Repetition } from './repetition.ts';
import type { Turn } from './turn.ts';

/** What an activity of a tool in TypeScript may take where its author says nothing else. */
export const usualEffectMs = 60_000;

export type ToolCall = ServerCall | DelegatedCall | QuestionCall | DurableCall;

/** A tool of an MCP server. */
export interface ServerCall {
  kind: 'server';
  toolCallId: string;
  toolName: string;
  server: string;
  /** The tool's own name at its server; null for the `connect_<server>` tool. */
  tool: string | null;
}

/** A task for another agent, which may take `maxSteps` model steps for it. */
export interface DelegatedCall {
  kind: 'delegated';
  toolCallId: string;
  toolName: string;
  agent: string;
  maxSteps: number;
}

/** A form that the model itself puts to the user, by the tool `ask_user`. */
export interface QuestionCall {
  kind: 'question';
  toolCallId: string;
  toolName: string;
  /** How many of them the agent may ask in one turn. */
  perTurn: number;
}

/** A tool in TypeScript, of the folder with these contents: what it was when the model asked for it. */
export interface DurableCall {
  kind: 'durable';
  toolCallId: string;
  toolName: string;
  /** The hash of the folder's bundle. */
  bundle: string;
  /** A person has to approve it before it is begun, unless they have said otherwise. */
  approval?: true;
}

/** As recorded in histories from before calls had a `kind`. */
type CallWithoutKind = Omit<ServerCall, 'kind'> | Omit<DelegatedCall, 'kind'>;

export function readToolCall(call: ToolCall | CallWithoutKind): ToolCall {
  if ('kind' in call) return call;
  return 'agent' in call ? { kind: 'delegated', ...call } : { kind: 'server', ...call };
}

/** Input of the activity `callTool`: one attempt at a server's tool. */
export interface ToolCallInput extends Repetition {
  turn: Turn;
  toolCallId: string;
  server: string;
  /** As in `ServerCall`. */
  tool: string | null;
  /** How often the user was asked to connect an account for this call so far. */
  connects: number;
  /** How many rounds of the server's questions have ended so far. */
  round: number;
  /** How the questions of all rounds ended. */
  answers: QuestionOutcome[];
  /** The question in which the user approved the call, once they have. */
  approval?: GivenApproval;
  /** Outcomes of questions that may not be in the database yet: to be written before anything else. */
  outcomes?: Settlement[];
}

/** What the user approved, and by which answer. */
export interface GivenApproval extends Pick<ApprovalAsk, 'digest'> {
  elicitationId: string;
  responseId: string | null;
}

/** Nobody approved the call: why, and the answer, if there is one, that may say more. */
export interface ApprovalRefused extends Omit<GivenApproval, 'digest'> {
  kind: 'approval';
  refusal: Exclude<AskResult, 'accept'>;
}

/** Whether a tool in TypeScript may be begun. */
export type DurableCallPermit =
  | { kind: 'permitted' }
  | { kind: 'approval-required'; user: string; ask: ToolApprovalAsk }
  /** The model has its result already. */
  | { kind: 'finished' };

/** The result of an attempt. */
export type AttemptResult =
  /** The tool's result, or an error in its place, is stored for the model. */
  | { kind: 'finished' }
  | { kind: 'connection-required'; user: string; ask: ConnectionAsk }
  /** Nothing was sent. */
  | { kind: 'approval-required'; user: string; ask: ApprovalAsk }
  | CallPaused;

/** The server has asked something: one round of the call. The next attempt sends the answers. */
export interface CallPaused {
  kind: 'asks';
  round: number;
  /** Empty: nobody is to be asked; the server wants to be called again later. */
  questions: AskedQuestion[];
  /** The server keeps the call open on its side, and has to be told when the call is abandoned. */
  isLeftOpen?: true;
}

/** One question of a round. */
export interface AskedQuestion extends Pick<ServerAsk, 'mode' | 'isReported' | 'expiresAt'> {
  elicitationId: string;
}

/** Names one round of a call; `round` counts from 1. */
export interface RoundRef {
  turn: Turn;
  toolCallId: string;
  server: string;
  round: number;
}
