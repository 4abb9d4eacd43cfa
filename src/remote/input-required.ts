/**
 * A tool call between two of its rounds: its server has asked something, and goes on once people have answered.
 * The same for servers of every era, and plain data, so that any process can go on with it.
 */
import type { Action, Trigger } from '../elicitation/elicitation.ts';

/** What a server asks, in the words it used. */
export type InputRequest =
  | { mode: 'form'; message: string; requestedSchema: Record<string, unknown> }
  | { mode: 'url'; message: string; url: string };

export interface ServerQuestion {
  /** The server's own name for it: its key among the requests (2026-07-28), or the id of its JSON-RPC request, as JSON. */
  key: string;
  request: InputRequest;
  /** The server's name for the page, by which it says that the page is done (2025-11-25). */
  pageId?: string;
  /** The server's timeout is extended by progress reported under this token. */
  progressToken?: string | number;
  /** Who asks; without it, an MCP server. */
  trigger?: Extract<Trigger, 'a2a_input_required' | 'a2a_auth_required'>;
  /** Until when whoever asks waits for the answer, in epoch milliseconds. */
  expiresAt?: number;
}

/** What goes back to the server. `content` only with the `accept` of a form. */
export interface QuestionAnswer {
  key: string;
  action: Action;
  content?: Record<string, unknown>;
}

/** A session of the old era, as any process that knows this can join it. */
export interface Session {
  sessionId: string;
  protocolVersion: string;
}

/** A call of the old era, as its server knows it. */
export interface RunningCall extends Session {
  /** Its JSON-RPC id. */
  callId: string | number;
}

/** A call of the old era whose stream can be resumed by any process. */
export interface DetachedCall extends RunningCall {
  /** The server replays everything after this event. */
  lastEventId: string;
  /** Keys of all questions so far: what is replayed is not asked again. */
  asked: string[];
}

/** A task of a remote agent, as any process that knows this can go on with it. */
export interface RemoteTask {
  taskId: string;
  contextId: string;
  /** What it has asked; absent until it asks. */
  asked?: AskedByTask;
}

/** The status with which a task asks, as far as an answer has to know it. */
export interface AskedByTask {
  /** Changes with every other status. */
  fingerprint: string;
  mode: InputRequest['mode'];
  /** Of the extension for questions: the agent's own name for it. Without one the answer is words. */
  elicitationId?: string;
}

/** How the call goes on. */
export type Resume =
  /** 2026-07-28: the same call again, with the answers and the server's state, which is to come back as it was. */
  | { kind: 'retry'; requestState?: string }
  /** The stream of the call goes on where it was left, and the answers go into its session. */
  | { kind: 'detached'; call: DetachedCall }
  /** Somebody holds the connection; only they can go on. Should they die, `call` is what they leave at the server. */
  | { kind: 'held'; call?: RunningCall }
  /**
   * The call was refused until pages are done (`-32042`): the same call again, without answers, and in the same session,
   * which may be all that the server knows of who has been there.
   */
  | { kind: 'again'; session?: Session }
  /** The agent works on, or waits for an answer; its task is followed, and nothing is begun again. */
  | { kind: 'task'; task: RemoteTask };

export interface InputRequired {
  /** None: the server wants to be asked again a little later. */
  questions: ServerQuestion[];
  resume: Resume;
}
