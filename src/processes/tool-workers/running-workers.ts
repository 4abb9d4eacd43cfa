/**
 * The workers of tools that run in this process, one for each bundle. One that fails is left to come to its end by itself;
 * what this process offers is started again.
 */
import type { Worker } from '@temporalio/worker';
import { withTimeout } from '../../time/with-timeout.ts';
import type { ToolBundle } from '../../tool-bundles/tool-bundle.ts';
import type { Dependencies } from '../dependencies.ts';
import { discardWorker } from '../turn-worker.ts';
import { longestStopMs } from './tool-worker.ts';

/** A worker that failed is started again after this. */
const restartAfterMs = 1_000;
/** How often the state of the workers is checked: one that has failed stops much later. */
const lookAtStateMs = 500;
/** On top of the time that a worker is given to stop: one that still has not has a thread that never answers. */
const lateMs = 5_000;

export interface RunningWorkers {
  run(bundle: ToolBundle): Promise<void>;
  /** Those offered that do not run: at the start all of them, later one whose worker has failed. */
  runOffered(): Promise<void>;
  isRunning(hash: string): boolean;
  hashes(): string[];
  end(hash: string): Promise<void>;
  /** Waits for what is under way. */
  stop(): Promise<void>;
}

interface Parts extends Pick<Dependencies, 'config' | 'logger'> {
  offered: ToolBundle[];
  create(bundle: ToolBundle): Promise<Worker>;
}

interface Running {
  worker: Worker;
  over: Promise<void>;
}

export function createRunningWorkers({ config, logger, offered, create }: Parts): RunningWorkers {
  const running = new Map<string, Running>();
  /** Workers that have failed, and have not stopped yet. */
  const failed = new Set<Promise<void>>();
  let isStopped = false;
  let starting: Promise<void> | undefined;
  let restarting: NodeJS.Timeout | undefined;

  async function run(bundle: ToolBundle): Promise<void> {
    const { hash } = bundle;
    const worker = await create(bundle);
    if (isStopped) return discardWorker(worker);
    const watch = setInterval(() => {
      if (worker.getState() !== 'RUNNING') replace();
    }, lookAtStateMs);
    const over = worker
      .run()
      .catch((err: unknown) => logger.error({ err, bundle: hash }, 'a worker of tools stopped'))
      .finally(replace);
    running.set(hash, { worker, over });

    function replace(): void {
      clearInterval(watch);
      // It was told to stop, or is replaced already.
      if (running.get(hash)?.worker !== worker) return;
      logger.error({ bundle: hash }, 'a worker of tools has failed, and is started again');
      running.delete(hash);
      const leaving = untilOver({ over, hash }).finally(() => failed.delete(leaving));
      failed.add(leaving);
      restartLater();
    }
  }

  function runOffered(): Promise<void> {
    starting ??= start().finally(() => (starting = undefined));
    return starting;

    async function start(): Promise<void> {
      for (const bundle of offered) if (!isStopped && !running.has(bundle.hash)) await run(bundle);
    }
  }

  function restartLater(): void {
    clearTimeout(restarting);
    if (isStopped) return;
    const restart = () =>
      void runOffered().catch((err: unknown) => {
        logger.error({ err }, 'a worker of tools could not be started again');
        restartLater();
      });
    restarting = setTimeout(restart, restartAfterMs);
  }

  async function end(hash: string): Promise<void> {
    const ended = running.get(hash);
    if (!ended) return;
    running.delete(hash);
    if (ended.worker.getState() === 'RUNNING') ended.worker.shutdown();
    await untilOver({ over: ended.over, hash });
  }

  async function untilOver({ over, hash }: Pick<Running, 'over'> & { hash: string }): Promise<void> {
    const isOver = over.then(() => true);
    if (await withTimeout(isOver, longestStopMs(config) + lateMs, false)) return;
    logger.error({ bundle: hash }, 'a worker of tools does not stop, and is no longer waited for');
  }

  return {
    run,
    runOffered,
    isRunning: (hash) => running.has(hash),
    hashes: () => [...running.keys()],
    end,
    async stop() {
      isStopped = true;
      clearTimeout(restarting);
      // One that is just being started again is not left behind.
      const started = starting?.catch(() => undefined);
      await Promise.all([...[...running.keys()].map(end), ...failed, started]);
    },
  };
}
