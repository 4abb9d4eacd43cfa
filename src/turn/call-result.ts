/** How a tool call ends in the transcript and in the log. Pure. */
import { unfinishedForModel } from '../elicitation/wording.ts';
import type { TurnEvent } from './event.ts';
import { toEvent, toMessageContent } from './tool-result.ts';
import type { ToolResult } from './tool-result.ts';
import type { TurnEndStatus, TurnRef } from './turn.ts';

/** What a call leaves: a message for the model, and an event for those who read along. */
export interface WrittenResult {
  message: { id: string; role: 'tool'; content: unknown };
  event: { key: string; event: TurnEvent };
}

interface NamedCall {
  toolCallId: string;
  toolName: string;
}

interface UnfinishedCall extends NamedCall {
  state: 'requested' | 'started' | 'paused' | 'finished';
}

/** Tools that hand a task to another agent have names that begin with this. */
export const delegatePrefix = 'agent__';

export function toCallResult(turn: TurnRef, call: NamedCall, result: ToolResult): WrittenResult {
  const { toolCallId } = call;
  return {
    message: { id: toolMessageId(turn, toolCallId), role: 'tool', content: toMessageContent(call, result) },
    event: { key: toolEventKey(toolCallId), event: toEvent(call, result) },
  };
}

/** The result of a call whose turn ends with this status before the call does. */
export function unfinishedCallResult(turn: TurnRef, status: TurnEndStatus) {
  return (call: UnfinishedCall): WrittenResult => {
    const state = call.toolName.startsWith(delegatePrefix) ? 'delegated' : call.state;
    return toCallResult(turn, call, { kind: 'error', text: unfinishedForModel(status, state) });
  };
}

export function toolMessageId(turn: TurnRef, toolCallId: string): string {
  return `${turn.turnId}/tool/${toolCallId}`;
}

export function toolEventKey(toolCallId: string): string {
  return `tool/${toolCallId}/result`;
}
