/**
 * Writes a step's events to the turn log while the model streams.
 *
 * The first delta of a part is written at once. What follows is gathered for four times as long as the last write took: an
 * idle database gets every token, a busy one gets fewer and larger writes. There is one write at a time, which keeps the
 * order. Meanwhile the next batch grows, up to a limit at which the model has to wait.
 */
import type { TurnEvent } from '../../turn/event.ts';
import { isDelta } from '../../turn/event.ts';

export interface DeltaWriter {
  /** Waits only while too much is unwritten. Rejects once a write has failed. */
  write(event: TurnEvent): Promise<void>;
  /** Waits for the running write and returns the unwritten events, which the caller must write. */
  rest(): Promise<TurnEvent[]>;
  /** Aborts when a write has failed, so that the model call can stop. */
  failed: AbortSignal;
}

/** Time from the start of a write to the start of the next one, as a multiple of its duration. */
const intervalPerWrite = 4;

interface Options {
  /** Least time from the start of a write to the next, in milliseconds. Default 5. */
  leastMs?: number;
  /** Longest wait for more text, in milliseconds. Default 40. */
  mostMs?: number;
  /** Unwritten characters at which `write` waits. Default 65,536. */
  bound?: number;
}

export function createDeltaWriter(
  append: (events: TurnEvent[]) => Promise<void>,
  { leastMs = 5, mostMs = 40, bound = 65_536 }: Options = {},
): DeltaWriter {
  let waiting: TurnEvent[] = [];
  let waitingLength = 0;
  let isFirstOfPart = false;
  let lastPart: string | undefined;
  let lastWriteAt = 0;
  let intervalMs = leastMs;
  let cancelFlush: (() => void) | undefined;
  let writing: Promise<void> | undefined;
  const failure = new AbortController();
  const failed = failure.signal;

  function flush(): void {
    cancelFlush?.();
    cancelFlush = undefined;
    const batch = waiting;
    waiting = [];
    waitingLength = 0;
    isFirstOfPart = false;
    lastWriteAt = performance.now();
    writing = append(batch)
      .catch((error: unknown) => failure.abort(error))
      .finally(() => {
        const tookMs = performance.now() - lastWriteAt;
        intervalMs = Math.min(mostMs, Math.max(leastMs, intervalPerWrite * tookMs));
        writing = undefined;
        flushWhenDue();
      });
  }

  function flushWhenDue(): void {
    if (writing || failed.aborted || waiting.length === 0) return;
    if (isFirstOfPart) return flush();
    cancelFlush ??= schedule(flush, lastWriteAt + intervalMs - performance.now());
  }

  return {
    failed,
    async write(event) {
      failed.throwIfAborted();
      if (isDelta(event)) {
        isFirstOfPart ||= event.id !== lastPart;
        lastPart = event.id;
        waitingLength += event.delta.length;
      }
      // The first event starts the clock; it may be the only one for a while.
      if (lastWriteAt === 0) lastWriteAt = performance.now();
      addTo(waiting, event);
      flushWhenDue();
      while (waitingLength > bound && writing) await writing;
      failed.throwIfAborted();
    },

    async rest() {
      cancelFlush?.();
      cancelFlush = undefined;
      const events = waiting;
      waiting = [];
      await writing;
      failed.throwIfAborted();
      return events;
    },
  };
}

/** Runs `work` after `ms`, or after the events that are arriving now. Returns a function that cancels it. */
function schedule(work: () => void, ms: number): () => void {
  if (ms > 0) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  }
  const immediate = setImmediate(work);
  return () => clearImmediate(immediate);
}

/** Waiting deltas of one part are merged. */
function addTo(events: TurnEvent[], event: TurnEvent): void {
  const last = events.at(-1);
  if (last && isDelta(last) && isDelta(event) && last.id === event.id) {
    events[events.length - 1] = { ...last, delta: last.delta + event.delta };
  } else {
    events.push(event);
  }
}
