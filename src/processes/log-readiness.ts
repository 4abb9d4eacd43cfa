/** Logs when the API becomes ready, and why it is not. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { NotReadyReasons } from './serve-api.ts';

const lookEveryMs = 2_000;
const startingMs = 5_000;

/** Why the API is not ready once everything has had time to start; empty when it is. */
export async function reasonsAtStart(notReadyReasons: NotReadyReasons): Promise<string[]> {
  for (const deadline = Date.now() + startingMs; ; await sleep(100)) {
    const reasons = await notReadyReasons();
    if (reasons.length === 0 || Date.now() > deadline) return reasons;
  }
}

/** Logs each change until the stack is disposed. `said`: the reasons that have been shown already. */
export function logReadiness(
  notReadyReasons: NotReadyReasons,
  { logger, url, said }: { logger: Logger; url: string; said?: string[] },
  stack: AsyncDisposableStack,
): void {
  let logged = said?.join('; ');
  const look = async () => {
    const reasons = (await notReadyReasons()).join('; ');
    if (reasons === logged) return;
    logged = reasons;
    if (reasons === '') logger.info(`API ready on ${url}`);
    else logger.warn(`API on ${url} is not ready: ${reasons}`);
  };
  const stopping = new AbortController();
  const { signal } = stopping;
  const looping = (async () => {
    while (!signal.aborted) {
      await look();
      await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
    }
  })();
  stack.defer(async () => {
    stopping.abort();
    await looping;
  });
}
