/**
 * The signals of workflows, their inputs and results, their ids and search attributes. Imported by the workflows and by
 * the code that starts or signals them. The string names and fields are in recorded histories: they stay.
 */
import { defineSignal } from '@temporalio/workflow';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { AskedQuestion } from '../turn/ask.ts';
import type { GivenApproval } from '../turn/tool-call.ts';
import type { Turn, TurnEnd, TurnEndStatus } from '../turn/turn.ts';

export interface TurnInput extends Turn {
  limits: {
    maxSteps: number;
    elicitationTimeoutMs: number;
    /** How long one attempt at a tool call may take, with everything its server may ask meanwhile. */
    toolCallMs: number;
  };
  /** Of a delegated agent whose parent was reset: more than it can have made before (see failures.ts). */
  attemptsBefore?: number;
}

/** `status`: as the turn's row has it, which something else may have ended. */
export interface TurnResult {
  status: TurnEndStatus;
}

/** What a delegated agent returns to the one that asked it. Its answer's text is in the database. */
export type DelegationResult = TurnEnd;

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
  status: 'finished' | 'cancelled';
}

/**
 * A hint: these questions may be settled. The workflow reads their rows, by its next activity, and waits again for those
 * that are still pending.
 */
export interface QuestionsSettled {
  elicitationIds: string[];
}
export const questionsSettled = defineSignal<[QuestionsSettled]>('questionsSettled');

/** From the activity of a tool call whose server keeps the connection open while people answer. For operators only. */
export interface CallWaits {
  toolCallId: string;
  questions: AskedQuestion[];
}
export const callWaits = defineSignal<[CallWaits]>('callWaits');

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

export { turnWorkflowId } from '../turn/turn.ts';

/** Polled only by workers that run this bundle's code, for as long as a call of it goes on. */
export function toolQueueName(taskQueue: string, bundle: string): string {
  return `${taskQueue}/tools/${bundle}`;
}

/** Begins the names of authors' activities in history, so that none can be taken for one of ours. */
export const activityPrefix = 'tool.';

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
  /** The id of the turn, on the workflows of its delegates and tools too. */
  rootTurn: defineSearchAttributeKey('InterludeRootTurn', SearchAttributeType.KEYWORD),
  /** `waiting_input` while every running call waits for a person, and how a turn ended other than `completed`; else not set. */
  status: defineSearchAttributeKey('InterludeTurnStatus', SearchAttributeType.KEYWORD),
  /** The names of the servers, agents and tools that ask, while `status` is `waiting_input`. */
  waitsFor: defineSearchAttributeKey('InterludeWaitsFor', SearchAttributeType.KEYWORD_LIST),
};
