/**
 * The workers that run in this process, one for each code. Own code is restarted when its worker fails; other code is
 * restarted by the next look (see code-workers.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ActivityInterceptorsFactory, Worker } from '@temporalio/worker';
import { safeFailures } from '../../../activities/safe-failures.ts';
import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { KeptCode } from '../../../storage/tables/versions.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import type { Dependencies } from '../dependencies.ts';

/** A failed worker is restarted after this. */
const restartAfterMs = 1_000;
/** How often the state of the workers is checked: a failed one stops much later. */
const lookAtStateMs = 500;
/** In addition to the time for stopping: a worker that takes longer has a thread that never answers. */
const lateMs = 5_000;

/**
 * How long a worker may take to stop: activities that are cancelled after the grace period have five seconds to end.
 */
export const longestStopMs = (config: Config) => config.shutdownGraceMs + 5_000;

interface Parts<Code> {
  config: Config;
  logger: Logger;
  own: Code[];
  create(code: Code): Promise<CreatedWorker>;
  /** Own code has failed. Absent: it is restarted. */
  onOwnFailure?: ((code: Code, error: unknown) => void) | undefined;
}

export interface CreatedWorker {
  worker: Worker;
  onStopped?: () => void;
}

export function createRunningWorkers<Code extends Pick<KeptCode, 'id' | 'kind'>>({
  config,
  logger,
  own: given,
  create,
  onOwnFailure,
}: Parts<Code>) {
  let own = given;
  const running = new Map<string, { worker: Worker; over: Promise<void> }>();
  /** Failed workers that have not stopped yet. */
  const failed = new Set<Promise<void>>();
  /** Workers that are being created: the SDK may give them tasks before they run. */
  let creating = 0;
  let isStopped = false;
  let starting: Promise<void> | undefined;
  let restarting: NodeJS.Timeout | undefined;

  async function run(code: Code): Promise<void> {
    const { id, kind } = code;
    creating++;
    const { worker, onStopped } = await create(code).finally(() => creating--);
    if (isStopped) return discardWorker(worker);
    let failure: unknown;
    const watch = setInterval(() => {
      if (worker.getState() !== 'RUNNING') replace();
    }, lookAtStateMs);
    const over = worker
      .run()
      .catch((err: unknown) => {
        failure = err;
        logger.error({ err, code: id, kind }, 'a worker stopped');
      })
      .finally(() => {
        onStopped?.();
        replace();
      });
    running.set(id, { worker, over });

    function replace(): void {
      clearInterval(watch);
      // Ended on purpose, or replaced already.
      if (running.get(id)?.worker !== worker) return;
      logger.error({ code: id, kind }, 'a worker has failed');
      running.delete(id);
      if (onOwnFailure && own.includes(code)) return onOwnFailure(code, failure);
      const leaving = untilOver(over, id).finally(() => failed.delete(leaving));
      failed.add(leaving);
      restartLater();
    }
  }

  /** Runs own code that does not run: all of it at the start, later what has failed. */
  function runOwn(): Promise<void> {
    starting ??= start().finally(() => (starting = undefined));
    return starting;

    async function start(): Promise<void> {
      for (const code of own) if (!isStopped && !running.has(code.id)) await runOnceFree(code);
    }
  }

  /** Other own code from now on. If it does not start, the code before stays. */
  async function replaceOwn(codes: Code[]): Promise<void> {
    await starting?.catch(() => undefined);
    const before = own;
    own = codes;
    try {
      await runOwn();
    } catch (error) {
      own = before;
      throw error;
    }
  }

  /** The SDK runs a version only once per process: a replaced worker, as with new certificates, has to stop first. */
  async function runOnceFree(code: Code): Promise<void> {
    for (const start = performance.now(); ; await sleep(lookAtStateMs)) {
      try {
        return await run(code);
      } catch (error) {
        const isTaken = error instanceof Error && error.message.includes('Registration of multiple workers');
        if (!isTaken || isStopped || performance.now() - start > longestStopMs(config) + lateMs) throw error;
      }
    }
  }

  function restartLater(): void {
    clearTimeout(restarting);
    if (isStopped) return;
    const restart = () =>
      void runOwn().catch((err: unknown) => {
        logger.error({ err }, 'a worker could not be started again');
        restartLater();
      });
    restarting = setTimeout(restart, restartAfterMs);
  }

  async function end(id: string): Promise<void> {
    const ended = running.get(id);
    if (!ended) return;
    running.delete(id);
    if (ended.worker.getState() === 'RUNNING') ended.worker.shutdown();
    await untilOver(ended.over, id);
  }

  async function untilOver(over: Promise<void>, id: string): Promise<void> {
    const isOver = over.then(() => true);
    if (await withTimeout(isOver, longestStopMs(config) + lateMs, false)) return;
    logger.error({ code: id }, 'a worker does not stop; this process no longer waits for it');
  }

  return {
    run,
    runOwn,
    replaceOwn,
    isOwn: (id: string) => own.some((code) => code.id === id),
    isRunning: (id: string) => running.has(id),
    ids: () => [...running.keys()],
    /** Only this code of its kind runs, and no other is being started. */
    isAlone: (id: string) => running.size === 1 && running.has(id) && creating === 0,
    /** Running activities. */
    inFlight: () =>
      [...running.values()].reduce((sum, { worker }) => sum + worker.getStatus().numInFlightActivities, 0),
    end,
    /** Waits for running work. */
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(restarting);
      // A worker that is being restarted is stopped as well.
      const started = starting?.catch(() => undefined);
      await Promise.all([...[...running.keys()].map(end), ...failed, started]);
    },
  };
}

/** A worker that never ran keeps its connection open. No effect on one that has run. */
async function discardWorker(worker: Worker): Promise<void> {
  if (worker.getState() !== 'INITIALIZED') return;
  const running = worker.run();
  worker.shutdown();
  await running;
}

export function activityInterceptors({ logger, installation }: Dependencies): ActivityInterceptorsFactory[] {
  return [...(installation ? [installation.activityGuard] : []), safeFailures(logger)];
}
