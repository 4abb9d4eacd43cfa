/**
 * Shares out what one process does at a time, so that no caller takes all of it: each slot is taken under some names, and each
 * name has a share. A name that was slow last time has one slot until it is quick again.
 */
export interface FairSlots {
  /** Null while all slots are taken, or one of these names has its share. */
  take(names: string[]): Slot | null;
}

export interface Slot {
  /** `slow`: the one of its names that made the slot wait. */
  release(slow?: string): void;
}

/** That are remembered; of more, the oldest are forgotten. */
const mostSlow = 10_000;

export function createFairSlots({ total, each }: { total: number; each: number }): FairSlots {
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
      const hasRoom = (name: string) => (taken.get(name) ?? 0) < (slow.has(name) ? 1 : each);
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
