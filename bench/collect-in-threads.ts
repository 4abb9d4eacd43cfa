/**
 * Loaded before everything else, in each thread of a process that is measured: workflows run in threads of their own,
 * whose garbage nobody but they can collect.
 */
import { isMainThread } from 'node:worker_threads';

/** On it, threads are told to collect. */
export const garbageChannel = 'interlude-bench-garbage';

if (!isMainThread) {
  const channel = new BroadcastChannel(garbageChannel);
  channel.onmessage = () => globalThis.gc?.();
  // What follows keeps no process alive (its types do not know).
  (channel as unknown as { unref(): void }).unref();
}
