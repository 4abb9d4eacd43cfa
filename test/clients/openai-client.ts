/** OpenAI's own client for Node, and what a test looks for in what it reads. */
import OpenAI from 'openai';
import type { ChatCompletionChunk, ChatCompletionCreateParamsStreaming } from 'openai/resources/chat';
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import { connectAccount } from '../service/connect-account.ts';
import type { Service } from '../service/service.ts';

export interface OpenAIOptions {
  supports?: string;
  operations?: boolean;
  /** Where it connects to; the service unless given. */
  url?: string;
}

export async function createOpenAI(
  service: Pick<Service, 'baseUrl' | 'token'>,
  user: 'alice' | 'bob',
  { supports, operations = false, url = service.baseUrl }: OpenAIOptions = {},
): Promise<OpenAI> {
  return new OpenAI({
    baseURL: `${url}/run/v1`,
    apiKey: await service.token(user),
    defaultHeaders: {
      ...(supports !== undefined && { 'x-supports-elicitation': supports }),
      ...(operations && { 'x-emit-operations': 'true' }),
    },
  });
}

/** `more` may have what is ours, which the client's types do not know. */
export function say(content: string, more: object = {}): ChatCompletionCreateParamsStreaming {
  return { model: 'assistant', messages: [{ role: 'user', content }], stream: true, ...more };
}

export function questionIn(chunk: ChatCompletionChunk): (ElicitationEvent & { mode: 'url' }) | undefined {
  return 'elicitation' in chunk ? (chunk.elicitation as ElicitationEvent & { mode: 'url' }) : undefined;
}

export function textIn(chunks: ChatCompletionChunk[]): string {
  return chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
}

/** Reads to the end; alice connects as soon as she is asked. */
export async function readAndConnect(
  stream: AsyncIterable<ChatCompletionChunk>,
): Promise<ChatCompletionChunk[]> {
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of stream) {
    chunks.push(chunk);
    const question = questionIn(chunk);
    if (question?.status === 'pending') await connectAccount('alice', question.url);
  }
  return chunks;
}

/** What this rejects with. */
export async function failureOf(promise: PromiseLike<unknown>): Promise<unknown> {
  const [settled] = await Promise.allSettled([promise]);
  if (settled.status === 'fulfilled') throw new Error('it did not fail');
  return settled.reason;
}

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}
