import { setImmediate } from 'node:timers/promises';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { Mark } from '../../../src/storage/schema/question-tables.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { Subject } from '../contract.ts';

export interface Clock extends AsyncDisposable {
  storage: Storage;
  other: Storage;
  /** That `storage` was given to deliver. */
  marks: Mark[];
  pass(ms: number): void;
}

/** Two processes on a database of their own, whose clock is set by the test. */
export async function openClock({ fresh }: Subject): Promise<Clock> {
  const database = await fresh();
  let at = Date.now();
  const now = () => at;
  const marks: Mark[] = [];
  const storage = await openStorage(database, { now, outbox: (given) => void marks.push(...given) });
  const other = await openStorage(database, { now });
  return {
    storage,
    other,
    marks,
    pass: (ms) => void (at += ms),
    async [Symbol.asyncDispose]() {
      await storage.close();
      await other.close();
    },
  };
}

/** Two rows of the same millisecond of the storage's clock have no order. */
export async function nextMillisecond(storage: Storage): Promise<void> {
  for (const start = storage.now(); storage.now() <= start;) await setImmediate();
}
