/** What identifies a turn, its user or service, and how it ends. Ids only: all of it may be recorded in workflow history. */
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { TurnFailure } from './turn-failure.ts';

/** Clients choose conversation ids, so an id is unique only together with its tenant. */
export interface ConversationRef {
  tenant: string;
  conversation: string;
}

export interface TurnRef extends ConversationRef {
  turnId: string;
  /** Set for a delegated agent, which has its own transcript in the turn. */
  delegation?: Delegation;
}

export interface Delegation {
  /** The delegating agent's tool call: unique in the turn, so it names the delegation. */
  toolCallId: string;
  /** Agents from the first one delegated to, down to this one. */
  path: string[];
}

/** The user or service that the turn acts for. `user` is null for a service, which cannot use any user's account. */
export interface TurnOwner {
  tenant: string;
  user: string | null;
  /** The service whose API key was used, if there is no user. */
  service?: string | null;
}

export interface Turn extends TurnRef {
  agent: string;
  user: string | null;
  capabilities: Capabilities;
  /** How often its task was handed on before (see `hopsKey`); absent: never. */
  hops?: number;
}

export type TurnEndStatus = 'completed' | 'failed' | 'cancelled' | 'superseded';

/** How a turn, or a delegated agent's part of it, ended. */
export interface TurnEnd {
  status: TurnEndStatus;
  failure?: TurnFailure;
}

/** `starting`: accepted by the API, but its workflow has not begun; the turn may still be withdrawn (decision 0006). */
export type TurnStatus = 'starting' | 'running' | TurnEndStatus;

export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

/** One workflow per turn. The database ensures that a conversation has one live turn. */
export function turnWorkflowId({ tenant, conversation, turnId }: TurnRef): string {
  return `turn/${encodeURIComponent(tenant)}/${conversation}/${turnId}`;
}

/** The turn of its workflow, or of the workflow of one of its delegates or tools; null for other workflows. */
export function turnOfWorkflow(workflowId: string): TurnRef | null {
  const [kind, tenant, conversation, turnId] = workflowId.split('/');
  if (kind !== 'turn' || tenant === undefined || conversation === undefined || turnId === undefined)
    return null;
  return { tenant: decodeURIComponent(tenant), conversation, turnId };
}

/**
 * The hop count: how often a task was handed on, from agent to agent and from service to service. Its limit ends loops of
 * agents that call each other. It is sent with each call, in `_meta` of MCP requests and in `metadata` of A2A messages; a
 * caller that forges it gets no more hops than a new task.
 */
export const hopsKey = 'interlude/hops';

/** 0 if the caller sends no positive whole number. */
export function readHops(metadata: Record<string, unknown> | undefined): number {
  const hops = metadata?.[hopsKey];
  return typeof hops === 'number' && Number.isInteger(hops) && hops > 0 ? hops : 0;
}

/** The error that the model reads when it exceeds the limit. Follows the name of the agent that it called. */
export function handedOnTooOften(limit: number): string {
  const times = limit === 1 ? 'once' : `${limit} times`;
  return (
    `agents may hand a task on ${times} at most, and this one has been handed on as often. ` +
    'Do the task yourself as far as you can, and say in your answer what is left.'
  );
}
