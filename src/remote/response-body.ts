/**
 * The body of an answer, which may be anything: no more of it is read than there is memory for, and no more at once
 * than others can wait for. A stream of a hundred thousand small messages would otherwise be worked off in one go.
 */
import { setImmediate } from 'node:timers/promises';

export const answerLimitBytes = 10 * 1024 * 1024;

export class AnswerTooLarge extends Error {
  override name = 'AnswerTooLarge';
}

/** A few hundred small messages. */
const breathBytes = 8 * 1024;

interface Heard {
  /** Why the body ends early. */
  failed(error: unknown): void;
  ended(): void;
}

/** Bytes are counted after decompression. How the body ends is heard before its reader knows. */
export function answerBody(
  body: ReadableStream<Uint8Array>,
  { failed, ended }: Heard,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let unread: Uint8Array = new Uint8Array();
  let size = 0;
  let sinceBreath = 0;

  async function next(): Promise<Uint8Array | null> {
    if (unread.byteLength === 0) {
      const { done, value } = await reader.read();
      if (done) return null;
      size += value.byteLength;
      if (size > answerLimitBytes) throw new AnswerTooLarge();
      unread = value;
    }
    const piece = unread.subarray(0, breathBytes);
    unread = unread.subarray(piece.byteLength);
    return piece;
  }

  return new ReadableStream({
    async pull(controller) {
      try {
        if (sinceBreath >= breathBytes) {
          await setImmediate();
          sinceBreath = 0;
        }
        const piece = await next();
        if (piece === null) {
          ended();
          return controller.close();
        }
        sinceBreath += piece.byteLength;
        controller.enqueue(piece);
      } catch (error) {
        failed(error);
        controller.error(error);
        // The rest is of no use to anybody.
        reader.cancel(error).catch(() => undefined);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
