/**
 * Writes a step's events to the turn log while the model speaks.
 *
 * The first delta of a part is written at once, so that its reader waits for nothing. What follows is gathered for
 * four times as long as the last write took: an idle database passes every token on, a busy one gets fewer and larger
 * writes. One write at a time keeps the order, and while a write lasts the next batch simply grows, up to a bound at
 * which the model has to wait.
 */
import type { TurnEvent } from '../../turn/event.ts';

export interface DeltaWriter {
  /** Takes an event. Waits only while too much is unwritten; rejects once a write has failed. */
  write(event: TurnEvent): Promise<void>;
  /** Waits for the write under way and hands back what is not written yet, for the caller to write. */
  rest(): Promise<TurnEvent[]>;
  /** Aborts when a write has failed: there is no use in listening to the model any longer. */
  failed: AbortSignal;
}

/** From the beginning of a write to the next one, as a multiple of its duration. */
const intervalPerWrite = 4;

interface Options {
  /** Least time from the beginning of a write to the next, in milliseconds. Default 5. */
  leastMs?: number;
  /** Most time that is waited for more text, in milliseconds, however slow the database is. Default 40. */
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
      // The very first event starts the clock: it may be the only one for a while.
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

/** After `ms`, or at once except for what is coming in at this moment. Returns how to cancel it. */
function schedule(work: () => void, ms: number): () => void {
  if (ms > 0) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  }
  const immediate = setImmediate(work);
  return () => clearImmediate(immediate);
}

type Delta = Extract<TurnEvent, { type: 'text-delta' | 'reasoning-delta' }>;

function isDelta(event: TurnEvent): event is Delta {
  return event.type === 'text-delta' || event.type === 'reasoning-delta';
}

/** Deltas of one part that wait together become one. */
function addTo(events: TurnEvent[], event: TurnEvent): void {
  const last = events.at(-1);
  if (last && isDelta(last) && isDelta(event) && last.id === event.id) {
    events[events.length - 1] = { ...last, delta: last.delta + event.delta };
  } else {
    events.push(event);
  }
}
