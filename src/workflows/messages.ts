/** What is said to and asked of a turn's workflow. Shared by the API (which speaks) and the workflow (which listens). */
import { defineQuery, defineSignal } from '@temporalio/workflow';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { Action, ClosedBecause } from '../elicitation/elicitation.ts';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import type { AskResult } from '../turn/ask.ts';
import type { CallPaused } from '../turn/tool-call.ts';
import type { ConversationRef, Turn, TurnEnd, TurnEndStatus } from '../turn/turn.ts';

export interface TurnInput extends Turn {
  limits: {
    maxSteps: number;
    elicitationTimeoutMs: number;
    /** How long one attempt at a tool call may take, with everything its server may ask meanwhile. */
    toolCallMs: number;
  };
  /** A delegated agent's: which servers the user has refused before, and how. */
  refused?: [server: string, answer: AskResult][];
}

export interface TurnResult {
  status: TurnEndStatus;
}

/** What a delegated agent leaves to the one that asked it; its words are in the database. */
export interface DelegationResult extends TurnEnd {
  refused: [server: string, answer: AskResult][];
}

/** The answer's content stays in the database; `responseId` names it there. */
export interface AnswerElicitation {
  elicitationId: string;
  responseId: string;
  action: Action;
  user: string;
  /** For consent to an account that is there by now: the connection's version. It settles the question at once. */
  connected?: number;
}

/** `version` counts how often this account was connected, so that old news cannot settle a new question. */
export interface ConnectionEstablished {
  server: string;
  version: number;
}

export const answerElicitation = defineSignal<[AnswerElicitation]>('answerElicitation');
export const connectionEstablished = defineSignal<[ConnectionEstablished]>('connectionEstablished');

/**
 * A new message has come: the turn ends if it only waits for a person, and goes on otherwise. After `until` (epoch
 * milliseconds) the message has been refused, so that the turn has nothing to make room for.
 */
export interface Supersede {
  until: number;
}
export const supersede = defineSignal<[Supersede]>('supersede');

/** Told by a delegated agent to the one that asked it, and known there before anybody sees its question. */
export interface DelegatePhase {
  toolCallId: string;
  phase: 'working' | 'waiting';
}
export const delegatePhase = defineSignal<[DelegatePhase]>('delegatePhase');

/** Told by an activity that holds the connection to a server which has asked in the middle of a call. */
export interface ServerAsks extends Pick<CallPaused, 'round' | 'questions'> {
  toolCallId: string;
}
export const serverAsks = defineSignal<[ServerAsks]>('serverAsks');

/** What a server, or its end, makes of questions that it has asked. */
export interface ServerNews {
  elicitationIds: string[];
  news: ClosedBecause | 'page_done';
}
export const serverNews = defineSignal<[ServerNews]>('serverNews');

/** `null` when this workflow never asked that question. Works on closed turns while Temporal keeps them. */
export const elicitationQuery = defineQuery<Elicitation | null, [elicitationId: string]>('elicitation');

export interface TurnReport {
  turnId: string;
  /** `waiting`: nothing is going on but open questions. `ending`: it is making room for a new message. */
  phase: 'working' | 'waiting' | 'ending' | 'ended';
}
export const turnQuery = defineQuery<TurnReport>('turn');

export const agentTurnWorkflow = 'agentTurn';

/** One live turn per conversation: the server refuses a second workflow with the same id. */
export function turnWorkflowId({ tenant, conversation }: ConversationRef): string {
  return `turn/${encodeURIComponent(tenant)}/${conversation}`;
}

export const searchAttributes = {
  agent: defineSearchAttributeKey('InterludeAgent', SearchAttributeType.KEYWORD),
  user: defineSearchAttributeKey('InterludeUser', SearchAttributeType.KEYWORD),
  conversation: defineSearchAttributeKey('InterludeConversation', SearchAttributeType.KEYWORD),
  status: defineSearchAttributeKey('InterludeTurnStatus', SearchAttributeType.KEYWORD),
  waitingFor: defineSearchAttributeKey('InterludeWaitingFor', SearchAttributeType.KEYWORD),
};
