/** Reads one turn for one consumer, and does as that wants when it no longer waits for the answer. */
import type { TurnView } from '../client/turn-view.ts';

export interface TurnReader {
  /** Undefined after the last view. Rejects as soon as the consumer aborts. */
  next(): Promise<TurnView | undefined>;
  /** The turn goes on. */
  leave(): void;
}

interface TurnReaderOptions {
  start: (signal: AbortSignal) => AsyncGenerator<TurnView, void>;
  /** Stops the turn, as soon as there is one. */
  cancel: () => Promise<unknown>;
  /** The consumer's. */
  abortSignal: AbortSignal | undefined;
  onAbort: 'leave' | 'cancel';
}

export function openTurnReader({ start, cancel, abortSignal, onAbort }: TurnReaderOptions): TurnReader {
  const reading = new AbortController();
  const views = start(reading.signal);
  let giveUp: (reason: unknown) => void = () => undefined;

  const stopListening = () => abortSignal?.removeEventListener('abort', abort);

  function leave(): void {
    stopListening();
    reading.abort(abortSignal?.reason);
    views.return().catch(() => undefined);
  }

  function abort(): void {
    giveUp(abortSignal?.reason);
    if (onAbort === 'leave') leave();
    // Nobody waits for it any more, so that there is nobody to tell if it fails.
    else
      void cancel()
        .catch(() => undefined)
        .finally(leave);
  }

  async function read(): Promise<TurnView | undefined> {
    const view = (await views.next()).value ?? undefined;
    if (view?.status !== 'running') stopListening();
    return view;
  }

  abortSignal?.addEventListener('abort', abort, { once: true });

  return {
    leave,
    next() {
      return new Promise((resolve, reject) => {
        giveUp = reject;
        abortSignal?.throwIfAborted();
        read().then(resolve, (error: unknown) => {
          stopListening();
          reject(error);
        });
      });
    },
  };
}
