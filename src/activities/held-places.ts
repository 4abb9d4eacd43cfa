/**
 * How many calls of this process may keep their slot while people think. Over the limit a call ends instead: one that
 * waited for a place would wait in the slot of somebody who could work.
 */
export interface HeldPlaces {
  /** A place for one call; the function gives it back. Null when all are taken. */
  take(): (() => void) | null;
}

export function createHeldPlaces(limit: number): HeldPlaces {
  let taken = 0;
  return {
    take() {
      if (taken >= limit) return null;
      taken++;
      return () => void taken--;
    },
  };
}
