/** One chunk of the UI message stream, taken into the view. Pure; what it does not know changes nothing. */
import type { ElicitationEvent, Status } from '../elicitation/elicitation.ts';
import { isRecord } from './interlude-error.ts';
import type { Chunk } from './read-chunks.ts';
import type { Part, TextPart, ToolCallPart, TurnView } from './turn-view.ts';

export function foldChunk(view: TurnView, chunk: Chunk): TurnView {
  const kind = chunk['type'];
  switch (kind) {
    case 'text-start':
    case 'reasoning-start':
      return put(view, { kind: textKind(kind), id: textOf(chunk, 'id'), text: '', done: false });
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
  const index = view.parts.findIndex(({ id }) => id === part.id);
  return { ...view, parts: index === -1 ? [...view.parts, part] : view.parts.with(index, part) };
}

function changeText(view: TurnView, chunk: Chunk, change: (part: TextPart) => TextPart): TurnView {
  const part = view.parts.find(({ id }) => id === chunk['id']);
  return part?.kind === 'text' || part?.kind === 'reasoning' ? put(view, change(part)) : view;
}

function changeCall(view: TurnView, chunk: Chunk, state: ToolCallPart['state']): TurnView {
  const part = view.parts.find(({ id }) => id === chunk['toolCallId']);
  return part?.kind === 'tool-call' ? put(view, { ...part, state }) : view;
}

function textKind(type: 'text-start' | 'reasoning-start'): TextPart['kind'] {
  return type === 'text-start' ? 'text' : 'reasoning';
}

function textOf(chunk: Chunk, member: string): string {
  const value = chunk[member];
  return typeof value === 'string' ? value : '';
}

const statuses: Record<Status, true> = {
  pending: true,
  accept: true,
  decline: true,
  cancel: true,
  expired: true,
};

function isElicitation(data: unknown): data is ElicitationEvent {
  if (!isRecord(data) || !isRecord(data['context'])) return false;
  const { elicitationId, status, message, expiresAt, mode, url } = data;
  if (typeof status !== 'string' || !Object.hasOwn(statuses, status)) return false;
  if (mode !== 'form' && !(mode === 'url' && typeof url === 'string')) return false;
  return [elicitationId, message, expiresAt].every((member) => typeof member === 'string');
}
