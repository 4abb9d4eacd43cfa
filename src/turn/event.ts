/**
 * The events of a turn, as the turn log stores them, and the keys of its entries. Every surface translates these events.
 * Names are those of the AI SDK where it has one. Stored and sent to clients: fields are added, never changed. Pure.
 */
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { CallFailure, MissingAccount } from './call-failure.ts';
import type { CodedFailure } from './turn-failure.ts';
import type { TurnEndStatus, Usage } from './turn.ts';

export type TurnEvent = TurnEventBody & {
  /** Which delegated agent it comes from, outermost first; absent for the turn's own agent. */
  path?: string[];
  /** The tool call that delegated to this agent. Distinguishes two delegations to one agent. Absent from questions. */
  parentToolCallId?: string;
};

type TurnEventBody =
  /** `messageId` is the id of the assistant message this turn writes. */
  | { type: 'turn-started'; agent: string; messageId: string }
  | { type: 'start-step'; step: number }
  | { type: 'text-start' | 'reasoning-start'; id: string }
  /** `parts` appears once deltas are merged: the sequence number and length (UTF-16 units) of each original. */
  | {
      type: 'text-delta' | 'reasoning-delta';
      id: string;
      delta: string;
      parts?: [seq: number, length: number][];
    }
  | { type: 'text-end' | 'reasoning-end'; id: string }
  /** `agent`: the call delegates a task to this agent instead of calling a tool. */
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown; agent?: string }
  /** `output` is the tool's own result: for MCP a `CallToolResult` with every content block kept. */
  | { type: 'tool-output-available'; toolCallId: string; toolName: string; output: unknown }
  /**
   * `errorText`: for the model. Stored only without `failure`, which replaces our own sentences: the log's reader adds the text.
   * `outcome` is absent from events of older releases.
   */
  | {
      type: 'tool-output-error';
      toolCallId: string;
      toolName: string;
      errorText: string;
      failure?: CallFailure;
      outcome?: ToolOutcome;
    }
  /** Progress of a call in units of its server; never decreases. `total` where the server gives it. */
  | {
      type: 'tool-progress';
      toolCallId: string;
      toolName: string;
      progress: number;
      total?: number;
      message?: string;
    }
  /** The user's account is missing, and the caller cannot show the question, so it was not asked. */
  | {
      type: 'tool-auth-required';
      toolCallId: string;
      toolName: string;
      server: string;
      serverTitle: string;
      /** For the user, in English. Stored only without `account`. */
      message: string;
      account?: MissingAccount;
      /** Where the user can connect it; absent where only an operator can. */
      url?: string;
    }
  | ElicitationEvent
  /** The user agreed to open the page of a tool; `accept` follows once the page reports that it is done. */
  | { type: 'elicitation-consented'; elicitationId: string }
  /** `finish`: why the model stopped early: its output limit (`length`), or a content filter (`refused`). */
  | { type: 'finish-step'; step: number; finish?: 'length' | 'refused' }
  /** The model call is repeated after it had produced output: that output of this step is void. */
  | { type: 'reset-step'; step: number }
  /** `errorText`: for the user, in English. Stored only without `failure`, as in `tool-output-error`. */
  | { type: 'error'; code: string; errorText: string; failure?: CodedFailure }
  | { type: 'turn-ended'; status: TurnEndStatus; usage?: Usage };

/** How a tool call ended, as a code for the turn log, logs and metrics. */
export type ToolOutcome =
  | 'ok'
  | 'tool_error'
  /** The tool did not run, because of how the question before it was answered. */
  | 'decline'
  | 'cancel'
  | 'expired'
  /** The tool did not run: a person was needed, and could not be asked. */
  | 'not_asked'
  /** The server refuses an account that has just been connected. */
  | 'refused'
  /** The agent may not call this tool, or the call is not what was approved. */
  | 'not_allowed'
  | 'unreachable'
  /** The request was sent, and its outcome is unknown. */
  | 'unknown'
  /** Like `unknown`, because the turn or its agent was cancelled meanwhile. */
  | 'stopped'
  | 'failed';

/** One line of the log. `seq` grows over the whole conversation, starting at 1. */
export interface LogEntry {
  seq: number;
  turnId: string;
  /** When it was written, in epoch milliseconds. */
  at: number;
  event: TurnEvent;
}

/** Prefix of the keys of all log entries of a step, of every attempt. Keys are unique in a turn. */
export function keyOfStep(step: number): string {
  return `step/${step}/`;
}

/** `index` counts the events of the attempt from 0. */
export function keyOfOutput(step: number, attempt: number, index: number): string {
  return `${keyOfStep(step)}${attempt}/${index}`;
}

/** Without the step's prefix, so that it stays when the output of the step is deleted. */
export function keyOfReset(step: number, attempt: number): string {
  return `reset/${step}/${attempt}`;
}

export function isDelta(
  event: TurnEvent,
): event is Extract<TurnEvent, { type: 'text-delta' | 'reasoning-delta' }> {
  return event.type === 'text-delta' || event.type === 'reasoning-delta';
}
