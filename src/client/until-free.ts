/** Sends a message to a conversation whose turn has been told to stop, which takes that turn a moment. */
import { InterludeError } from './interlude-error.ts';
import { pause } from './retry.ts';
import type { Timing } from './retry.ts';
import type { Send } from './send.ts';

/** Gives up with what the service said last. */
export function untilFree(send: Send, { giveUpMs, firstRetryMs }: Timing): Send {
  return async (call, signal) => {
    const deadline = Date.now() + giveUpMs;
    for (;;) {
      try {
        return await send(call, signal);
      } catch (error) {
        if (!(error instanceof InterludeError) || error.code !== 'turn_in_progress') throw error;
        const delayMs = error.retryAfterMs ?? firstRetryMs;
        if (Date.now() + delayMs >= deadline) throw error;
        await pause(delayMs, signal);
      }
    }
  };
}
