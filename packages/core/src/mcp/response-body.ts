/** Response bodies, read in pieces and up to a limit. */
import { setImmediate } from 'node:timers/promises';

export const responseLimitBytes = 10 * 1024 * 1024;

export class ResponseTooLarge extends Error {
  override name = 'ResponseTooLarge';
}

/** A few hundred small messages. Without pauses, a stream of 100,000 small messages would block the event loop. */
const pieceBytes = 8 * 1024;

interface Listener {
  /** Called before the reader sees the error. */
  onFailure(error: unknown): void;
  onEnd(): void;
}

/** The limit counts bytes after decompression. */
export function limitedBody(
  body: ReadableStream<Uint8Array>,
  { onFailure, onEnd }: Listener,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let unread: Uint8Array = new Uint8Array();
  let size = 0;
  let bytesSinceYield = 0;

  async function next(): Promise<Uint8Array | null> {
    if (unread.byteLength === 0) {
      const { done, value } = await reader.read();
      if (done) return null;
      size += value.byteLength;
      if (size > responseLimitBytes) throw new ResponseTooLarge();
      unread = value;
    }
    const piece = unread.subarray(0, pieceBytes);
    unread = unread.subarray(piece.byteLength);
    return piece;
  }

  return new ReadableStream({
    async pull(controller) {
      try {
        if (bytesSinceYield >= pieceBytes) {
          await setImmediate();
          bytesSinceYield = 0;
        }
        const piece = await next();
        if (piece === null) {
          onEnd();
          return controller.close();
        }
        bytesSinceYield += piece.byteLength;
        controller.enqueue(piece);
      } catch (error) {
        onFailure(error);
        controller.error(error);
        reader.cancel(error).catch(() => undefined);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
