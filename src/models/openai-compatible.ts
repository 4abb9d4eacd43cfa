/**
 * Adapts OpenAI-compatible servers to the AI SDK.
 *
 * The SDK fails a whole answer because of one null or mistyped member in a chunk, and for an answer without a finish
 * reason. So only the members that it uses are passed on. `[DONE]` means that the answer is complete, so a missing reason
 * is added; without either, it was cut off.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { LanguageModelMiddleware } from 'ai';
import { isRecord, presentMembers } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';

type Members = Record<string, unknown>;

export async function fetchReadableChunks(url: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { body, status, statusText, headers } = response;
  if (!response.ok || body === null) return response;
  const events = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream())
    .pipeThrough(readableEvents())
    .pipeThrough(new TextEncoderStream());
  return new Response(events, { status, statusText, headers });
}

function readableEvents(): TransformStream<{ data: string }, string> {
  let finishReason: string | undefined;
  let hasCalls = false;
  return new TransformStream({
    transform({ data }, controller) {
      const send = (text: string) => controller.enqueue(`data: ${text.replaceAll('\n', '\ndata: ')}\n\n`);
      const chunk = readChunk(data);
      for (const choice of chunk?.choices ?? []) {
        finishReason ??= choice.finish_reason;
        hasCalls ||= choice.delta.tool_calls !== undefined;
      }
      if (data.trim() === '[DONE]' && finishReason === undefined) {
        const delta = {};
        send(JSON.stringify({ choices: [{ delta, finish_reason: hasCalls ? 'tool_calls' : 'stop' }] }));
      }
      send(chunk ? JSON.stringify(chunk) : data);
    },
  });
}

interface Chunk {
  choices: Choice[];
  [member: string]: unknown;
}

interface Choice {
  index?: number;
  delta: Members & { tool_calls?: Members[] };
  finish_reason?: string;
}

/** Undefined for anything else, including an error in place of a chunk. */
function readChunk(data: string): Chunk | undefined {
  const chunk = readJson(data);
  if (!isRecord(chunk) || presentMembers(chunk)['error'] !== undefined) return undefined;
  const { id, created, model, choices, usage } = chunk;
  return {
    ...(typeof id === 'string' && { id }),
    ...(typeof created === 'number' && { created }),
    ...(typeof model === 'string' && { model }),
    choices: (Array.isArray(choices) ? choices : []).filter(isRecord).map(readChoice),
    ...(isRecord(usage) && { usage: presentMembers(usage) }),
  };
}

function readChoice({ index, delta, finish_reason: reason }: Members): Choice {
  const { role, tool_calls: calls, ...rest } = isRecord(delta) ? presentMembers(delta) : {};
  const read = (Array.isArray(calls) ? calls : []).filter(isRecord).map(readCall);
  return {
    ...(typeof index === 'number' && { index }),
    delta: { ...rest, ...(role === 'assistant' && { role }), ...(read.length > 0 && { tool_calls: read }) },
    ...(typeof reason === 'string' && reason !== '' && { finish_reason: reason }),
  };
}

/** Arguments are a JSON string; some servers send the object itself. */
function readCall({ function: named, ...rest }: Members): Members {
  const called = isRecord(named) ? presentMembers(named) : {};
  const input = called['arguments'];
  return {
    ...presentMembers(rest),
    function: { ...called, ...(isRecord(input) && { arguments: JSON.stringify(input) }) },
  };
}

function readJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

type Params = Parameters<NonNullable<LanguageModelMiddleware['transformParams']>>[0]['params'];
type Message = Params['prompt'][number];
type ToolPart = Extract<Message, { role: 'tool' }>['content'][number];

/**
 * Chat completions only support text in tool results. The SDK would send an image as JSON: megabytes of base64 that no model can
 * read. So the model gets a note instead.
 */
export const describeFiles: LanguageModelMiddleware = {
  transformParams: ({ params }) =>
    Promise.resolve({ ...params, prompt: params.prompt.map((message) => withoutFiles(message)) }),
};

function withoutFiles(message: Message): Message {
  return message.role === 'tool' ? { ...message, content: message.content.map(toWords) } : message;
}

function toWords(part: ToolPart): ToolPart {
  if (part.type !== 'tool-result' || part.output.type !== 'content') return part;
  const words = part.output.value.map((block) => {
    if (block.type === 'text') return block.text;
    return block.type === 'file'
      ? `[${block.mediaType}: not shown to this model; the user's client has it]`
      : '';
  });
  return { ...part, output: { type: 'text', value: words.join('\n') } };
}
