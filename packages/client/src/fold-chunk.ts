/** Folds one chunk of the UI message stream into the view. Pure; unknown chunks change nothing. */
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import type { Operation, ToolAuthRequired } from '@interlude-ai/core/contract/stream-event.ts';
import { isRecord } from './interlude-error.ts';
import type { Chunk } from './reconnect.ts';
import { isFurtherCall, isText, keyOf, withOperation } from './turn-view.ts';
import type { Fold, Part, TextPart, ToolCallPart, TurnView } from './turn-view.ts';

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
