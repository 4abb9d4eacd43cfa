/** A database of a test's own, removed with it; SQLite unless another is given. */
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Config } from '../../src/platform/config/config.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { testFolder } from '../test-folder.ts';

export async function openTestStorage({
  database: given,
  now = Date.now,
}: { database?: Config['database']; now?: () => number } = {}) {
  const folder = testFolder();
  const database = given ?? { kind: 'sqlite' as const, path: path.join(folder, 'test.db') };
  /** Another process on the same database. */
  const open = async () => {
    const storage = await openStorage(database, { now });
    onTestFinished(() => storage.close());
    return storage;
  };
  return { storage: await open(), database, folder, open };
}

/** A clock that tests turn. */
export function createTurnedClock() {
  let turned = 0;
  return {
    now: () => Date.now() + turned,
    turn(ms: number) {
      turned += ms;
    },
  };
}
