/**
 * The interface to what a turn calls, whatever protocol it speaks. Activities import this and the types it names, and
 * nothing behind it. One object per worker: it owns all state about servers that outlives a call.
 */
import type { ServerConfig } from '../config/config.ts';
import type { Credential } from '../credentials/store.ts';
import type { ClosedBecause } from '../elicitation/elicitation.ts';
import type { ToolList } from '../storage/ports/tool-catalogue.ts';
import type { CallListener } from './call-listener.ts';
import type { Resume, ServerQuestion } from './input-required.ts';
import type { CallOutcome, Refused, ToolCall, Unreachable } from './tool-call.ts';

export interface RemoteServers {
  listTools(
    server: ServerConfig,
    credential: Credential,
    signal: AbortSignal,
    listener?: Pick<CallListener, 'onProcessExit'>,
  ): Promise<ListOutcome>;
  /**
   * Calls a tool, or resumes a call with answers: one round, from a request to its answer. Never rejects for anything the
   * server or the network does: every end is an outcome, and its kind says whether the tool can have run.
   */
  callTool(server: ServerConfig, credential: Credential, call: ToolCall): Promise<CallOutcome>;
  /** Tells the server that the call is abandoned. Best effort, with a short timeout. */
  cancelCall(access: ServerAccess, open: Resume): Promise<void>;
  /**
   * Observes an open call while people think. `count` grows from one observation to the next: it is sent as progress,
   * which extends the timeout of some servers.
   */
  observeCall(access: ServerAccess, open: OpenCall, count: number): Promise<Observation>;
  /** Ends all sessions and processes, and keeps none from now on. Resolves when every server has been told. */
  close(): Promise<void>;
}

export interface ServerAccess {
  server: ServerConfig;
  credential: Credential;
  signal: AbortSignal;
}

export interface OpenCall {
  questions: ServerQuestion[];
  resume: Resume;
}

export type Observation =
  /** `againMs`: when to observe again, where that is soon. */
  | { kind: 'unchanged'; againMs?: number }
  /** The session or its server does not exist any more, or cannot be observed. */
  | { kind: 'ended' }
  /** Of the questions with these keys. */
  | { kind: 'changed'; change: ClosedBecause | 'page_done'; keys: string[] };

/** A tool that its server lists and that is not offered to models. `reason` is for the author of the server. */
export interface LeftOut {
  tool: string;
  reason: string;
}

export interface Listed extends ToolList {
  kind: 'tools';
  leftOut: LeftOut[];
}

export type ListOutcome = Listed | Refused | Unreachable;
