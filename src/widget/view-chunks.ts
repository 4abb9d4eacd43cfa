/** A turn as it grows, in the words of the AI SDK: what is new in a view is said, and nothing twice. Pure. */
import type { UIMessageChunk } from 'ai';
import type { Part, TextPart, ToolCallPart, TurnView } from '../client/turn-view.ts';

export function chunksBetween(seen: TurnView | undefined, view: TurnView): UIMessageChunk[] {
  const known = new Map(seen?.parts.map((part) => [keyOf(part), part]));
  const start: UIMessageChunk[] = seen ? [] : [{ type: 'start', ...idOf(view) }];
  const grown = view.parts.flatMap((part) => chunksOf(known.get(keyOf(part)), part));
  return [...start, ...grown, ...endOf(view)];
}

/** As the service names the message when it is read again, so that it is not there twice. */
function idOf({ turnId }: TurnView) {
  return turnId === null ? {} : { messageId: turnId };
}

function keyOf({ kind, id }: Part): string {
  return `${kind} ${id}`;
}

function chunksOf(seen: Part | undefined, part: Part): UIMessageChunk[] {
  if (seen === part) return [];
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return textChunks(seen?.kind === part.kind ? seen : undefined, part);
    case 'tool-call':
      return callChunks(seen?.kind === 'tool-call' ? seen : undefined, part);
    case 'elicitation':
      return [{ type: 'data-elicitation-request', id: part.id, data: part.elicitation }];
    case 'tool-auth-required':
      return [{ type: 'data-tool-auth-required', id: part.id, data: part.notice }];
    default:
      return part satisfies never;
  }
}

function textChunks(seen: TextPart | undefined, { kind, id, text, done }: TextPart): UIMessageChunk[] {
  const delta = text.slice(seen?.text.length ?? 0);
  return [
    ...(seen ? [] : [{ type: `${kind}-start`, id } as const]),
    ...(delta === '' ? [] : [{ type: `${kind}-delta`, id, delta } as const]),
    ...(done && !seen?.done ? [{ type: `${kind}-end`, id } as const] : []),
  ];
}

function callChunks(seen: ToolCallPart | undefined, part: ToolCallPart): UIMessageChunk[] {
  const { id: toolCallId, toolName, input, state } = part;
  const call: UIMessageChunk[] = seen
    ? []
    : [{ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true }];
  if (state.kind === 'running' || seen?.state.kind === state.kind) return call;
  return state.kind === 'done'
    ? [...call, { type: 'tool-output-available', toolCallId, output: state.output, dynamic: true }]
    : [...call, { type: 'tool-output-error', toolCallId, errorText: state.errorText, dynamic: true }];
}

function endOf({ status, errorText }: TurnView): UIMessageChunk[] {
  switch (status) {
    case 'running':
      return [];
    case 'completed':
    case 'unseen':
      return [{ type: 'finish' }];
    case 'failed':
      return [{ type: 'error', errorText: errorText ?? '' }, { type: 'finish' }];
    case 'cancelled':
      return [{ type: 'abort' }];
    default:
      return status satisfies never;
  }
}
