/** Says in the log when the API becomes ready, and what it lacks when it is not. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Lacks } from './serve-api.ts';

const lookEveryMs = 2_000;
const startingMs = 5_000;

/** What is still missing once everything has had the time to come up. */
export async function lacksAtStart(lacks: Lacks): Promise<string[]> {
  for (const deadline = Date.now() + startingMs; ; await sleep(100)) {
    const missing = await lacks();
    if (missing.length === 0 || Date.now() > deadline) return missing;
  }
}

/** Looks until the stack is disposed; says what has changed. `said`: what has been said already. */
export function keepTellingReadiness(
  lacks: Lacks,
  { logger, url, said }: { logger: Logger; url: string; said?: string[] },
  stack: AsyncDisposableStack,
): void {
  let told = said?.join('; ');
  const look = async () => {
    const missing = (await lacks()).join('; ');
    if (missing === told) return;
    told = missing;
    if (missing === '') logger.info(`API ready on ${url}`);
    else logger.warn(`API on ${url} is not ready: ${missing}`);
  };
  const stopping = new AbortController();
  const { signal } = stopping;
  const telling = (async () => {
    while (!signal.aborted) {
      await look();
      await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
    }
  })();
  stack.defer(async () => {
    stopping.abort();
    await telling;
  });
}
