/** A turn as far as it has been seen: plain data that only ever grows, whatever happens to the connection. */
import type { ElicitationEvent } from '../elicitation/elicitation.ts';

export interface TurnView {
  turnId: string | null;
  status: ViewStatus;
  parts: readonly Part[];
  /** Why the turn failed, for the user to read. */
  errorText?: string;
}

/**
 * `cancelled`: stopped by somebody, or superseded by a newer message. `unseen`: the turn is over, and its end was
 * missed; only `follow` knows it, because `start` gets the end of its own turn however late it asks.
 */
export type ViewStatus = 'running' | 'completed' | 'failed' | 'cancelled' | 'unseen';

export type Part = TextPart | ToolCallPart | ElicitationPart;

export interface TextPart {
  kind: 'text' | 'reasoning';
  id: string;
  text: string;
  done: boolean;
}

export interface ToolCallPart {
  kind: 'tool-call';
  id: string;
  toolName: string;
  input: unknown;
  state: { kind: 'running' } | { kind: 'done'; output: unknown } | { kind: 'failed'; errorText: string };
}

export interface ElicitationPart {
  kind: 'elicitation';
  id: string;
  elicitation: ElicitationEvent;
}

export function newView(turnId: string | null): TurnView {
  return { turnId, status: 'running', parts: [] };
}

/** The same parts, by identity. */
export function isSameView(one: TurnView, other: TurnView): boolean {
  return (
    one.status === other.status &&
    one.parts.length === other.parts.length &&
    one.parts.every((part, index) => part === other.parts[index])
  );
}

/**
 * What was seen before, brought forward by a replay. A replay that still lags behind changes nothing, and text
 * that it leaves out (a model call that was repeated) stays where the reader has already seen it.
 */
export function mergeReplay(seen: TurnView, replay: TurnView): TurnView {
  const replayed = new Map(replay.parts.map((part) => [part.id, part]));
  const parts = seen.parts.map((part) => {
    const again = replayed.get(part.id);
    replayed.delete(part.id);
    return again && isFurther(part, again) ? again : part;
  });
  return { ...replay, parts: [...parts, ...replayed.values()] };
}

function isFurther(seen: Part, again: Part): boolean {
  switch (again.kind) {
    case 'text':
    case 'reasoning':
      return seen.kind === again.kind && (again.text.length > seen.text.length || (again.done && !seen.done));
    case 'tool-call':
      return seen.kind === again.kind && seen.state.kind === 'running' && again.state.kind !== 'running';
    case 'elicitation':
      return (
        seen.kind === again.kind &&
        seen.elicitation.status === 'pending' &&
        again.elicitation.status !== 'pending'
      );
    default:
      return again satisfies never;
  }
}
