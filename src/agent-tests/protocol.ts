/** What the runner's process and the process of the service under test say to each other. */
import type { Move } from '../models/scripted/script.ts';
import type { TurnEvent } from '../turn/event.ts';
import type { TurnRef } from '../turn/turn.ts';

/** A model is asked for its next step. */
export interface StepAsked {
  turnId: string;
  /** Of the asking agent: a delegate has its own for each task. */
  workflowId: string;
  agent: string;
  /** Counts the steps of the agent in this turn or task, from 0. A repeated attempt asks for the same number again. */
  number: number;
  /** The user's message, or the delegate's task. */
  message: string;
  /** Names of the tools that it may call. */
  tools: string[];
  /** What the model got for its calls so far. */
  results: { tool: string; text: string; isError: boolean }[];
}

export type StepReply =
  | { kind: 'move'; move: Move }
  /** The model that the agents file names answers, and its step comes back as `move`. */
  | { kind: 'configured' }
  | { kind: 'error'; message: string };

/** One execution, as it reached the tool. */
export interface Execution {
  turnId: string;
  /** Of the tool call; null where a tool in TypeScript ran one of its activities. */
  toolCallId: string | null;
  /** The name at its server, of the tool in TypeScript, or of the activity. */
  name: string;
  arguments: unknown;
  /** Equal for requests of one round: a second one is a second execution. Null: each counts. */
  round: string | null;
}

export interface Account {
  tenant: string;
  user: string;
  server: string;
  token: string;
}

type Environment = Readonly<Record<string, string>>;

/** `settings` replace what `environment` says about the service. */
export type Question =
  | { do: 'start temporal'; dataDir: string; port: number; uiPort: number }
  | { do: 'start'; environment: Environment; settings: Environment; folder: string }
  | { do: 'read log'; turn: TurnRef }
  | { do: 'skip'; turn: TurnRef; ms: number }
  | { do: 'connect'; account: Account }
  /** Its answer comes after all reports that were under way. */
  | { do: 'finish reports' };

export type ToService =
  | { kind: 'question'; id: number; question: Question }
  | { kind: 'step'; id: number; reply: StepReply };

export type FromService =
  | { kind: 'answer'; id: number; result?: unknown; error?: string }
  | { kind: 'step'; id: number; step: StepAsked }
  | { kind: 'move'; id: number; move: Move }
  | { kind: 'call'; call: Execution };

export type LoggedEvent = TurnEvent;
