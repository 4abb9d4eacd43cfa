/**
 * The signals and queries of a turn's workflow, its input and result, its id and its search attributes. Imported by the
 * workflow and by everybody who signals or queries it. The string names and fields are in recorded histories: they stay.
 */
import { defineQuery, defineSignal } from '@temporalio/workflow';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { Action, ClosedBecause } from '../elicitation/elicitation.ts';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import type { AskResult } from '../turn/ask.ts';
import type { CallPaused, GivenApproval } from '../turn/tool-call.ts';
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
  /** A delegated agent's: its parent says who asks for an account. Absent in turns of earlier releases. */
  asksThroughParent?: true;
  /**
   * A child's: its parent says whether a new message ends it, by cancelling it after it has agreed. Absent in turns of
   * earlier releases, whose children end by themselves.
   */
  supersededByParent?: true;
}

export interface TurnResult {
  status: TurnEndStatus;
}

/** What a delegated agent returns to the one that asked it. Its answer's text is in the database. */
export interface DelegationResult extends TurnEnd {
  refused: [server: string, answer: AskResult][];
}

/** How a tool in TypeScript is started. Its input and its result are in the database. */
export interface DurableToolInput {
  /** Of the agent that calls it. */
  turn: TurnInput;
  toolCallId: string;
  toolName: string;
  /** The question in which the user approved the call, where one was needed. */
  approval?: GivenApproval;
}

/** What it leaves to the agent that called it: its result is written. */
export interface DurableToolEnd {
  status: 'finished' | 'cancelled' | 'superseded';
}

/** The answer's content stays in the database; `responseId` names it there. */
export interface AnswerElicitation {
  elicitationId: string;
  responseId: string;
  action: Action;
  user: string;
  /** With consent to connect an account that is connected by now: its version, which settles the question at once. */
  connected?: number;
}

/** `version` counts how often this account was connected, so that a late signal cannot settle a newer question. */
export interface ConnectionEstablished {
  server: string;
  version: number;
}

export const answerElicitation = defineSignal<[AnswerElicitation]>('answerElicitation');
export const connectionEstablished = defineSignal<[ConnectionEstablished]>('connectionEstablished');

/**
 * A new message has arrived in the conversation: the turn ends if it only waits for a person, and goes on otherwise.
 * After `until` (epoch milliseconds) the signal is ignored, because the new message has been refused by then.
 */
export interface Supersede {
  until: number;
  /**
   * To children that were asked: the turn goes on, after all. The `until` of that request; its own is then 0, so that tools of
   * earlier releases ignore it.
   */
  withdrawn?: number;
}
export const supersede = defineSignal<[Supersede]>('supersede');

/** From a delegated agent to the one that asked it. Delivered before anybody can see the delegate's question. */
export interface DelegatePhase {
  toolCallId: string;
  phase: 'working' | 'waiting';
  /** The `until` of a new message for which it may be ended: nothing had been answered when it was asked. */
  agreesTo?: number;
  /** The `until` of one for which it may not, or may not any more: somebody has answered. */
  refuses?: number;
}
export const delegatePhase = defineSignal<[DelegatePhase]>('delegatePhase');

/** From a delegated agent to the one that asked it: it needs the user's account at this server. */
export interface AccountWanted {
  toolCallId: string;
  server: string;
}
export const accountWanted = defineSignal<[AccountWanted]>('accountWanted');

/** To a delegated agent that needs an account: it is to ask the user, or what another agent's question came to. */
export interface AccountVerdict {
  server: string;
  verdict: AskResult | 'ask';
}
export const accountVerdict = defineSignal<[AccountVerdict]>('accountVerdict');

/** From a delegated agent that was to ask the user. `result`: null when it ends without one. */
export interface AccountConcluded extends AccountWanted {
  result: AskResult | null;
}
export const accountConcluded = defineSignal<[AccountConcluded]>('accountConcluded');

/** From the activity of a tool call: the server has asked something and keeps the request open meanwhile. */
export interface ServerAsks extends Pick<CallPaused, 'round' | 'questions'> {
  toolCallId: string;
}
export const serverAsks = defineSignal<[ServerAsks]>('serverAsks');

/** From whoever observes a server: it has withdrawn its questions, is gone, or says that its page is done. */
export interface QuestionUpdate {
  elicitationIds: string[];
  news: ClosedBecause | 'page_done';
}
export const questionUpdate = defineSignal<[QuestionUpdate]>('serverNews');

/** `null` when this workflow never asked that question. Works on closed turns while Temporal keeps them. */
export const elicitationQuery = defineQuery<Elicitation | null, [elicitationId: string]>('elicitation');

export interface TurnReport {
  turnId: string;
  /** `waiting`: nothing is going on but open questions. `ending`: it is making room for a new message. */
  phase: 'working' | 'waiting' | 'ending' | 'ended';
}
export const turnQuery = defineQuery<TurnReport>('turn');

/** How the delivery of notifications is started, and goes on after its history has become long. */
export interface PushInput {
  deliveryId: string;
  /** How long a target may fail before it is given up. */
  deadlineMs: number;
  position: number | null;
  failingSince: number | null;
}

export interface PushResult {
  status: 'delivered' | 'removed' | 'given-up';
}

/** How the delivery of a turn's answer to Slack is started, and goes on after its history has become long. */
export interface SlackDeliveryInput {
  turnId: string;
  /** How long Slack may fail before the delivery is given up. */
  deadlineMs: number;
  /** Up to where in the log the thread shows the answer. */
  position: number;
  failingSince: number | null;
}

/** A delivery that nobody has tried for so long has no workflow any more: each tries more often than once a minute. */
export const slackDeliveryDeadMs = 3 * 60_000;

export interface SlackDeliveryResult {
  status: 'delivered' | 'given-up';
}

/** To the delivery of notifications, or of an answer: something happens to its turn. A hint; it looks by itself, too. */
export const turnNews = defineSignal('turnNews');

export const agentTurnWorkflow = 'agentTurn';
export const pushWorkflow = 'pushNotifications';
export const slackDeliveryWorkflow = 'slackDelivery';
export const durableToolWorkflow = 'durableTool';

/**
 * How long Temporal waits for a worker before it gives a workflow's task to another one: the turns of a worker that was
 * killed go on within five seconds. Shorter times make a busy worker lose tasks that it is working on, and each lost task
 * is replayed, which makes the worker busier (docs/performance.md, "A worker that is killed").
 */
export const taskTimeouts = {
  /** From the moment a worker takes a task until it completes it. Local activities may take longer: the SDK extends the task. */
  workflowTask: '5s',
  /** How long a task waits for the worker that has its workflow in the cache. */
  stickyQueue: '5s',
} as const;

/** One live turn per conversation: the server refuses a second workflow with the same id. */
export function turnWorkflowId({ tenant, conversation }: ConversationRef): string {
  return `turn/${encodeURIComponent(tenant)}/${conversation}`;
}

export function pushWorkflowId(deliveryId: string): string {
  return `push/${deliveryId}`;
}

export function slackDeliveryWorkflowId(turnId: string): string {
  return `slack-delivery/${turnId}`;
}

export const searchAttributes = {
  agent: defineSearchAttributeKey('InterludeAgent', SearchAttributeType.KEYWORD),
  user: defineSearchAttributeKey('InterludeUser', SearchAttributeType.KEYWORD),
  conversation: defineSearchAttributeKey('InterludeConversation', SearchAttributeType.KEYWORD),
  status: defineSearchAttributeKey('InterludeTurnStatus', SearchAttributeType.KEYWORD),
  waitingFor: defineSearchAttributeKey('InterludeWaitingFor', SearchAttributeType.KEYWORD),
};
