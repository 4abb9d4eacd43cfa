/**
 * A loop over work that is due in the database. Any number of processes may run it: a claim is a lease, which keeps an item
 * from other processes and runs out if its process dies. A process works on a bounded number of items at once; a failed item
 * is claimed again later.
 */
import type { Logger } from 'pino';

export interface LeasedWork<Item> {
  /** For the log. */
  name: string;
  /** The interval between two claims, unless there was more work than free places. */
  everyMs: number;
  /** Before the first claim. */
  firstAfterMs?: number;
  atOnce: number;
  /** Claims at most `free` items. */
  claim(free: number, underWay: Item[]): Promise<Item[]>;
  /** `signal` aborts when the loop stops, or the item is no longer worth the work. */
  work(item: Item, signal: AbortSignal): Promise<void>;
  /** For work that may outlast a claim: renews the claims, and returns the items that are still worth the work. */
  renew?: { everyMs: number; claims(underWay: Item[]): Promise<ReadonlySet<Item>> };
}

export interface LeasedLoop {
  /** Something may be due: claims as soon as a place is free. */
  wake(): void;
  /** Aborts the work under way and waits for it. */
  stop(): Promise<void>;
}

/** When all places are taken: long enough for several to become free. */
const fullPauseMs = 50;

export function startLeasedLoop<Item>(
  { name, everyMs, firstAfterMs, atOnce, claim, work, renew }: LeasedWork<Item>,
  logger: Logger,
): LeasedLoop {
  const stopping = new AbortController();
  const underWay = new Map<Item, { aborted: AbortController; done: Promise<void> }>();
  let freed = Promise.withResolvers<void>();
  let isWoken = false;
  let endPause = () => undefined as void;
  const warn = (error: unknown) => logger.warn({ err: error, loop: name }, 'a step of a loop failed');

  function begin(item: Item): void {
    const aborted = new AbortController();
    const done = work(item, aborted.signal)
      .catch(warn)
      .finally(() => {
        underWay.delete(item);
        freed.resolve();
      });
    underWay.set(item, { aborted, done });
  }

  async function run(): Promise<void> {
    if (firstAfterMs !== undefined) await pause(firstAfterMs);
    while (!stopping.signal.aborted) {
      freed = Promise.withResolvers();
      isWoken = false;
      const free = atOnce - underWay.size;
      const items = free > 0 ? await claim(free, [...underWay.keys()]).catch(warn) : undefined;
      for (const item of items ?? []) begin(item);
      if (underWay.size >= atOnce) await freed.promise;
      const pauseMs = free === 0 || items?.length === free ? fullPauseMs : everyMs;
      if (!isWoken && !stopping.signal.aborted) await pause(pauseMs);
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function renewClaims(): Promise<void> {
    if (underWay.size === 0) return;
    const worthIt = await renew?.claims([...underWay.keys()]);
    for (const [item, { aborted }] of underWay) if (worthIt?.has(item) === false) aborted.abort();
  }

  let renewing: Promise<void> = Promise.resolve();
  const again = () => {
    renewing = renewClaims().catch(warn);
  };
  const timer = renew && setInterval(again, renew.everyMs).unref();
  const running = run();

  return {
    wake() {
      isWoken = true;
      endPause();
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      endPause();
      freed.resolve();
      for (const { aborted } of underWay.values()) aborted.abort();
      await Promise.all([running, renewing]);
      for (const { aborted } of underWay.values()) aborted.abort();
      await Promise.all([...underWay.values()].map(({ done }) => done));
    },
  };
}
