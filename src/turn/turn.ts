/** What identifies a turn, who it acts for, and how it ends. Ids only: all of it may be recorded in workflow history. */
import type { Capabilities } from '../elicitation/capabilities.ts';

/** Clients choose conversation ids, so an id is unique only together with its tenant. */
export interface ConversationRef {
  tenant: string;
  conversation: string;
}

export interface TurnRef extends ConversationRef {
  turnId: string;
  /** Set for a delegated agent, which has a transcript of its own in the turn. */
  delegation?: Delegation;
}

/** Identifies the work of a delegated agent. */
export interface Delegation {
  /** The delegating agent's tool call: unique in the turn, so it names the delegation. */
  toolCallId: string;
  /** Agents from the first one delegated to, down to this one. */
  path: string[];
}

/** Who the turn acts for. `user` is null for a service, which can use no user's account. */
export interface TurnOwner {
  tenant: string;
  user: string | null;
  /** Without a user: the service whose API key called. Null: a key that was made before services had names. */
  service?: string | null;
}

export interface Turn extends TurnRef {
  agent: string;
  user: string | null;
  capabilities: Capabilities;
  /** How often its task was handed on before it came here; absent: never. */
  hops?: number;
}

export type TurnEndStatus = 'completed' | 'failed' | 'cancelled' | 'superseded';

export interface TurnFailure {
  /** Stable, for clients to switch on. */
  code: string;
  /** For people: says what happened and what to do; contains no secret. */
  message: string;
}

/** How a turn, or a delegated agent's part of it, ended. */
export interface TurnEnd {
  status: TurnEndStatus;
  failure?: TurnFailure;
}

/** `starting`: accepted by the API, its workflow has not begun; the turn may still be withdrawn (decision 0006). */
export type TurnStatus = 'starting' | 'running' | TurnEndStatus;

export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

/** One workflow for each turn; the database holds that a conversation has one live turn. */
export function turnWorkflowId({ tenant, conversation, turnId }: TurnRef): string {
  return `turn/${encodeURIComponent(tenant)}/${conversation}/${turnId}`;
}

/** Whose workflow it is, or whose delegate's or tool's; null for any other. */
export function turnOfWorkflow(workflowId: string): TurnRef | null {
  const [kind, tenant, conversation, turnId] = workflowId.split('/');
  if (kind !== 'turn' || tenant === undefined || conversation === undefined || turnId === undefined)
    return null;
  return { tenant: decodeURIComponent(tenant), conversation, turnId };
}
