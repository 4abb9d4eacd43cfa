/**
 * A response body of any size and shape: no more of it is read than there is memory for, and the event loop gets its turn
 * between pieces. A stream of a hundred thousand small messages would otherwise be worked off in one go.
 */
import { setImmediate } from 'node:timers/promises';

export const responseLimitBytes = 10 * 1024 * 1024;

export class ResponseTooLarge extends Error {
  override name = 'ResponseTooLarge';
}

/** A few hundred small messages. */
const pieceBytes = 8 * 1024;

interface Listener {
  /** Called with why the body ends early, before its reader knows. */
  onFailure(error: unknown): void;
  onEnd(): void;
}

/** Bytes are counted after decompression. */
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
        // The rest is of no use to anybody.
        reader.cancel(error).catch(() => undefined);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
