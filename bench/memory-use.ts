import { setTimeout as sleep } from 'node:timers/promises';

/** In bytes. */
export interface MemoryUse {
  resident: number;
  /** What is in use of it on the heap and beside it: changes even where the process has room to spare. */
  inUse: number;
}

/** Once everything is collected that can be. Needs `--expose-gc`. */
export async function memoryUse(): Promise<MemoryUse> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await sleep(100);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { resident: rss, inUse: heapUsed + external };
}
