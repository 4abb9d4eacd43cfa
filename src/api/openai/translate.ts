/**
 * Turn log → OpenAI chat completion chunks, and the one completion they add up to. Pure.
 *
 * Clients read every payload as a chunk, so everything that is not text is an additional top-level member of an ordinary chunk.
 * https://platform.openai.com/docs/api-reference/chat-streaming
 */
import type { FinishReason } from '@interlude-ai/core/contract/openai.ts';
import { canPresent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { LogEntry, TurnEvent } from '../../turn/event.ts';
import { emptyTurn, foldTurn, ownText } from '../../turn/fold-turn.ts';
import type { TurnEndStatus, Usage } from '../../turn/turn.ts';
import type { Reader } from '../http/reader-headers.ts';
import type { OpenAIError } from './errors.ts';

interface Chunk {
  id: string;
  object: 'chat.completion.chunk';
  created: number;
  model: string;
  choices: { index: 0; delta: Delta; finish_reason: FinishReason | null; logprobs: null }[];
  /** Only with `stream_options.include_usage`: null on all but the last. */
  usage?: CompletionUsage | null;
  elicitation?: ElicitationEvent;
}

interface Delta {
  role?: 'assistant';
  content?: string;
  tool_calls?: {
    index: number;
    id: string;
    type: 'function';
    function: { name: string; arguments: string };
  }[];
  /** Passed on by proxies that rebuild chunks, like LiteLLM. */
  provider_specific_fields?: { elicitation: ElicitationEvent };
}

interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

interface ErrorChunk {
  error: OpenAIError;
}

export interface Reading {
  turnId: string;
  /** The agent's name. */
  model: string;
  reader: Reader;
  includeUsage: boolean;
}

/** Stateful: one per reader. */
export function createTranslator({
  turnId,
  model,
  reader,
  includeUsage,
}: Reading): (entry: LogEntry) => (Chunk | ErrorChunk)[] {
  let created: number | undefined;
  let spokenPart: string | undefined;
  let toolCalls = 0;
  let finish: FinishReason = 'stop';
  let failure: ErrorChunk | undefined;

  return ({ at, event }) => {
    created ??= Math.floor(at / 1000);
    const base = { id: `chatcmpl-${turnId}`, object: 'chat.completion.chunk', created, model } as const;
    const chunk = (delta: Delta, finishReason: FinishReason | null = null): Chunk => ({
      ...base,
      choices: [{ index: 0, delta, finish_reason: finishReason, logprobs: null }],
      ...(includeUsage && { usage: null }),
    });
    // A delegated agent's text is for the agent that called it; its questions are for the person.
    if (event.path !== undefined && event.type !== 'elicitation-request') return [];
    switch (event.type) {
      case 'turn-started':
        return [chunk({ role: 'assistant', content: '' })];
      case 'text-delta': {
        const isNext = spokenPart !== undefined && spokenPart !== event.id;
        spokenPart = event.id;
        return [chunk({ content: isNext ? `\n\n${event.delta}` : event.delta })];
      }
      case 'tool-input-available': {
        if (!reader.operations) return [];
        const { toolCallId: id, toolName: name, input } = event;
        const called = { name, arguments: JSON.stringify(input ?? {}) };
        return [chunk({ tool_calls: [{ index: toolCalls++, id, type: 'function', function: called }] })];
      }
      case 'elicitation-request':
        return canPresent(event.mode, reader.capabilities)
          ? [{ ...chunk({ provider_specific_fields: { elicitation: event } }), elicitation: event }]
          : [];
      case 'finish-step':
        finish = toFinishReason(event.finish);
        return [];
      case 'error':
        failure = toErrorChunk(event.code, event.errorText);
        return [];
      case 'turn-ended': {
        if (event.status !== 'completed')
          return [failure ?? toErrorChunk(event.status, wordsFor(event.status))];
        const usage = includeUsage ? [{ ...base, choices: [], usage: toCompletionUsage(event.usage) }] : [];
        return [chunk({}, finish), ...usage];
      }
      case 'start-step':
      case 'text-start':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
      case 'tool-output-available':
      case 'tool-output-error':
      case 'tool-auth-required':
      case 'tool-progress':
      case 'elicitation-consented':
      // Sent text cannot be taken back; the repeated attempt begins a new part.
      case 'reset-step':
        return [];
      default:
        return event satisfies never;
    }
  };
}

/** Never `server_error`: clients that get one before the first text retry, and everything that the turn did would be repeated. */
export function toErrorChunk(code: string, message: string): ErrorChunk {
  return { error: { message, type: 'invalid_request_error', param: null, code } };
}

function wordsFor(status: Exclude<TurnEndStatus, 'completed'>): string {
  switch (status) {
    case 'failed':
      return 'The turn failed.';
    case 'cancelled':
      return 'The turn was cancelled.';
    case 'superseded':
      return 'A newer message took the place of this one.';
    default:
      return status satisfies never;
  }
}

function toFinishReason(finish: Extract<TurnEvent, { type: 'finish-step' }>['finish']): FinishReason {
  switch (finish) {
    case undefined:
      return 'stop';
    case 'length':
      return 'length';
    case 'refused':
      return 'content_filter';
    default:
      return finish satisfies never;
  }
}

function toCompletionUsage({ inputTokens, outputTokens }: Usage = noUsage): CompletionUsage {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
}

const noUsage: Usage = { inputTokens: 0, outputTokens: 0 };

export type Outcome =
  | { kind: 'completed'; completion: Completion }
  | { kind: 'failed' | 'cancelled'; error: OpenAIError }
  /** The entries end before the turn does. */
  | { kind: 'unfinished' };

interface Completion {
  id: string;
  object: 'chat.completion';
  created: number;
  model: string;
  choices: {
    index: 0;
    message: { role: 'assistant'; content: string; refusal: null };
    finish_reason: FinishReason;
    logprobs: null;
  }[];
  usage: CompletionUsage;
}

export function toOutcome(
  entries: LogEntry[],
  { turnId, model }: Pick<Reading, 'turnId' | 'model'>,
): Outcome {
  const turn = foldTurn(emptyTurn, entries);
  const { end, failure, finish } = turn;
  if (!end) return { kind: 'unfinished' };
  if (end.status !== 'completed') {
    const { code, errorText } = failure ?? { code: end.status, errorText: wordsFor(end.status) };
    const kind = end.status === 'failed' ? 'failed' : 'cancelled';
    return { kind, error: toErrorChunk(code, errorText).error };
  }
  return {
    kind: 'completed',
    completion: {
      id: `chatcmpl-${turnId}`,
      object: 'chat.completion',
      created: Math.floor((turn.items[0]?.at ?? 0) / 1000),
      model,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: ownText(turn), refusal: null },
          finish_reason: toFinishReason(finish),
          logprobs: null,
        },
      ],
      usage: toCompletionUsage(end.usage),
    },
  };
}
