/**
 * A service for each test in which nothing is connected and no tools are known. Starting one costs as much as several
 * turns, so a test hands it on to the next one as long as nobody has been to Tracker; then another one is started.
 */
import type { Service } from './service.ts';

export interface FreshServices extends AsyncDisposable {
  /** Before a test. */
  take(): Promise<Service>;
  /** After a test, whatever service it used in the end: turns that wait are ended. */
  giveBack(used: Service): Promise<void>;
}

export function createFreshServices(start: () => Promise<Service>): FreshServices {
  let kept: Service | undefined;

  async function giveBack(used: Service): Promise<void> {
    if (used !== kept) await used.stop();
    if (!kept) return;
    await kept.endTurns();
    if (await isUntouched(kept)) return;
    const stopping = kept;
    kept = undefined;
    await stopping.stop();
  }

  return {
    take: async () => (kept ??= await start()),
    giveBack,
    [Symbol.asyncDispose]: async () => kept?.stop(),
  };
}

async function isUntouched({ tracker, storage }: Service): Promise<boolean> {
  const accounts = ['alice', 'bob'].map((user) =>
    storage.connections.get({ tenant: 'demo', server: 'tracker', user }),
  );
  return tracker.requests === 0 && (await Promise.all(accounts)).every((account) => !account);
}
