/**
 * A turn as far as it has been seen. Views only grow, also across broken connections, with one exception: text of a model
 * call that broke off and was repeated is removed.
 */
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import type { Operation, ToolAuthRequired } from '@interlude-ai/core/contract/stream-event.ts';
import { isRecord } from './interlude-error.ts';
import type { Chunk } from './reconnect.ts';

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
function withOperation(seen: readonly OperationSeen[], operation: OperationSeen): readonly OperationSeen[] {
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

function isFurtherCall(seen: ToolCallPart['state'], again: ToolCallPart['state']): boolean {
  if (seen.kind !== 'running') return false;
  if (again.kind !== 'running') return true;
  return (again.progress?.progress ?? -Infinity) > (seen.progress?.progress ?? -Infinity);
}

// Folding one chunk of the UI message stream into the view. Unknown chunks change nothing.

export function foldChunk({ view, resets }: Fold, chunk: Chunk): Fold {
  const step = Math.max(0, resets.length - 1);
  switch (chunk['type']) {
    case 'start-step':
      return { view, resets: [...resets, 0] };
    case 'reset-step': {
      const parts = view.parts.filter((part) => !isText(part) || part.step !== step);
      return { view: { ...view, parts }, resets: [...resets.slice(0, step), (resets[step] ?? 0) + 1] };
    }
    default:
      return { view: foldPart(view, chunk, step), resets };
  }
}

function foldPart(view: TurnView, chunk: Chunk, step: number): TurnView {
  const kind = chunk['type'];
  switch (kind) {
    case 'text-start':
    case 'reasoning-start':
      return put(view, { kind: textKind(kind), id: textOf(chunk, 'id'), text: '', done: false, step });
    case 'text-delta':
    case 'reasoning-delta':
      return changeText(view, chunk, (part) => ({ ...part, text: part.text + textOf(chunk, 'delta') }));
    case 'text-end':
    case 'reasoning-end':
      return changeText(view, chunk, (part) => ({ ...part, done: true }));
    case 'tool-input-available':
      return put(view, {
        kind: 'tool-call',
        id: textOf(chunk, 'toolCallId'),
        toolName: textOf(chunk, 'toolName'),
        input: chunk['input'],
        state: { kind: 'running' },
      });
    case 'tool-output-available':
      return changeCall(view, chunk, { kind: 'done', output: chunk['output'] });
    case 'tool-output-error':
      return changeCall(view, chunk, { kind: 'failed', errorText: textOf(chunk, 'errorText') });
    case 'data-elicitation-request': {
      const { data } = chunk;
      if (!isElicitation(data)) return view;
      return put(view, { kind: 'elicitation', id: data.elicitationId, elicitation: data });
    }
    case 'data-tool-auth-required': {
      const { data } = chunk;
      if (!isNotice(data)) return view;
      return put(view, { kind: 'tool-auth-required', id: textOf(chunk, 'id'), notice: data });
    }
    case 'data-operation': {
      const { data } = chunk;
      if (!isOperation(data)) return view;
      const operations = withOperation(view.operations, { ...data, id: textOf(chunk, 'id') });
      return operations === view.operations ? view : withProgress({ ...view, operations }, data);
    }
    case 'error':
      return { ...view, errorText: textOf(chunk, 'errorText') };
    case 'finish':
      return { ...view, status: view.errorText === undefined ? 'completed' : 'failed' };
    case 'abort':
      return { ...view, status: 'cancelled' };
    default:
      return view;
  }
}

function put(view: TurnView, part: Part): TurnView {
  const index = view.parts.findIndex((known) => keyOf(known) === keyOf(part));
  return { ...view, parts: index === -1 ? [...view.parts, part] : view.parts.with(index, part) };
}

function changeText(view: TurnView, chunk: Chunk, change: (part: TextPart) => TextPart): TurnView {
  const part = view.parts.find((known) => isText(known) && known.id === chunk['id']);
  return part && isText(part) ? put(view, change(part)) : view;
}

function changeCall(view: TurnView, chunk: Chunk, state: ToolCallPart['state']): TurnView {
  const part = view.parts.find(({ kind, id }) => kind === 'tool-call' && id === chunk['toolCallId']);
  return part?.kind === 'tool-call' ? put(view, { ...part, state }) : view;
}

/** A call shows its progress while it runs. */
function withProgress(view: TurnView, operation: Operation): TurnView {
  if (operation.type !== 'tool_progress') return view;
  const { toolCallId, progress, total } = operation.details;
  const call = view.parts.find(({ kind, id }) => kind === 'tool-call' && id === toolCallId);
  if (call?.kind !== 'tool-call') return view;
  const state = {
    kind: 'running',
    progress: { progress, ...(total !== undefined && { total }) },
  } as const;
  return isFurtherCall(call.state, state) ? put(view, { ...call, state }) : view;
}

function textKind(type: 'text-start' | 'reasoning-start'): TextPart['kind'] {
  return type === 'text-start' ? 'text' : 'reasoning';
}

function textOf(chunk: Chunk, member: string): string {
  const value = chunk[member];
  return typeof value === 'string' ? value : '';
}

const statuses: Record<ElicitationRequest['status'], true> = {
  pending: true,
  accept: true,
  decline: true,
  cancel: true,
  expired: true,
};

function isElicitation(data: unknown): data is ElicitationRequest {
  if (!isRecord(data) || !isRecord(data['context'])) return false;
  const { status, mode, url } = data;
  if (typeof status !== 'string' || !Object.hasOwn(statuses, status)) return false;
  if (mode !== 'form' && !(mode === 'url' && typeof url === 'string')) return false;
  return hasTexts(data, ['elicitationId', 'message', 'expiresAt']);
}

function isNotice(data: unknown): data is ToolAuthRequired {
  if (!isRecord(data) || !hasTexts(data, ['server', 'serverTitle', 'toolName', 'message'])) return false;
  const { url } = data;
  // It becomes a link.
  return url === undefined || (typeof url === 'string' && /^https?:\/\//i.test(url));
}

function isOperation(data: unknown): data is Operation {
  if (!isRecord(data) || !isRecord(data['details']) || !hasTexts(data, ['type', 'label'])) return false;
  return data['type'] !== 'tool_progress' || typeof data['details']['progress'] === 'number';
}

function hasTexts(data: Record<string, unknown>, members: string[]): boolean {
  return members.every((member) => typeof data[member] === 'string');
}
