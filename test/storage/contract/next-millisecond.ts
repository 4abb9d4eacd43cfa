import { setImmediate } from 'node:timers/promises';
import type { Storage } from '../../../src/storage/storage.ts';

/** Two rows of the same millisecond of the storage's clock have no order. */
export async function nextMillisecond(storage: Storage): Promise<void> {
  for (const start = storage.now(); storage.now() <= start;) await setImmediate();
}
