/** One call of a tool at a remote server, and how it can end: the same for every protocol. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Capabilities } from '../elicitation/capabilities.ts';
import type { AskUser } from './ask-user.ts';
import type { CallListener } from './call-listener.ts';
import type { InputRequired, QuestionAnswer, RemoteTask, Resume } from './input-required.ts';

export interface ToolCall extends CallListener {
  name: string;
  arguments: Record<string, unknown>;
  /** The tool's, as its server listed it: arguments that are marked there are sent as headers too. */
  inputSchema?: Record<string, unknown>;
  /** The same for every attempt at the call, so that a server can recognise a repeated one. */
  callId: string;
  /** How often the task was handed on, with this call. */
  hops?: number;
  /** What the server may ask the user with; without them it may not ask. */
  capabilities?: Capabilities;
  /** A later round of the call. */
  continuation?: Continuation | undefined;
  /** Asks the user while the connection stays open; for servers that leave no other way. */
  askUser?: AskUser;
  /** Keeps what a remote agent has begun, before it is waited for. False: the call has ended meanwhile. */
  keepTask?(task: RemoteTask): Promise<boolean>;
  /** Declared read-only or idempotent by its server. */
  isRepeatable?: boolean;
  /** An earlier attempt may have sent the same already. */
  mayBeSent?: boolean;
  /** Whose sessions the call may use and leave behind; without an owner, it opens one of its own. */
  owner?: string;
  signal: AbortSignal;
  /** Whether another process resumes a call once `signal` has ended it here. */
  isHandedOn?(): boolean;
}

/** What was answered, and how the call goes on. */
export interface Continuation {
  resume: Resume;
  answers: QuestionAnswer[];
}

/** The server wants another credential. `challenge` is its `WWW-Authenticate` header. */
export interface Refused {
  kind: 'refused';
  status: number;
  challenge: string | null;
  /** Present where the answer need not be about the credential: what it means then. */
  otherwise?: { kind: 'unreachable' | 'rejected' | 'unknown'; message: string };
}

/** `message` names the server and the remedy; it is safe to log and to show. */
export interface Unreachable {
  kind: 'unreachable';
  message: string;
}

export type CallOutcome =
  /** As received: every content block and field kept, `isError` included. */
  | { kind: 'result'; result: CallToolResult }
  /** The tool did not run, unless `otherwise` is unknown. */
  | Refused
  /** The tool did not run. */
  | Unreachable
  /** The server wants to ask people before it goes on. */
  | { kind: 'asks'; pause: InputRequired }
  /** It asked for something that cannot be put to a person. The call did not complete. */
  | { kind: 'unaskable'; message: string }
  /** The server does not know its own state any more: the answers were not taken. */
  | { kind: 'state-expired'; message: string }
  /** The server turned the call down, in its own words, which are for the model and not for logs. */
  | { kind: 'rejected'; message: string }
  /** The request was sent and its answer is missing or says nothing: the tool may have run. */
  | { kind: 'unknown'; message: string };
