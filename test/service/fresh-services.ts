/**
 * A service for each test with no connected account and no known tools. Starting one costs as much as several turns, so
 * tests share one until an account was connected.
 */
import type { Service } from './service.ts';

export interface FreshServices extends AsyncDisposable {
  /** Before a test. */
  take(): Promise<Service>;
  /** After a test: ends the waiting turns of its service. */
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
