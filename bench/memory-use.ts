import { setTimeout as sleep } from 'node:timers/promises';
import { bytesInUse, garbageChannel } from './collect-in-threads.ts';

/** In bytes. */
export interface MemoryUse {
  resident: number;
  /** What is in use on the heaps of all threads and beside them: changes even where the process has room to spare. */
  inUse: number;
}

/** Once everything is collected that can be, in every thread. Needs `--expose-gc`. */
export async function memoryUse(): Promise<MemoryUse> {
  const threads = new BroadcastChannel(garbageChannel);
  let inThreads = 0;
  threads.onmessage = ({ data }: { data: unknown }) => {
    if (typeof data === 'number') inThreads += data;
  };
  for (let round = 0; round < 3; round++) {
    threads.postMessage('collect');
    globalThis.gc?.();
    await sleep(100);
  }
  threads.postMessage('count');
  await sleep(100);
  threads.close();
  return { resident: process.memoryUsage().rss, inUse: bytesInUse() + inThreads };
}
