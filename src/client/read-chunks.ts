/**
 * A response body as JSON events, those of the UI message stream (https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol)
 * and those of the feed. An event that was cut off is not an event: only its closing blank line makes it one.
 */
import { createParser } from 'eventsource-parser';
import { parseObject } from './interlude-error.ts';
import { ConnectionLost } from './send.ts';

/** Not narrowed: unknown types and members are let through, whoever folds takes what it knows. */
export type Chunk = Record<string, unknown>;

/** An id alone is a position. */
interface Message {
  id?: string | undefined;
  data?: string;
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** `onBytes` hears of every sign of life, comments included. */
export async function* readChunks(body: Body, onBytes: () => void): AsyncGenerator<Chunk> {
  for await (const { data } of readMessages(body, onBytes)) {
    if (data !== undefined) yield data === '[DONE]' ? { type: 'finish' } : parseObject(data);
  }
}

export async function* readMessages(body: Body, onBytes: () => void): AsyncGenerator<Message> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const messages: Message[] = [];
  const parser = createParser({
    onId: (id) => void messages.push({ id }),
    onEvent({ id, data }) {
      // It has just been pushed, without the data.
      if (id !== undefined) messages.pop();
      messages.push({ id, data });
    },
  });
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(lost);
      if (done) return;
      onBytes();
      parser.feed(decoder.decode(value, { stream: true }));
      yield* messages.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function lost(cause: unknown): never {
  throw new ConnectionLost('The stream broke.', { cause });
}
