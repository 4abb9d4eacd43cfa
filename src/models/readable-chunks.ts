/**
 * Chunks of OpenAI-compatible servers as they really send them. The AI SDK fails a whole answer for one member that is null
 * or of another type, and for an answer that ends without a finish reason. The members that it uses are read, the others
 * left out; `[DONE]` says that the answer is complete, so a missing reason is supplied. Without either, it was cut off.
 */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { isRecord, presentMembers } from '../elicitation/form/schema-keywords.ts';

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

/** Undefined for what is no chunk; an error in place of a chunk is one. */
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

/** Arguments are a text; some servers send the object that the text should hold. */
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
