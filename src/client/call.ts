/** One answer, however often it takes to get it. */
import { pause, retryDelayMs } from './retry.ts';
import type { Timing } from './retry.ts';
import { asInterludeError, ConnectionLost } from './send.ts';
import type { Call, Send } from './send.ts';

export interface CallOptions {
  signal?: AbortSignal;
  /** Tries until `signal` aborts, instead of for `timing.giveUpMs`. */
  patient?: boolean;
}

export type Ask = <T>(request: Call, options?: CallOptions) => Promise<T>;

export function createAsk(send: Send, timing: Timing): Ask {
  return async <T>(request: Call, { signal, patient = false }: CallOptions = {}) => {
    const deadline = patient ? Infinity : Date.now() + timing.giveUpMs;
    let loss: ConnectionLost | undefined;
    for (let attempt = 0; ; attempt += 1) {
      const limit = AbortSignal.timeout(Math.min(timing.giveUpMs, Math.max(1, deadline - Date.now())));
      try {
        const response = await send(request, signal ? AbortSignal.any([signal, limit]) : limit);
        return (await response.json().catch(unreadable)) as T;
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof ConnectionLost)) throw error;
        // An attempt that we cut short ourselves says less than the one before it.
        if (!limit.aborted) loss = error;
        const delayMs = Math.max(error.retryAfterMs, retryDelayMs(attempt, timing));
        if (Date.now() + delayMs >= deadline) throw asInterludeError(loss ?? error);
        await pause(delayMs, signal);
      }
    }
  };
}

/** An answer that breaks off is worth another attempt. */
export function unreadable(cause: unknown): never {
  throw new ConnectionLost('The answer could not be read.', { cause });
}
