/**
 * What happens in a turn, as it stands in the turn log. Every surface is a view of this list.
 * Names are the AI SDK's where it has one, so that its translation is a rename.
 */
import type { ElicitationEvent } from '../elicitation/elicitation.ts';
import type { TurnEndStatus, Usage } from './turn.ts';

export type TurnEvent = TurnEventBody & {
  /** Which delegated agent it comes from, outermost first; absent for the turn's own agent. */
  path?: string[];
  /** The call it answers to: tells two calls of one agent apart. Questions, which have an id of their own, lack it. */
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
  /** `agent`: the call is not a tool's but hands a task to this agent. */
  | { type: 'tool-input-available'; toolCallId: string; toolName: string; input: unknown; agent?: string }
  /** `output` is the tool's own result: for MCP a `CallToolResult` with every content block kept. */
  | { type: 'tool-output-available'; toolCallId: string; toolName: string; output: unknown }
  | { type: 'tool-output-error'; toolCallId: string; toolName: string; errorText: string }
  /** How far a call has come, in its server's own measure, which only grows; of `total` where the server knows it. */
  | {
      type: 'tool-progress';
      toolCallId: string;
      toolName: string;
      progress: number;
      total?: number;
      message?: string;
    }
  /** The user's account is missing, and the caller cannot show the question: nobody was asked. */
  | {
      type: 'tool-auth-required';
      toolCallId: string;
      toolName: string;
      server: string;
      serverTitle: string;
      message: string;
      /** Where the user can connect it; absent where only an operator can. */
      url?: string;
    }
  | ElicitationEvent
  /** `finish` is there when the model did not come to its own end: out of room, or stopped by a content filter. */
  | { type: 'finish-step'; step: number; finish?: 'length' | 'refused' }
  /** The model call was repeated after it had already said something: what this step said so far is void. */
  | { type: 'reset-step'; step: number }
  | { type: 'error'; code: string; errorText: string }
  | { type: 'turn-ended'; status: TurnEndStatus; usage?: Usage };

/** One line of the log. `seq` grows over the whole conversation, starting at 1. */
export interface LogEntry {
  seq: number;
  turnId: string;
  /** When it was written, in epoch milliseconds. */
  at: number;
  event: TurnEvent;
}
