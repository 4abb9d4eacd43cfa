/** One user at the API, with a clock. All times are milliseconds from the moment the request was made. */
import { randomUUID } from 'node:crypto';
import { EventSourceParserStream } from 'eventsource-parser/stream';

export interface Chat {
  conversation: string;
  firstByte: number;
  /** Null when nothing was said before the stream was left. */
  firstText: number | null;
  /** The question at which the stream was left; it may be followed again with `rest`. */
  question: string | null;
  /** Reads to the end. */
  rest(): Promise<void>;
  /** Stops reading; the turn goes on. */
  leave(): Promise<void>;
}

export interface User {
  name: string;
  /** Reads until a question is put, or to the end. */
  chat(text: string): Promise<Chat>;
  /** Reads to the end, and is told of each piece of text as it comes. */
  listen(text: string, heard: (delta: string, at: number) => void): Promise<void>;
  /** Begins a turn that nobody looks at; resolves with its conversation. */
  begin(text: string): Promise<string>;
  /** What a request of this user has to say. */
  headers: Record<string, string>;
  /** Resolves when the whole turn is over, without a stream. */
  ask(text: string): Promise<void>;
  /** Answers the question; resolves with the time its answer took. */
  accept(chat: Chat): Promise<number>;
}

interface Chunk {
  type: string;
  data?: { elicitationId: string; status: string };
  delta?: string;
}

export function createUser(baseUrl: string, name: string, token: string): User {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'x-supports-elicitation': 'true',
  };
  const post = async (path: string, body: object) => {
    const response = await fetch(baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response;
  };
  const message = (conversation: string, text: string) => ({
    id: conversation,
    messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] }],
  });

  return {
    name,
    headers,
    async listen(text, heard) {
      const { body } = await post('/run/api/chat', message(randomUUID(), text));
      for await (const { type, delta } of chunksOf(body))
        if (type === 'text-delta' && delta !== undefined) heard(delta, performance.now());
    },
    async begin(text) {
      const conversation = randomUUID();
      const { body } = await post('/run/api/chat', message(conversation, text));
      await body?.cancel();
      return conversation;
    },
    async chat(text) {
      const conversation = randomUUID();
      const askedAt = performance.now();
      const since = () => performance.now() - askedAt;
      const response = await post('/run/api/chat', message(conversation, text));
      let firstByte = 0;
      const notice = new TransformStream<Uint8Array, Uint8Array>({
        transform(bytes, controller) {
          firstByte ||= since();
          controller.enqueue(bytes);
        },
      });
      if (!response.body) throw new Error('the chat stream has no body');
      const events = response.body
        .pipeThrough(notice)
        .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
        .pipeThrough(new EventSourceParserStream())
        .getReader();
      let firstText: number | null = null;
      const next = async (): Promise<Chunk | null> => {
        const { done, value } = await events.read();
        return done || value.data === '[DONE]' ? null : (JSON.parse(value.data) as Chunk);
      };
      let question: string | null = null;
      while (question === null) {
        const chunk = await next();
        if (chunk === null) break;
        if (chunk.type === 'text-delta') firstText ??= since();
        if (chunk.type === 'data-elicitation-request') question = chunk.data?.elicitationId ?? null;
      }
      const rest = async () => {
        while ((await next()) !== null);
      };
      return { conversation, firstByte, firstText, question, rest, leave: () => events.cancel() };
    },
    async ask(text) {
      const response = await post('/run/api/chat', { ...message(randomUUID(), text), stream: false });
      await response.arrayBuffer();
    },
    async accept({ conversation, question }) {
      const askedAt = performance.now();
      const body = { conversationId: conversation, elicitationId: question, action: 'accept' };
      const response = await post('/run/api/elicitation-responses', body);
      await response.arrayBuffer();
      return performance.now() - askedAt;
    },
  };
}

async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Chunk> {
  const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>;
  for await (const { data } of body?.pipeThrough(decoder).pipeThrough(new EventSourceParserStream()) ?? [])
    if (data !== '[DONE]') yield JSON.parse(data) as Chunk;
}
