/**
 * The one primitive: a question to a person and its outcome.
 *
 * This folder is the centre. It imports nothing outside itself, so that workflows, surfaces and the browser share the same
 * types. Everything here is plain data.
 */

export type Mode = 'url' | 'form';

/** A person's answer. `accept` of a url is consent to open it, not success. */
export type Action = 'accept' | 'decline' | 'cancel';

export function isAction(value: unknown): value is Action {
  return value === 'accept' || value === 'decline' || value === 'cancel';
}

/** `expired` is our own: there was no answer before the deadline. */
export type Outcome = Action | 'expired';

export type Status = 'pending' | Outcome;

/** Why a question closed without an answer, if the reason was neither its deadline nor the end of the turn. */
export type ClosedBecause =
  /** The asker did not wait any longer. */
  | 'server_gave_up'
  /** The asker is gone and could not receive an answer. */
  | 'server_gone';

export type Trigger =
  | 'credential_required'
  | 'mcp_elicitation'
  | 'a2a_input_required'
  | 'a2a_auth_required'
  | 'tool_elicitation'
  | 'approval'
  | 'model_question'
  /** A call of a tool of the front end. The answer is its result. */
  | 'frontend_tool';

/** Why an account has to be connected (again). */
export type ConnectionReason = 'missing' | 'rejected' | 'insufficient_scope' | 'revoked';

/** How a person connects an account: at its provider, by entering a key, or in a window of the system that stores it. */
export type ConnectedBy = 'sign-in' | 'key' | 'window';

export type UrlWarning = 'punycode' | 'userinfo' | 'ip_host' | 'plain_http';

/**
 * Who asks, and why. Shown to the person before they decide. Only `trigger` is always present: questions of our own tools
 * and of the model, and approvals, have no server.
 */
export interface Context {
  trigger: Trigger;
  agent?: string;
  /** Which delegated agent asks, outermost first; absent for the turn's own agent. */
  path?: string[];
  server?: string;
  serverTitle?: string;
  host?: string;
  /** The server's, from the agents file; see `server-look.ts`. */
  colour?: string;
  /** A data URL; the server's, from the agents file. */
  picture?: string;
  toolName?: string;
  /** The tool's name for people. */
  toolTitle?: string;
  /** The call that asks; if several wait for one account, the one that asked first. */
  toolCallId?: string;
  reason?: ConnectionReason;
  scopes?: string[];
  warnings?: UrlWarning[];
  /** Of an approval: the arguments of the call as they will be sent, as readable JSON. */
  arguments?: string;
}

interface Asked {
  message: string;
  context: Context;
}

export type ElicitationRequest =
  | (Asked & { mode: 'url'; url: string })
  | (Asked & { mode: 'form'; requestedSchema: Record<string, unknown> });

/** A person's response. `content` only with `accept` of a form. */
export interface ElicitationResponse {
  action: Action;
  content?: Record<string, unknown>;
  /** Only with `accept` of an approval: how long calls of the same tool need no other approval. */
  remember?: Remember;
  /** Only with `decline` of an approval: for the model. */
  reason?: string;
}

export type Remember = 'conversation' | 'always';

/** What answered, if no person did. */
export type AnsweredBy = 'file' | 'program' | 'rule';

/**
 * The question as every client sees it, sent once when it opens and again whenever its status changes.
 * Times are ISO 8601.
 */
export type ElicitationEvent = ElicitationRequest & {
  type: 'elicitation-request';
  elicitationId: string;
  status: Status;
  expiresAt: string;
  because?: ClosedBecause;
};

/** The kinds of question that the caller declared it can show to a person. */
export type Capabilities = Record<Mode, boolean>;

export const cannotAsk: Capabilities = { url: false, form: false };

export function canPresent(mode: Mode, capabilities: Capabilities): boolean {
  return capabilities[mode];
}

/**
 * Reads `x-supports-elicitation`: `true` for both modes, or a comma-separated list of modes.
 * Absent and `false` mean neither; other words are refused earlier.
 */
export function parseCapabilities(header: string | undefined): Capabilities {
  const words = new Set((header ?? '').split(',').map((word) => word.trim().toLowerCase()));
  const all = words.has('true');
  return { url: all || words.has('url'), form: all || words.has('form') };
}

interface StoredQuestion {
  id: string;
  request: ElicitationRequest;
  status: Status;
  /** In epoch milliseconds. */
  deadline: number;
  because: ClosedBecause | null;
}

/** A stored question as every client sees it, in the log and in the list of a conversation's questions. */
export function toElicitationEvent(question: StoredQuestion): ElicitationEvent {
  const { id, request, status, deadline, because } = question;
  return {
    type: 'elicitation-request',
    elicitationId: id,
    ...request,
    status,
    expiresAt: new Date(deadline).toISOString(),
    ...(because !== null && { because }),
  };
}

/** Members of a context, of our own type or of the published one. */
type Partly<Member extends keyof Context> = { [Key in Member]?: Context[Key] | undefined };

/** The title of the server, tool or agent that asks. Undefined if the context names none. */
export function askerTitle({
  serverTitle,
  server,
  toolTitle,
  agent,
}: Partly<'serverTitle' | 'server' | 'toolTitle' | 'agent'>): string | undefined {
  return serverTitle ?? server ?? toolTitle ?? agent;
}

/** The agents that lead to the question, outermost first. The last of `path` asks; `agent` is its name for people. */
export function whoAsks({ agent, path = [] }: Partly<'agent' | 'path'>): string[] {
  const last = agent ?? path.at(-1);
  return [...path.slice(0, -1), ...(last === undefined ? [] : [last])];
}

/**
 * Whether a tool call waits for this question. Most questions name the one call that they belong to. An account is asked for
 * once, for all calls of its server.
 */
export function isWaitingFor(
  { trigger, toolCallId, server }: { trigger: string } & Partly<'toolCallId' | 'server'>,
  call: { toolCallId: string; toolName: string },
): boolean {
  if (toolCallId === call.toolCallId) return true;
  return trigger === 'credential_required' && server !== undefined && isCallOf(server, call.toolName);
}

/** `toolName`: the tool's name for the model. */
export function isCallOf(server: string, toolName: string): boolean {
  return toolName === `connect_${server}` || toolName.startsWith(`${server}__`);
}
