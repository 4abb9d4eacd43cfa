import { setTimeout as sleep } from 'node:timers/promises';
import { garbageChannel } from './collect-in-threads.ts';

/** In bytes. */
export interface MemoryUse {
  resident: number;
  /** What is in use of it on the heap and beside it: changes even where the process has room to spare. */
  inUse: number;
}

/** Once everything is collected that can be, in every thread. Needs `--expose-gc`. */
export async function memoryUse(): Promise<MemoryUse> {
  const threads = new BroadcastChannel(garbageChannel);
  for (let round = 0; round < 3; round++) {
    threads.postMessage('collect');
    globalThis.gc?.();
    await sleep(100);
  }
  threads.close();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { resident: rss, inUse: heapUsed + external };
}
