/**
 * Limits how many calls of this process may hold their activity slot while people think. Over the limit a call ends
 * instead of waiting: it would occupy, while it waits, a slot that other calls need.
 */
export interface HeldCallLimit {
  /**
   * Counts one held call; the returned function releases it. Null when the limit is reached. `end` is called when the
   * process stops, because no answer could reach the call any more.
   */
  acquire(end: () => void): (() => void) | null;
  /** Ends all held calls, and from now on each new one. */
  end(): void;
  /** Aborts then. */
  whenEnding: AbortSignal;
}

export function createHeldCallLimit(limit: number): HeldCallLimit {
  const taken = new Set<() => void>();
  const ending = new AbortController();
  return {
    acquire(end) {
      if (taken.size >= limit) return null;
      // One function for each place, although two calls may end alike.
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
