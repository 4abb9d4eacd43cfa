/**
 * Turn log → OpenAI chat completion chunks, and the one completion they add up to. Pure.
 *
 * Clients read every payload as a chunk: whatever is not text travels as an additional top-level member of an ordinary
 * one. https://platform.openai.com/docs/api-reference/chat-streaming
 */
import type { FinishReason } from '../../contract/openai.ts';
import { canPresent } from '../../elicitation/capabilities.ts';
import type { ElicitationEvent } from '../../elicitation/elicitation.ts';
import type { LogEntry, TurnEvent } from '../../turn/event.ts';
import type { TurnEndStatus, Usage } from '../../turn/turn.ts';
import type { Reader } from '../http/request-headers.ts';
import type { OpenAIError } from './errors.ts';

export interface Chunk {
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
  /** What proxies pass on that build each chunk anew, as LiteLLM does. */
  provider_specific_fields?: { elicitation: ElicitationEvent };
}

export interface CompletionUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface ErrorChunk {
  error: OpenAIError;
}

export interface Reading {
  turnId: string;
  /** The agent's name. */
  model: string;
  reader: Reader;
  includeUsage: boolean;
}

/** One translator per reader: it remembers what was said. */
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
    // What a delegated agent says is for the agent that asked it; its questions are for the person.
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
      // What is on somebody's screen cannot be taken back; the repeated attempt speaks in a part of its own.
      case 'reset-step':
        return [];
      default:
        return event satisfies never;
    }
  };
}

/**
 * Never `server_error`: clients that meet one before the first text send the request again, and everything that the turn
 * did would be done twice.
 */
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
