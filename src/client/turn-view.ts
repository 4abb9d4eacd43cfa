/**
 * A turn as far as it has been seen: plain data that only ever grows, whatever happens to the connection. One thing is
 * taken back: what a model call had said before it broke off and was made again.
 */
import type { ElicitationRequest } from '../contract/elicitation.ts';
import type { ToolAuthRequired } from '../contract/notice.ts';
import type { Operation } from '../contract/operation.ts';

export interface TurnView {
  conversationId: string;
  turnId: string | null;
  status: ViewStatus;
  parts: readonly Part[];
  /**
   * What the turn was seen doing, in order; empty unless `operations` was asked for. One that is said again, like how
   * far a call has come, is there once, where it was said last.
   */
  operations: readonly OperationSeen[];
  /** Why the turn failed, for the user to read. */
  errorText?: string;
}

/**
 * `cancelled`: stopped by somebody, or superseded by a newer message. `unseen`: the turn is over, and its end was
 * missed; only `follow` knows it, because `start` gets the end of its own turn however late it asks.
 */
export type ViewStatus = 'running' | 'completed' | 'failed' | 'cancelled' | 'unseen';

export type Part = TextPart | ToolCallPart | ElicitationPart | NoticePart;

export interface TextPart {
  kind: 'text' | 'reasoning';
  id: string;
  text: string;
  done: boolean;
  /** Which of the turn's model calls says it, counted from 0. */
  step: number;
}

export interface ToolCallPart {
  kind: 'tool-call';
  id: string;
  toolName: string;
  input: unknown;
  state:
    | { kind: 'running'; progress?: Progress }
    | { kind: 'done'; output: unknown }
    | { kind: 'failed'; errorText: string };
}

/** How far a call has come, in its server's own measure. Seen only where `operations` was asked for. */
export interface Progress {
  progress: number;
  /** What `progress` comes to in the end, if the server knows. */
  total?: number;
}

export interface ElicitationPart {
  kind: 'elicitation';
  id: string;
  elicitation: ElicitationRequest;
}

/** A tool needs the user's account, and this client did not declare that it can ask for it. */
export interface NoticePart {
  kind: 'tool-auth-required';
  /** The tool call's. */
  id: string;
  notice: ToolAuthRequired;
}

export type OperationSeen = Operation & { id: string };

/** Nobody is at work on the turn. Known only where `operations` was asked for. */
export function waitsForWorker({ operations }: TurnView): boolean {
  const last = operations.at(-1);
  return last?.type === 'waiting_for_worker' && last.details.status === 'waiting';
}

export function newView(conversationId: string, turnId: string | null): TurnView {
  return { conversationId, turnId, status: 'running', parts: [], operations: [] };
}

/** The same parts, by identity. */
export function isSameView(one: TurnView, other: TurnView): boolean {
  return (
    one.status === other.status &&
    one.operations.length === other.operations.length &&
    one.operations.every((operation, index) => operation === other.operations[index]) &&
    one.parts.length === other.parts.length &&
    one.parts.every((part, index) => part === other.parts[index])
  );
}

/** A notice has the id of its tool call. */
export function keyOf({ kind, id }: Pick<Part, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}

/** A turn as it is put together: the view, and how often each of its steps was reset. */
export interface Fold {
  view: TurnView;
  resets: readonly number[];
}

export function newFold(conversationId: string, turnId: string | null): Fold {
  return { view: newView(conversationId, turnId), resets: [] };
}

/**
 * What was seen before, brought forward by a replay. A replay that still lags behind changes nothing; of a step that
 * one of the two has seen reset more often, only what that one has of it counts.
 */
export function mergeReplay(seen: Fold, replay: Fold): Fold {
  const replayed = new Map(withoutVoid(replay, seen.resets).map((part) => [keyOf(part), part]));
  const parts = withoutVoid(seen, replay.resets).map((part) => {
    const again = replayed.get(keyOf(part));
    replayed.delete(keyOf(part));
    return again && isFurther(part, again) ? again : part;
  });
  return {
    view: {
      ...replay.view,
      parts: [...parts, ...replayed.values()],
      operations: replay.view.operations.reduce(withOperation, seen.view.operations),
    },
    resets: [...seen.resets, ...replay.resets.slice(seen.resets.length)].map((count, step) =>
      Math.max(count, replay.resets[step] ?? 0),
    ),
  };
}

function withoutVoid({ view, resets }: Fold, others: readonly number[]): Part[] {
  return view.parts.filter((part) => !isText(part) || (resets[part.step] ?? 0) >= (others[part.step] ?? 0));
}

export function isText(part: Part): part is TextPart {
  return part.kind === 'text' || part.kind === 'reasoning';
}

/** What is said again takes the place of what was said before, if it says more. */
export function withOperation(
  seen: readonly OperationSeen[],
  operation: OperationSeen,
): readonly OperationSeen[] {
  const known = seen.find(({ id }) => id === operation.id);
  if (!known) return [...seen, operation];
  if (known.type === 'waiting_for_worker' && operation.type === 'waiting_for_worker')
    return operation.details.status === known.details.status
      ? seen
      : seen.with(seen.indexOf(known), operation);
  if (known.type !== 'tool_progress' || operation.type !== 'tool_progress') return seen;
  if (operation.details.progress <= known.details.progress) return seen;
  return [...seen.filter((one) => one !== known), operation];
}

function isFurther(seen: Part, again: Part): boolean {
  switch (again.kind) {
    case 'text':
    case 'reasoning':
      return seen.kind === again.kind && (again.text.length > seen.text.length || (again.done && !seen.done));
    case 'tool-call':
      return seen.kind === again.kind && isFurtherCall(seen.state, again.state);
    case 'elicitation':
      return (
        seen.kind === again.kind &&
        seen.elicitation.status === 'pending' &&
        again.elicitation.status !== 'pending'
      );
    case 'tool-auth-required':
      return false;
    default:
      return again satisfies never;
  }
}

export function isFurtherCall(seen: ToolCallPart['state'], again: ToolCallPart['state']): boolean {
  if (seen.kind !== 'running') return false;
  if (again.kind !== 'running') return true;
  return (again.progress?.progress ?? -Infinity) > (seen.progress?.progress ?? -Infinity);
}
