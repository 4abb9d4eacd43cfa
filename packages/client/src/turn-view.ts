/**
 * A turn as far as it has been seen. Views only grow, also across broken connections, with one exception: text of a model
 * call that broke off and was repeated is removed.
 */
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import type { Operation, ToolAuthRequired } from '@interlude-ai/core/contract/stream-event.ts';

export interface TurnView {
  conversationId: string;
  turnId: string | null;
  status: ViewStatus;
  parts: readonly Part[];
  /**
   * What the turn is doing, in order; empty unless `operations` was requested. A repeated operation, such as the progress
   * of a call, is contained once, where it came last.
   */
  operations: readonly OperationSeen[];
  /** Why the turn failed, for the user. */
  errorText?: string;
}

/**
 * `cancelled`: stopped, or superseded by a newer message. `unseen`: the turn is over, and its end was missed; only with
 * `follow`, because `start` always gets the end of its own turn.
 */
export type ViewStatus = 'running' | 'completed' | 'failed' | 'cancelled' | 'unseen';

export type Part = TextPart | ToolCallPart | ElicitationPart | NoticePart;

export interface TextPart {
  kind: 'text' | 'reasoning';
  id: string;
  text: string;
  done: boolean;
  /** The model call that it comes from, counted from 0. */
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

/** The progress of a call, in its server's own unit. Only where `operations` was requested. */
export interface Progress {
  progress: number;
  /** The final value of `progress`, if the server knows it. */
  total?: number;
}

export interface ElicitationPart {
  kind: 'elicitation';
  id: string;
  elicitation: ElicitationRequest;
}

/** A tool needs the user's account, and this client did not declare that it can show questions. */
export interface NoticePart {
  kind: 'tool-auth-required';
  /** The id of the tool call. */
  id: string;
  notice: ToolAuthRequired;
}

export type OperationSeen = Operation & { id: string };

/** Whether no worker works on the turn. Only known where `operations` was requested. */
export function waitsForWorker({ operations }: TurnView): boolean {
  const last = operations.at(-1);
  return last?.type === 'waiting_for_worker' && last.details.status === 'waiting';
}

export function newView(conversationId: string, turnId: string | null): TurnView {
  return { conversationId, turnId, status: 'running', parts: [], operations: [] };
}

export function isSameView(one: TurnView, other: TurnView): boolean {
  return (
    one.status === other.status &&
    one.operations.length === other.operations.length &&
    one.operations.every((operation, index) => operation === other.operations[index]) &&
    one.parts.length === other.parts.length &&
    one.parts.every((part, index) => part === other.parts[index])
  );
}

/** With the kind, because a notice has the id of its tool call. */
export function keyOf({ kind, id }: Pick<Part, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}

/** A turn while it is folded: the view, and how often each of its steps was reset. */
export interface Fold {
  view: TurnView;
  resets: readonly number[];
}

export function newFold(conversationId: string, turnId: string | null): Fold {
  return { view: newView(conversationId, turnId), resets: [] };
}

/**
 * Merges a replay into what was seen before. A replay that lags behind changes nothing. Of a step that one of the two has
 * seen reset more often, only that one's text counts.
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

/** A repeated operation replaces the earlier one if it is newer. */
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
