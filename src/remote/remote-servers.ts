/**
 * What a turn calls, whatever protocol it speaks. Activities know this interface and the types it names, and nothing of
 * what is behind it. One object lives as long as the worker: it owns what is remembered of servers between calls.
 */
import type { ServerConfig } from '../config/config.ts';
import type { Credential } from '../credentials/store.ts';
import type { ClosedBecause } from '../elicitation/elicitation.ts';
import type { ToolList } from '../storage/ports/tool-catalogue.ts';
import type { CallListener } from './call-listener.ts';
import type { Resume, RunningCall, ServerQuestion } from './input-required.ts';
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
  /** Tells the server that nobody waits for the call any more. Best effort, within a moment. */
  cancelCall(access: ServerAccess, call: RunningCall): Promise<void>;
  /**
   * What the server does with an open call while people think. `count` grows from one observation to the next: it is sent
   * as progress, for servers whose timeout waits for whoever reports some.
   */
  observeCall(access: ServerAccess, open: OpenCall, count: number): Promise<Observation>;
  /** Keeps nothing from now on. Resolves when every server that was left has been told. */
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
  | { kind: 'quiet' }
  /** The session or its server is not there any more, or cannot be observed. */
  | { kind: 'over' }
  /** Of the questions with these keys. */
  | { kind: 'news'; news: ClosedBecause | 'page_done'; keys: string[] };

/** A tool that its server lists and that must not or cannot be called. `reason` is for the author of the server. */
export interface LeftOut {
  tool: string;
  reason: string;
}

export interface Listed extends ToolList {
  kind: 'tools';
  leftOut: LeftOut[];
}

export type ListOutcome = Listed | Refused | Unreachable;
