/** A model server that speaks OpenAI's streaming chat completions over real HTTP, with scripted replies. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendJson, serve } from './serve.ts';

export type Reply =
  | {
      kind: 'text';
      chunks: Iterable<string> | AsyncIterable<string>;
      everyMs?: number;
      finish?: 'stop' | 'length' | 'content_filter';
    }
  | { kind: 'reasoning'; thoughts: string[]; chunks: string[] }
  | {
      kind: 'tool-calls';
      calls: { id?: string; name: string; arguments: string }[];
      say?: string;
      /** Comes between what is said and the calls. */
      between?: Promise<unknown> | undefined;
    }
  | { kind: 'status'; status: number; headers?: Record<string, string>; body?: unknown }
  /** An error object in the middle of a stream that began well. */
  | { kind: 'error-chunk'; chunks: string[]; error: Record<string, unknown> }
  /** The connection breaks after these chunks. */
  | { kind: 'cut'; chunks: string[] }
  /** Nothing more comes after these chunks. */
  | { kind: 'hang'; chunks: string[] };

export interface ChatRequest {
  model: string;
  messages: { role: string; content: unknown; tool_calls?: unknown; tool_call_id?: string }[];
  tools?: { function: { name: string; description?: string; parameters: unknown } }[];
}

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: ChatRequest;
  /** How it ended for the server: answered to the end, or left by the client. */
  ended: Promise<'answered' | 'left'>;
}

export interface OpenAIServer {
  /** Includes `/v1`. */
  baseURL: string;
  requests: Received[];
  /** Resolves with the next request to arrive. */
  next(): Promise<Received>;
  stop(): Promise<void>;
}

/** `reply` is asked for every request, with its number from 0. */
export async function createOpenAIServer({
  reply,
}: {
  reply: (request: ChatRequest, index: number) => Reply | Promise<Reply>;
}): Promise<OpenAIServer> {
  const requests: Received[] = [];
  const waiting: ((request: Received) => void)[] = [];
  const { origin, stop } = await serve(async ({ request, response, body: text }) => {
    const body = JSON.parse(text) as ChatRequest;
    const ended = new Promise<'answered' | 'left'>((resolve) => {
      response.once('close', () => resolve(response.writableFinished ? 'answered' : 'left'));
    });
    const received = { path: request.url ?? '', headers: request.headers, body, ended };
    requests.push(received);
    for (const resolve of waiting.splice(0)) resolve(received);
    await answer(response, await reply(body, requests.length - 1), body.model);
  });
  return {
    baseURL: `${origin}/v1`,
    requests,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    stop,
  };
}

async function answer(response: ServerResponse, reply: Reply, model: string): Promise<void> {
  if (reply.kind === 'status') {
    const body = reply.body ?? { error: { message: 'told to fail', type: 'test' } };
    return sendJson(response, body, reply.status, reply.headers);
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
  const send = (data: unknown) => response.write(`data: ${JSON.stringify(data)}\n\n`);
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model };
  const delta = (content: Record<string, unknown>) =>
    send({ ...base, choices: [{ index: 0, delta: content }] });
  const text = (chunks: string[]) => {
    for (const content of chunks) delta({ content });
  };
  const finish = (reason: string) => {
    send({ ...base, choices: [{ index: 0, delta: {}, finish_reason: reason }] });
    send({ ...base, choices: [], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } });
    response.end('data: [DONE]\n\n');
  };
  switch (reply.kind) {
    case 'text':
      for await (const content of reply.chunks) {
        if (reply.everyMs !== undefined) await sleep(reply.everyMs);
        delta({ content });
      }
      return finish(reply.finish ?? 'stop');
    case 'reasoning':
      for (const thought of reply.thoughts) delta({ reasoning_content: thought });
      text(reply.chunks);
      return finish('stop');
    case 'tool-calls':
      if (reply.say !== undefined) delta({ content: reply.say });
      await reply.between;
      for (const [index, call] of reply.calls.entries()) {
        const { id = `call_${index}`, name } = call;
        const half = Math.ceil(call.arguments.length / 2);
        delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
        for (const piece of [call.arguments.slice(0, half), call.arguments.slice(half)]) {
          delta({ tool_calls: [{ index, function: { arguments: piece } }] });
        }
      }
      return finish('tool_calls');
    case 'error-chunk':
      text(reply.chunks);
      send({ error: reply.error });
      response.end();
      return;
    case 'cut':
      text(reply.chunks);
      // Without the pause, the break may overtake the chunks.
      await new Promise<void>((resolve) => response.write(': bye\n\n', () => resolve()));
      response.destroy();
      return;
    case 'hang':
      text(reply.chunks);
      return;
    default:
      reply satisfies never;
  }
}
