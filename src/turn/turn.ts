import type { Capabilities } from '../elicitation/capabilities.ts';

/** A conversation id may be chosen by the client, so it only means something together with its tenant. */
export interface ConversationRef {
  tenant: string;
  conversation: string;
}

/** A turn, and everything the parts need to know to find their way: ids only, safe in workflow history. */
export interface TurnRef extends ConversationRef {
  turnId: string;
  /** Set in what a delegated agent does: it has a transcript of its own in the turn. */
  delegation?: Delegation;
}

/** An agent at work because another agent of the same turn asked it. */
export interface Delegation {
  /** The asking agent's tool call. No other call in the turn has this id, so that it names the delegation. */
  toolCallId: string;
  /** Agents from the first one delegated to, down to this one. */
  path: string[];
}

/** Who the turn acts for. A service has no user and can use no user's account. */
export interface TurnOwner {
  tenant: string;
  user: string | null;
}

export interface Turn extends TurnRef {
  agent: string;
  user: string | null;
  capabilities: Capabilities;
}

export type TurnEndStatus = 'completed' | 'failed' | 'cancelled' | 'superseded';

export interface TurnFailure {
  /** Stable, for clients to switch on. */
  code: string;
  /** Made for people: says what happened and what to do, names no secret. */
  message: string;
}

/** How a turn, or a delegated agent's part of one, came to its end. */
export interface TurnEnd {
  status: TurnEndStatus;
  failure?: TurnFailure;
}

/** `starting`: accepted by the API, not yet taken up by its workflow; it may still be withdrawn. */
export type TurnStatus = 'starting' | 'running' | TurnEndStatus;

export interface Usage {
  inputTokens: number;
  outputTokens: number;
}
