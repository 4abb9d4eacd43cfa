/** How a tool call ends in the transcript and in the log. Pure. */
import type { ToolOutcome, TurnEvent } from './event.ts';
import { toEvent, toMessageContent } from './tool-result.ts';
import type { ToolResult } from './tool-result.ts';
import type { TurnEndStatus, TurnRef } from './turn.ts';

/** What is written when a call ends: a message for the model, and an event for the people who follow the turn. */
interface WrittenResult {
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

/** Prefix of tools that hand a task to another agent. */
export const delegatePrefix = 'agent__';

/** `ofError` as in `outcomeOf`. */
export function toCallResult(
  turn: TurnRef,
  call: NamedCall,
  result: ToolResult,
  ofError?: ToolOutcome,
): WrittenResult {
  const { toolCallId } = call;
  return {
    message: { id: toolMessageId(turn, toolCallId), role: 'tool', content: toMessageContent(call, result) },
    event: { key: toolEventKey(toolCallId), event: toEvent(call, result, ofError) },
  };
}

/** The result of a call whose turn ends before the call does. */
export function unfinishedCallResult(turn: TurnRef, status: TurnEndStatus) {
  return (call: UnfinishedCall): WrittenResult & { outcome: ToolOutcome } => {
    const state = call.toolName.startsWith(delegatePrefix) ? 'delegated' : call.state;
    const failure = { code: 'unfinished', end: status, state } as const;
    const outcome = unfinishedOutcome(call, status);
    return { ...toCallResult(turn, call, { kind: 'failed', failure }, outcome), outcome };
  };
}

function unfinishedOutcome({ state }: UnfinishedCall, status: TurnEndStatus): ToolOutcome {
  if (status === 'failed') return state === 'started' ? 'unknown' : 'failed';
  // A turn that is superseded only waits for people, also in calls that have begun.
  return state === 'started' && status !== 'superseded' ? 'stopped' : 'cancel';
}

export function toolMessageId(turn: TurnRef, toolCallId: string): string {
  return `${turn.turnId}/tool/${toolCallId}`;
}

export function toolEventKey(toolCallId: string): string {
  return `tool/${toolCallId}/result`;
}
