/** Logs when a process becomes ready, and why it is not. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Readiness } from '../service/readiness.ts';

const lookEveryMs = 2_000;
const startingMs = 5_000;

/** What is missing once everything has had time to start; empty when nothing is. */
export async function reasonsAtStart(readiness: () => Promise<Readiness>): Promise<string[]> {
  for (const deadline = performance.now() + startingMs; ; await sleep(100)) {
    const reasons = reasonsIn(await readiness());
    if (reasons.length === 0 || performance.now() > deadline) return reasons;
  }
}

interface Options {
  logger: Logger;
  /** The process: `API on http://…`. */
  name: string;
  /** The reasons that have been shown already. */
  said?: string[];
}

/** Logs each change until the stack is disposed. */
export function logReadiness(
  readiness: () => Promise<Readiness>,
  { logger, name, said }: Options,
  stack: AsyncDisposableStack,
): void {
  let logged = said?.join('; ');
  const look = async () => {
    const now = await readiness();
    const reasons = reasonsIn(now).join('; ');
    if (reasons === logged) return;
    logged = reasons;
    if (now.notReady.length > 0) logger.warn(`${name} is not ready: ${reasons}`);
    else if (reasons === '') logger.info(`${name} is ready`);
    else logger.warn(`${name} is ready, but: ${reasons}`);
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

function reasonsIn({ notReady, warnings }: Readiness): string[] {
  return [...notReady, ...warnings].map(({ detail }) => detail);
}
