/**
 * A language model that follows a script: needs no key, costs nothing and always gives the same answers. It implements the
 * same interface as a real one, so that the code behind it is used as in production.
 */
import { ReadableStream } from 'node:stream/web';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResultPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { isPageContext } from '../../turn/message-parts.ts';
import type { Conversation, Move, Script, ToolOutcome } from './script.ts';

export function createScriptedModel(script: Script): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate(options) {
      const content = contentOf(decide(script, options), options.prompt);
      return {
        content,
        finishReason: finishOf(content),
        usage: usageOf(options.prompt, content),
        warnings: [],
      };
    },
    async doStream(options) {
      return { stream: ReadableStream.from(speak(script, options)) as unknown as StreamOfParts };
    },
  };
}

/** The interface declares the browser's stream type. At run time Node's is the same. */
type StreamOfParts = Awaited<ReturnType<LanguageModelV4['doStream']>>['stream'];

async function* speak(
  script: Script,
  options: LanguageModelV4CallOptions,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const { prompt, abortSignal } = options;
  const content = contentOf(decide(script, options), prompt);
  yield { type: 'stream-start', warnings: [] };
  for (const part of content) {
    if (part.type === 'text') {
      yield { type: 'text-start', id: 'text' };
      for (const delta of wordsOf(part.text)) {
        if (script.wordDelayMs > 0)
          await sleep(script.wordDelayMs, undefined, abortSignal && { signal: abortSignal });
        yield { type: 'text-delta', id: 'text', delta };
      }
      yield { type: 'text-end', id: 'text' };
    } else if (part.type === 'tool-call') {
      yield { type: 'tool-input-start', id: part.toolCallId, toolName: part.toolName };
      yield { type: 'tool-input-delta', id: part.toolCallId, delta: part.input };
      yield { type: 'tool-input-end', id: part.toolCallId };
      yield part;
    }
  }
  yield { type: 'finish', finishReason: finishOf(content), usage: usageOf(prompt, content) };
}

function decide(script: Script, options: LanguageModelV4CallOptions): Move {
  const conversation = toConversation(options);
  for (const rule of script.rules) {
    const move = rule(conversation);
    if (move) return move;
  }
  return { say: 'My script has no answer to that.' };
}

export function toConversation({ prompt, tools = [] }: LanguageModelV4CallOptions): Conversation {
  const lastUser = prompt.findLastIndex(({ role }) => role === 'user');
  const inputs = new Map<string, unknown>();
  const outcomes: ToolOutcome[] = [];
  for (const message of prompt.slice(lastUser + 1)) {
    if (message.role !== 'assistant' && message.role !== 'tool') continue;
    for (const part of message.content) {
      if (part.type === 'tool-call') inputs.set(part.toolCallId, part.input);
      if (part.type === 'tool-result') outcomes.push(toOutcome(part, inputs.get(part.toolCallId)));
    }
  }
  return {
    userText: textOf(prompt[lastUser]),
    images: imagesOf(prompt[lastUser]),
    tools: tools.map(({ name }) => name),
    outcomes,
  };
}

function textOf(message: LanguageModelV4Prompt[number] | undefined): string {
  if (message?.role !== 'user') return '';
  return message.content
    .map((part) => (part.type === 'text' && !isPageContext(part) ? part.text : ''))
    .join('')
    .trim();
}

function imagesOf(message: LanguageModelV4Prompt[number] | undefined): Conversation['images'] {
  if (message?.role !== 'user') return [];
  return message.content.flatMap((part) => {
    if (part.type !== 'file' || part.data.type !== 'data') return [];
    const { data } = part.data;
    return [
      { mediaType: part.mediaType, bytes: typeof data === 'string' ? (data.length * 3) / 4 : data.length },
    ];
  });
}

function toOutcome({ toolName, output }: LanguageModelV4ToolResultPart, input: unknown): ToolOutcome {
  const outcome = (ok: boolean, text: string, data: unknown) => ({ tool: toolName, input, ok, text, data });
  switch (output.type) {
    case 'text':
      return outcome(true, output.value, parsed(output.value));
    case 'json':
      return outcome(true, JSON.stringify(output.value), output.value);
    case 'content': {
      const text = output.value
        .map((part) => (part.type === 'text' ? part.text : ''))
        .join('\n')
        .trim();
      return outcome(true, text, parsed(text));
    }
    case 'error-text':
      return outcome(false, output.value, null);
    case 'error-json':
      return outcome(false, JSON.stringify(output.value), output.value);
    case 'execution-denied':
      return outcome(false, output.reason ?? 'The tool was not allowed to run.', null);
    default:
      return output satisfies never;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function contentOf({ say, calls = [] }: Move, prompt: LanguageModelV4Prompt): LanguageModelV4Content[] {
  // Ids are counted, so that they are unique in the conversation and the same in every run.
  const before = prompt.flatMap((message) =>
    message.role === 'assistant' ? message.content.filter(({ type }) => type === 'tool-call') : [],
  ).length;
  return [
    ...(say ? [{ type: 'text' as const, text: say }] : []),
    ...calls.map(({ tool, input = {} }, index) => ({
      type: 'tool-call' as const,
      toolCallId: `call_${before + index + 1}`,
      toolName: tool,
      input: JSON.stringify(input),
    })),
  ];
}

function finishOf(content: LanguageModelV4Content[]): LanguageModelV4FinishReason {
  const unified = content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop';
  return { unified, raw: unified };
}

/** One token per word. */
function usageOf(prompt: LanguageModelV4Prompt, content: LanguageModelV4Content[]): LanguageModelV4Usage {
  const input = wordsOf(JSON.stringify(prompt)).length;
  const output = content.reduce((sum, part) => {
    if (part.type === 'text') return sum + wordsOf(part.text).length;
    return part.type === 'tool-call' ? sum + wordsOf(part.input).length : sum;
  }, 0);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}

function wordsOf(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}
