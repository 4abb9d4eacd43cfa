/**
 * How many calls of this process may keep their slot while people think. Over the limit a call ends instead: one that
 * waited for a place would wait in the slot of somebody who could work.
 */
export interface HeldPlaces {
  /**
   * A place for one call; the function gives it back. Null when all are taken. `end`: called when the process stops,
   * as nobody's answer would reach the call any more.
   */
  take(end: () => void): (() => void) | null;
  /** Ends all calls that wait for people, and from now on each that begins to. */
  end(): void;
}

export function createHeldPlaces(limit: number): HeldPlaces {
  const taken = new Set<() => void>();
  let isEnded = false;
  return {
    take(end) {
      if (taken.size >= limit) return null;
      // One function for each place, although two calls may end alike.
      const place = () => end();
      taken.add(place);
      if (isEnded) end();
      return () => void taken.delete(place);
    },
    end() {
      isEnded = true;
      for (const end of taken) end();
    },
  };
}
