/**
 * A tool call between two rounds: its server has asked something, and goes on once it has the answers. Plain data and the
 * same for every era, so that any process can go on with the call.
 */
import type { Action, Trigger } from '../elicitation/elicitation.ts';

/** What a server asks, as it wrote it. */
export type InputRequest =
  | { mode: 'form'; message: string; requestedSchema: Record<string, unknown> }
  | { mode: 'url'; message: string; url: string };

export interface ServerQuestion {
  /** The server's key among its requests (2026-07-28), or the id of its JSON-RPC request, as JSON. */
  key: string;
  request: InputRequest;
  /** The server's id of the page, used in its notification that the page is done (2025-11-25). */
  pageId?: string;
  /** Progress reported under this token extends the server's timeout. */
  progressToken?: string | number;
  /** Absent: an MCP server asks. */
  trigger?: Extract<Trigger, 'a2a_input_required' | 'a2a_auth_required'>;
  /** How long the agent waits for the answer, in epoch milliseconds. */
  expiresAt?: number;
}

/** `content` only with `accept` of a form. */
export interface QuestionAnswer {
  key: string;
  action: Action;
  content?: Record<string, unknown>;
}

/** What any process needs to join a session of the old era. */
export interface Session {
  sessionId: string;
  protocolVersion: string;
}

export interface RunningCall extends Session {
  /** The JSON-RPC id of its request. */
  callId: string | number;
}

/** A call of the old era whose stream any process can resume. */
export interface DetachedCall extends RunningCall {
  lastEventId: string;
  /** Keys of all questions so far, so that replayed ones are not asked again. */
  asked: string[];
}

/** What any process needs to go on with a task of a remote agent. */
export interface RemoteTask {
  taskId: string;
  contextId: string;
  /** Absent until it asks. */
  asked?: AskedByTask;
}

/** The question of a task, as far as an answer refers to it. */
export interface AskedByTask {
  /** Identifies the status. */
  fingerprint: string;
  mode: InputRequest['mode'];
  /** The agent's id of the question, from the extension for questions. Without one, the answer is text. */
  elicitationId?: string;
}

export type Resume =
  /** 2026-07-28: the same call again, with the answers and the server's state, unchanged. */
  | { kind: 'retry'; requestState?: string }
  /** The stream of the call is read from where it was left, and the answers are sent into its session. */
  | { kind: 'detached'; call: DetachedCall }
  /** One worker holds the connection, and only it can go on. If it dies, `call` is what it leaves open at the server. */
  | { kind: 'held'; call?: RunningCall }
  /**
   * The call was refused until pages are done (`-32042`): the same call again, without answers, and in the same session,
   * because the server may know only by the session who has visited the pages.
   */
  | { kind: 'again'; session?: Session }
  /** The task goes on at its agent. It is followed, and nothing is started again. */
  | { kind: 'task'; task: RemoteTask };

export interface InputRequired {
  /** Empty: the server wants to be called again a little later. */
  questions: ServerQuestion[];
  resume: Resume;
}
