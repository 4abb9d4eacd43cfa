/**
 * The signals of workflows, their inputs and results, their ids and search attributes. Imported by the workflows and by the
 * code that starts or signals them. Names and fields are in recorded histories and must not change.
 */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { defineSignal } from '@temporalio/workflow';
import type { AskedQuestion } from '../turn/ask.ts';
import type { GivenApproval } from '../turn/step.ts';
import type { Turn, TurnEnd, TurnEndStatus } from '../turn/turn.ts';

export interface TurnInput extends Turn {
  limits: {
    maxSteps: number;
    elicitationTimeoutMs: number;
    /** How long one attempt at a tool call may take, including the questions of its server. */
    toolCallMs: number;
  };
  /** For a workflow that goes on from the rows of one before it: see `attemptsBeforeReset` in failures.ts. */
  attemptsBefore?: number;
}

/** `status`: from the turn's row, which something else may have ended. */
export interface TurnResult {
  status: TurnEndStatus;
}

/** What a delegated agent returns to the agent that asked it. The text of its answer is in the database. */
export type DelegationResult = TurnEnd;

/** Starts a tool in TypeScript. The tool's own input and result are in the database. */
export interface DurableToolInput {
  /** The turn of the agent that calls it. */
  turn: TurnInput;
  toolCallId: string;
  toolName: string;
  /** The question in which the user approved the call, if that was needed. */
  approval?: GivenApproval;
}

/** Returned once the tool's result is written. */
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

/** Starts the delivery of notifications, also after its history has become long. */
export interface PushInput {
  deliveryId: string;
  /** How long the target may fail before the delivery is given up. */
  deadlineMs: number;
  position: number | null;
  failingSince: number | null;
}

export interface PushResult {
  status: 'delivered' | 'removed' | 'given-up';
}

/** Starts the delivery of a turn's answer to Slack, also after its history has become long. */
export interface SlackDeliveryInput {
  turnId: string;
  /** How long Slack may fail before the delivery is given up. */
  deadlineMs: number;
  /** Position in the log up to which the thread shows the answer. */
  position: number;
  failingSince: number | null;
}

/** A delivery that was not tried for this long has lost its workflow: each tries more often than once a minute. */
export const slackDeliveryDeadMs = 3 * 60_000;

export interface SlackDeliveryResult {
  status: 'delivered' | 'given-up';
}

/** Tells a delivery that something happens in its turn. A hint: deliveries also look from time to time. */
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

/** Only polled by workers that run this bundle's code, while one of its calls goes on. */
export function toolQueueName(taskQueue: string, bundle: string): string {
  return `${taskQueue}/tools/${bundle}`;
}

/** Temporal's list query for the open calls of a bundle's tools that may ask. */
export function openToolCalls(taskQueue: string, bundle: string): string {
  return `TaskQueue = '${toolQueueName(taskQueue, bundle)}' AND ExecutionStatus = 'Running'`;
}

/** Prefix of authors' activities in history, so that none can be taken for one of ours. */
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
  /** The id of the turn, also on the workflows of its delegates and tools. */
  rootTurn: defineSearchAttributeKey('InterludeRootTurn', SearchAttributeType.KEYWORD),
  /** `waiting_input` while every running call waits for a person; how the turn ended, unless `completed`; otherwise not set. */
  status: defineSearchAttributeKey('InterludeTurnStatus', SearchAttributeType.KEYWORD),
  /** The names of the servers, agents and tools that ask, while `status` is `waiting_input`. */
  waitsFor: defineSearchAttributeKey('InterludeWaitsFor', SearchAttributeType.KEYWORD_LIST),
};

/** How far a turn was delivered to a place outside, such as a thread in Slack or a target of notifications. */
export interface DeliveryReport<Position, End extends string> {
  /**
   * `working`: more will follow soon. `waiting`: nothing to send until something happens. `busy`: this worker has no free
   * slot, in all or for this caller. `limited`: the target wants a pause. `failed`: it does not answer. `End`: nothing is
   * left to do.
   */
  kind: 'working' | 'waiting' | 'busy' | 'limited' | 'failed' | End;
  /** Position in the log up to which the turn is delivered. */
  position: Position;
  /** The pause that the target wants. */
  retryAfterMs?: number;
}
