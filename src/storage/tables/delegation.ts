/**
 * A delegated agent writes into its turn's log and transcript under a name of its own, so that its steps, messages
 * and calls never meet those of the agent that asked it, nor those of another call of the same agent.
 */
import type { Delegation, TurnRef } from '../../turn/turn.ts';
import type { NewEvent } from '../ports/turn-log.ts';
import { fromJson } from '../schema.ts';

/** The event's key, unique within the turn. */
export function keyOf({ delegation }: TurnRef, key: string): string {
  return delegation ? `agent/${delegation.toolCallId}/${key}` : key;
}

export function placed(turn: TurnRef, { key, event }: NewEvent): NewEvent {
  const { delegation } = turn;
  if (!delegation) return { key, event };
  const { path, toolCallId: parentToolCallId } = delegation;
  return { key: keyOf(turn, key), event: { ...event, path, parentToolCallId } };
}

/** The same text for the same delegation: rows are found by it. */
export function columnOf({ delegation }: TurnRef): string | null {
  if (!delegation) return null;
  const { toolCallId, path } = delegation;
  return JSON.stringify({ toolCallId, path } satisfies Delegation);
}

export function fromColumn(text: string | null): Pick<TurnRef, 'delegation'> {
  return text === null ? {} : { delegation: fromJson<Delegation>(text) };
}
