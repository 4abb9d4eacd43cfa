/**
 * Limits how many calls of this process may hold their activity slot while people think. A call beyond the limit ends,
 * because while it waited it would take a slot that other calls need.
 */
export interface HeldCallLimit {
  /**
   * Counts one held call; the returned function releases it. Null if the limit is reached. `end` is called when the
   * process stops, because then no answer can reach the call.
   */
  acquire(end: () => void): (() => void) | null;
  /** Ends all held calls, and each new one from now on. */
  end(): void;
  /** Aborts when `end` is called. */
  whenEnding: AbortSignal;
}

export function createHeldCallLimit(limit: number): HeldCallLimit {
  const taken = new Set<() => void>();
  const ending = new AbortController();
  return {
    acquire(end) {
      if (taken.size >= limit) return null;
      // A new function for each place, because two calls may pass the same one.
      const place = () => end();
      taken.add(place);
      if (ending.signal.aborted) end();
      return () => void taken.delete(place);
    },
    whenEnding: ending.signal,
    end() {
      ending.abort();
      for (const end of taken) end();
    },
  };
}
