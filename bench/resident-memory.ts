import { setTimeout as sleep } from 'node:timers/promises';

/** In bytes, once everything is collected that can be. Needs `--expose-gc`. */
export async function residentMemory(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await sleep(100);
  }
  return process.memoryUsage.rss();
}
