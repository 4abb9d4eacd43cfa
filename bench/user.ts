/** One user at the API, with a clock. All times are milliseconds from the moment the request was made. */
import { randomUUID } from 'node:crypto';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { sendUntilTaken } from './send-until-taken.ts';

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
  begin(text: string, agent?: string): Promise<string>;
  /** What a request of this user has to say. */
  headers: Record<string, string>;
  /** Resolves when the whole turn is over, without a stream. */
  ask(text: string, at?: { conversation: string; agent: string }): Promise<void>;
  /** The times from each result of a tool to the next, as the reader of the stream sees them. */
  gaps(text: string, agent: string): Promise<number[]>;
  /** The same through A2A, in one answer or as a stream. */
  sendTask(text: string, how: 'send' | 'stream'): Promise<void>;
  /**
   * Has an agent call a tool, and answers what is asked with `content` as soon as it is seen. Resolves with the time from
   * the call to its result, both as the reader of the stream sees them.
   */
  call(text: string, as: { agent: string; content: object }): Promise<number>;
  /** As `begin`, until a question is put; resolves with what it takes to answer it. */
  beAsked(text: string, as: { agent: string }): Promise<Question>;
  answer(question: Question, content: object): Promise<void>;
  /** Answers the question; resolves with the time its answer took, the status it got, and how many 503 came before. */
  accept(
    chat: Pick<Chat, 'conversation' | 'question'>,
  ): Promise<{ tookMs: number; status: number; repeats: number }>;
}

export interface Question {
  conversation: string;
  elicitationId: string;
}

interface Chunk {
  type: string;
  data?: { elicitationId: string; status: string };
  delta?: string;
  errorText?: string;
}

export function createUser(baseUrl: string, name: string, token: string): User {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'x-supports-elicitation': 'true',
  };
  const postAgain = async (path: string, body: object) => {
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    const sent = await sendUntilTaken(baseUrl + path, request);
    const { ok, status } = sent.response;
    if (!ok) throw new Error(`${path} answered ${status}: ${await sent.response.text()}`);
    return sent;
  };
  const post = async (path: string, body: object) => (await postAgain(path, body)).response;
  const message = (conversation: string, text: string) => ({
    id: conversation,
    messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] }],
  });

  async function answerForm({ conversation, elicitationId }: Question, content: object): Promise<void> {
    const body = { conversationId: conversation, elicitationId, action: 'accept', content };
    const response = await post('/run/api/elicitation-responses', body);
    await response.arrayBuffer();
  }

  return {
    name,
    headers,
    async listen(text, heard) {
      const { body } = await post('/run/api/chat', message(randomUUID(), text));
      for await (const { type, delta } of chunksOf(body))
        if (type === 'text-delta' && delta !== undefined) heard(delta, performance.now());
    },
    async begin(text, agent) {
      const conversation = randomUUID();
      const { body } = await post('/run/api/chat', { ...message(conversation, text), agentId: agent });
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
    async ask(
      text,
      { conversation, agent }: { conversation: string; agent?: string } = { conversation: randomUUID() },
    ) {
      const asked = { ...message(conversation, text), agentId: agent, stream: false };
      const response = await post('/run/api/chat', asked);
      await response.arrayBuffer();
    },
    async gaps(text, agent) {
      const { body } = await post('/run/api/chat', { ...message(randomUUID(), text), agentId: agent });
      const times: number[] = [];
      for await (const { type } of chunksOf(body))
        if (type === 'tool-output-available') times.push(performance.now());
      return times.slice(1).map((at, index) => at - (times[index] ?? at));
    },
    async sendTask(text, how) {
      const task = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
      const response = await fetch(`${baseUrl}/run/agents/assistant/a2a/message:${how}`, {
        method: 'POST',
        headers: { ...headers, 'a2a-version': '1.0' },
        body: JSON.stringify({ message: task }),
      });
      const answer = await response.text();
      if (!answer.includes('TASK_STATE_COMPLETED')) throw new Error(`A2A answered ${answer}`);
    },
    async call(text, { agent, content }) {
      const asked = message(randomUUID(), text);
      const { body } = await post('/run/api/chat', { ...asked, agentId: agent });
      let calledAt = 0;
      let tookMs = NaN;
      const answering: Promise<void>[] = [];
      for await (const { type, data } of chunksOf(body)) {
        if (type === 'tool-input-available') calledAt = performance.now();
        if (type === 'tool-output-available') tookMs = performance.now() - calledAt;
        if (type === 'data-elicitation-request' && data?.status === 'pending')
          answering.push(answerForm({ conversation: asked.id, elicitationId: data.elicitationId }, content));
      }
      await Promise.all(answering);
      if (Number.isNaN(tookMs)) throw new Error(`"${text}" had no result`);
      return tookMs;
    },
    async beAsked(text, { agent }) {
      const asked = message(randomUUID(), text);
      const { body } = await post('/run/api/chat', { ...asked, agentId: agent });
      let trouble: string | undefined;
      for await (const { type, data, errorText } of chunksOf(body)) {
        if (type === 'data-elicitation-request' && data)
          return { conversation: asked.id, elicitationId: data.elicitationId };
        trouble = errorText ?? trouble;
      }
      throw new Error(`"${text}" was not followed by a question: ${trouble ?? 'its turn ended without one'}`);
    },
    answer: answerForm,
    async accept({ conversation, question }) {
      const askedAt = performance.now();
      const body = { conversationId: conversation, elicitationId: question, action: 'accept' };
      const { response, repeats } = await postAgain('/run/api/elicitation-responses', body);
      await response.arrayBuffer();
      return { tookMs: performance.now() - askedAt, status: response.status, repeats };
    },
  };
}

async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Chunk> {
  const decoder = new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>;
  for await (const { data } of body?.pipeThrough(decoder).pipeThrough(new EventSourceParserStream()) ?? [])
    if (data !== '[DONE]') yield JSON.parse(data) as Chunk;
}
