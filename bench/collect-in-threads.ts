/**
 * Loaded before everything else, in each thread of a process that is measured: workflows run in threads of their own,
 * whose heaps only they can collect and count.
 */
import { isMainThread } from 'node:worker_threads';

/** Each thread collects its garbage when it gets `collect`, and answers `count` with the bytes in use on its heaps. */
export const garbageChannel = 'interlude-bench-garbage';

export function bytesInUse(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

if (!isMainThread) {
  const channel = new BroadcastChannel(garbageChannel);
  channel.onmessage = ({ data }: { data: unknown }) => {
    if (data === 'collect') globalThis.gc?.();
    if (data === 'count') channel.postMessage(bytesInUse());
  };
  // What follows keeps no process alive (its types do not know).
  (channel as unknown as { unref(): void }).unref();
}
