/**
 * Divides the slots of one process between callers, so that none takes all of them. Each slot is taken under some names, and
 * each name has a share. A name that was slow last time gets one slot until it is fast again.
 */
interface FairSlots {
  /** `names`: one for each of the `shares`. Null while all slots are taken, or one of the names has used its share. */
  take(names: string[]): Slot | null;
}

export interface Slot {
  /** `slow`: the name that was slow. */
  release(slow?: string): void;
}

/** How many slow names are remembered; the oldest are forgotten. */
const mostSlow = 10_000;

export function createFairSlots({ total, shares }: { total: number; shares: number[] }): FairSlots {
  const taken = new Map<string, number>();
  const slow = new Set<string>();
  let free = total;

  function add(name: string, by: 1 | -1): void {
    const left = (taken.get(name) ?? 0) + by;
    if (left > 0) taken.set(name, left);
    else taken.delete(name);
  }

  function remember(name: string): void {
    slow.add(name);
    const [oldest] = slow;
    if (slow.size > mostSlow && oldest !== undefined) slow.delete(oldest);
  }

  return {
    take(names) {
      const hasRoom = (name: string, index: number) =>
        (taken.get(name) ?? 0) < (slow.has(name) ? 1 : (shares[index] ?? 0));
      if (free === 0 || !names.every(hasRoom)) return null;
      free -= 1;
      for (const name of names) add(name, 1);
      return {
        release(wasSlow) {
          free += 1;
          for (const name of names) {
            add(name, -1);
            slow.delete(name);
          }
          if (wasSlow !== undefined) remember(wasSlow);
        },
      };
    },
  };
}
