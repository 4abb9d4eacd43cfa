/**
 * The views of a turn as chunks of the AI SDK: what is new in a view is added, what was removed is taken back, and nothing
 * is repeated. Pure.
 */
import type { UIMessageChunk } from 'ai';
import { isText, keyOf } from '@interlude-ai/client/turn-view.ts';
import type { Part, TextPart, ToolCallPart, TurnView } from '@interlude-ai/client/turn-view.ts';

export function chunksBetween(seen: TurnView | undefined, view: TurnView): UIMessageChunk[] {
  const parts = seen?.parts ?? [];
  const stays = parts.length - partsToReset(parts, view);
  const known = new Map(parts.slice(0, stays).map((part) => [keyOf(part), part]));
  const start: UIMessageChunk[] = seen ? [] : [{ type: 'start', ...idOf(view) }];
  const reset: UIMessageChunk[] = stays < parts.length ? [{ type: 'reset-step' }] : [];
  let step = lastStepOf(parts);
  const grown = view.parts.flatMap((part) => {
    const before = known.get(keyOf(part));
    if (before || !isText(part) || part.step === step) return chunksOf(before, part);
    ({ step } = part);
    return [{ type: 'start-step' } as const, ...chunksOf(before, part)];
  });
  return [...start, ...reset, ...grown, ...endOf(view)];
}

/** How many parts at the end `useChat` drops when a step is reset: all since its first text. */
function partsToReset(seen: readonly Part[], { parts }: TurnView): number {
  const kept = new Set(parts.map(keyOf));
  const gone = seen.find((part) => !kept.has(keyOf(part)));
  if (!gone || !isText(gone)) return 0;
  return seen.length - seen.findIndex((part) => isText(part) && part.step === gone.step);
}

function lastStepOf(parts: readonly Part[]): number | undefined {
  return parts.findLast(isText)?.step;
}

/** The id under which the service lists the message later, so that it is not shown twice. */
function idOf({ turnId }: TurnView) {
  return turnId === null ? {} : { messageId: turnId };
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
