/** Starts a process that finds the database or Temporal away, or its login refused, as soon as they let it in. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { databaseLack, temporalLack } from '../service/readiness.ts';
import type { Lack } from '../service/readiness.ts';
import { isDatabaseTrouble } from '../storage/transient-errors.ts';
import { isTemporalOutage } from '../temporal/outage.ts';
import type { InternalServer } from './internal-server.ts';

interface Options {
  logger: Logger;
  /** Aborts when the process stops. */
  signal: AbortSignal;
  internal: Pick<InternalServer, 'report'>;
}

const firstPauseMs = 500;
const longestPauseMs = 10_000;

/**
 * Repeats `start` while an outage makes it fail; any other error is thrown. What a failed attempt has opened is closed by its
 * stack, and what the successful one has opened by `stack`. The reason is logged once, and again when it changes.
 */
export async function startWhenReachable(
  start: (stack: AsyncDisposableStack) => Promise<void>,
  stack: AsyncDisposableStack,
  { logger, signal, internal }: Options,
): Promise<void> {
  let logged: string | undefined;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    signal.throwIfAborted();
    const attempt = new AsyncDisposableStack();
    try {
      await start(attempt);
      stack.use(attempt);
      return;
    } catch (error) {
      await attempt.disposeAsync();
      const lack = lackBehind(error);
      if (lack === null) throw error;
      internal.report(async () => ({ notReady: [lack], warnings: [] }));
      if (lack.detail !== logged) logger.warn({ err: error }, `not started yet, and waiting: ${lack.detail}`);
      logged = lack.detail;
    }
    await sleep(pauseMs, undefined, { signal });
  }
}

function lackBehind(error: unknown): Lack | null {
  if (isDatabaseTrouble(error)) return { name: 'database', detail: databaseLack(withCode(error)) };
  return isTemporalOutage(error) ? { name: 'temporal', detail: temporalLack(withCode(error)) } : null;
}

/** The first one that has a code, of the error and its causes. */
function withCode(error: unknown): unknown {
  if (!(error instanceof Error) || ('code' in error && error.code !== undefined)) return error;
  return error.cause === undefined ? error : withCode(error.cause);
}
