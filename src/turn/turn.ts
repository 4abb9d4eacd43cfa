import type { Capabilities } from '../elicitation/capabilities.ts';

/** A conversation id may be chosen by the client, so it only means something together with its tenant. */
export interface ConversationRef {
  tenant: string;
  conversation: string;
}

/** A turn, and everything the parts need to know to find their way: ids only, safe in workflow history. */
export interface TurnRef extends ConversationRef {
  turnId: string;
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

/** `starting`: accepted by the API, not yet taken up by its workflow; it may still be withdrawn. */
export type TurnStatus = 'starting' | 'running' | TurnEndStatus;

export interface Usage {
  inputTokens: number;
  outputTokens: number;
}
