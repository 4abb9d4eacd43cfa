/**
 * The interface to the servers that turns call, the same for every protocol. Activities import only this file and the types
 * that it names. There is one object per worker, which owns all state about servers that outlives a call.
 */
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../platform/config/config.ts';
import type { Credential } from '../credentials/credential-store.ts';
import type { ClosedBecause, Outcome, Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ToolList } from '../storage/schema/account-tables.ts';
import type { CallFailure } from '../turn/call-failure.ts';
import type { ServerTrouble } from '../turn/server-trouble.ts';
import type {
  InputRequired,
  QuestionAnswer,
  RemoteTask,
  Resume,
  RunningCall,
  ServerQuestion,
} from '@interlude-ai/core/mcp/input-required.ts';
import type { ProcessExit } from '@interlude-ai/core/mcp/stdio/process.ts';

export interface RemoteServers {
  listTools(
    server: ServerConfig,
    credential: Credential,
    signal: AbortSignal,
    listener?: Pick<CallListener, 'onProcessExit'>,
  ): Promise<ListOutcome>;
  /**
   * One round of a call, from a request to its answer: the first one, or a later one with answers. Never rejects because of
   * the server or the network: every end is an outcome, whose kind says whether the tool can have run.
   */
  callTool(server: ServerConfig, credential: Credential, call: ToolCall): Promise<CallOutcome>;
  /** Tells the server that the call is abandoned. Best effort, with a short timeout. */
  cancelCall(access: ServerAccess, open: Resume): Promise<void>;
  /**
   * Observes an open call while a person is asked. `count` grows from one observation to the next: it is sent as progress,
   * which extends the timeout of some servers.
   */
  observeCall(access: ServerAccess, open: OpenCall, count: number): Promise<Observation>;
  /** Ends all sessions and processes, and keeps none from now on. Resolves when every server has been notified. */
  close(): Promise<void>;
}

export interface ServerAccess {
  server: ServerConfig;
  credential: Credential;
  signal: AbortSignal;
}

interface OpenCall {
  questions: ServerQuestion[];
  resume: Resume;
}

export type Observation =
  /** `againMs`: set when the next observation should be soon. */
  | { kind: 'unchanged'; againMs?: number }
  /** The session or its server does not exist any more, or cannot be observed. */
  | { kind: 'ended' }
  /** `keys`: of the questions concerned. */
  | { kind: 'changed'; change: ClosedBecause | 'page_done'; keys: string[] };

/** A listed tool that is not offered to models. `reason` is for the author of the server. */
export interface LeftOut {
  tool: string;
  reason: string;
}

export interface Listed extends ToolList {
  kind: 'tools';
  leftOut: LeftOut[];
}

export type ListOutcome = Listed | Refused | Unreachable;

export interface ToolCall extends CallListener {
  name: string;
  arguments: Record<string, unknown>;
  /** As its server listed it. Marked arguments are sent as headers, too. */
  inputSchema?: Record<string, unknown>;
  /** The same for every attempt, so that a server can recognise a repeated call. */
  callId: string;
  /** How many agents have handed the task on, this call included. */
  hops?: number;
  /** Which questions the user's client can show. Absent: the server must not ask. */
  capabilities?: Capabilities;
  /** Present in the second and later rounds. */
  continuation?: Continuation | undefined;
  /** For servers that can only be answered while the connection stays open. */
  askUser?: AskUser;
  /** Stores the task that a remote agent has begun. False: the call has ended meanwhile. */
  keepTask?(task: RemoteTask): Promise<boolean>;
  /** Declared read-only or idempotent by its server. */
  isRepeatable?: boolean;
  /** An earlier attempt may already have sent the same request. */
  mayBeSent?: boolean;
  /** The user whose sessions the call may reuse and leave open. Absent: it opens one of its own. */
  owner?: string;
  signal: AbortSignal;
  /** Whether another process resumes the call after `signal` has aborted here. */
  isHandedOn?(): boolean;
}

export interface Continuation {
  resume: Resume;
  answers: QuestionAnswer[];
}

/** The server refuses the credential. `challenge` is its `WWW-Authenticate` header. */
export interface Refused {
  kind: 'refused';
  status: number;
  challenge: string | null;
  /** Present when the answer may not be about the credential: what it means in that case. */
  otherwise?: { kind: 'unreachable' | 'rejected' | 'unknown' } & Failed;
}

/** Why there is no result. `message` is the same as text, for operators; unless it quotes the server, it is safe to log. */
interface Failed {
  trouble: ServerTrouble;
  message: string;
}

export interface Unreachable extends Failed {
  kind: 'unreachable';
}

export type CallOutcome =
  /** As received: every content block and field kept, `isError` included. */
  | { kind: 'result'; result: CallToolResult }
  /** The tool did not run, unless `otherwise.kind` is `unknown`. */
  | Refused
  /** The tool did not run. */
  | Unreachable
  | { kind: 'asks'; pause: InputRequired }
  /** The server asked a question that cannot be shown. The call did not complete. */
  | { kind: 'unaskable'; failure: CallFailure }
  /** The server no longer knows its own state, and did not take the answers. */
  | ({ kind: 'state-expired' } & Failed)
  /** The server refused the call. The trouble may quote it: not for logs. */
  | ({ kind: 'rejected' } & Failed)
  /** The request was sent, and its answer is missing or unusable: the tool may have run. */
  | ({ kind: 'unknown' } & Failed);

export interface CallListener {
  /** A request is being sent. Called for each one. */
  onSent?: () => void;
  onProgress?: (progress: CallProgress) => void;
  onToolsChanged?: () => void;
  /** The process of a stdio server has ended. */
  onProcessExit?: (exit: ProcessExit) => void;
}

export interface CallProgress {
  progress: number;
  /** The final value of `progress`, if the server knows it. */
  total?: number;
  message?: string;
}

/** Asks the user while the connection of a call stays open. Implemented by the activity that makes the call. */
export interface AskUser {
  /**
   * Resolves with the user's answer, or with why the call has to end. Rejects when `signal` aborts, whose reason is a
   * `ClosedBecause` if the server caused it. `call`: what stays open at the server if this process dies.
   */
  ask(question: ServerQuestion, signal: AbortSignal, call?: RunningCall): Promise<UserAnswer>;
  pageDone(question: ServerQuestion): void;
}

export type UserAnswer =
  | {
      kind: 'answer';
      answer: QuestionAnswer;
      /** `expired` is sent to the server as `cancel`. */
      outcome: Outcome;
      /** A fresh credential, because the one that the call began with may have expired. */
      credential?: Credential;
    }
  | { kind: 'refused'; failure: CallFailure };
