/**
 * The one primitive: a question to a person and what became of it.
 *
 * This folder is the centre. It imports nothing outside itself, so that workflows, surfaces and the
 * browser can all share the same words. Everything here is plain data.
 */

export type Mode = 'url' | 'form';

/** What a person can do with a question. `accept` of a url is consent to open it, not success. */
export type Action = 'accept' | 'decline' | 'cancel';

export function isAction(value: unknown): value is Action {
  return value === 'accept' || value === 'decline' || value === 'cancel';
}

/** `expired` is ours alone: nobody answered before the deadline. */
export type Outcome = Action | 'expired';

export type Status = 'pending' | Outcome;

/** Why a question closed without anybody's answer, where it was neither the clock nor the end of the turn. */
export type ClosedBecause =
  /** Whoever asked did not wait any longer. */
  | 'server_gave_up'
  /** Whoever asked is gone, and nobody is left to hear the answer. */
  | 'server_gone';

export type Trigger =
  | 'credential_required'
  | 'mcp_elicitation'
  | 'a2a_input_required'
  | 'a2a_auth_required'
  | 'tool_elicitation'
  | 'approval'
  | 'model_question';

/** Why an account has to be connected (again). */
export type ConnectionReason = 'missing' | 'rejected' | 'insufficient_scope' | 'revoked';

/** How a person gives an account: at its provider, as a key that they enter, or in a window of the system that keeps it. */
export type ConnectedBy = 'sign-in' | 'key' | 'window';

export type UrlWarning = 'punycode' | 'userinfo' | 'ip_host' | 'plain_http';

/**
 * Who asks, and why. Shown to the person before they decide. Only `trigger` is always there: a question of a tool of our
 * own, of the model, or an approval has no server.
 */
export interface Context {
  trigger: Trigger;
  agent?: string;
  /** Which delegated agent asks, outermost first; absent for the turn's own agent. */
  path?: string[];
  server?: string;
  serverTitle?: string;
  host?: string;
  toolName?: string;
  /** What the tool is called for people. */
  toolTitle?: string;
  /** The call it belongs to; where several wait for one account, the one that asked first. */
  toolCallId?: string;
  reason?: ConnectionReason;
  scopes?: string[];
  warnings?: UrlWarning[];
  /** Of an approval: the arguments of the call as they will be sent, as JSON to be read. */
  arguments?: string;
}

interface Asked {
  message: string;
  context: Context;
}

export type ElicitationRequest =
  | (Asked & { mode: 'url'; url: string })
  | (Asked & { mode: 'form'; requestedSchema: Record<string, unknown> });

/** What a person sent. `content` only with `accept` of a form. */
export interface ElicitationResponse {
  action: Action;
  content?: Record<string, unknown>;
  /** Only with `accept` of an approval: how long calls of the same tool need no other one. */
  remember?: Remember;
  /** Only with `decline` of an approval: for the model. */
  reason?: string;
}

export type Remember = 'conversation' | 'always';

/** What answered where no person did. */
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
