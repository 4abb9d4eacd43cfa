/**
 * A response body as UI message chunks (https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol). An event that was cut
 * off is not an event: only its closing blank line makes it one.
 */
import { createParser } from 'eventsource-parser';
import { parseObject } from './interlude-error.ts';
import { ConnectionLost } from './send.ts';

/** Not narrowed: unknown types and members are let through, whoever folds takes what it knows. */
export type Chunk = Record<string, unknown>;

/** `onBytes` hears of every sign of life, comments included. */
export async function* readChunks(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  onBytes: () => void,
): AsyncGenerator<Chunk> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => void events.push(data) });
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(lost);
      if (done) return;
      onBytes();
      parser.feed(decoder.decode(value, { stream: true }));
      for (const data of events.splice(0)) yield data === '[DONE]' ? { type: 'finish' } : parseObject(data);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function lost(cause: unknown): never {
  throw new ConnectionLost('The stream broke.', { cause });
}
