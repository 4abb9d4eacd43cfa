/**
 * The workers of tools in TypeScript: one for each bundle that this process offers, and for every other one that still
 * has open calls. A call goes on with the code that it began with, so somebody has to run that until the last one is over.
 */
import { Client } from '@temporalio/client';
import type { NativeConnection, Worker } from '@temporalio/worker';
import type { ToolBundle } from '../../tool-bundles/tool-bundle.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import { toolQueueName } from '../../workflows/tool-queue.ts';
import type { Dependencies } from '../dependencies.ts';
import { keepBundle, readBundle } from './kept-bundles.ts';
import { createStuckCalls } from './stuck-calls.ts';
import { discardWorker } from '../turn-worker.ts';
import { createToolWorker, longestStopMs } from './tool-worker.ts';

/** How long code is kept that nobody runs and that has no open calls. */
const keptMs = 7 * 24 * 60 * 60_000;
/** How often it is written down that code runs. */
const touchEveryMs = 60 * 60_000;
/** A worker that failed is started again after this. */
const restartAfterMs = 1_000;
/** How often is looked whether one has failed. What it leaves behind comes to an end much later. */
const lookAtStateMs = 500;
/** On top of the time that a worker is given to stop: one that still has not has a thread that never answers. */
const lateMs = 5_000;
/** Temporal lists what has just begun with a delay: only a second look without open calls is believed. */
const quietLooks = 2;

export interface ToolWorkers {
  /**
   * Looks for open calls of code that this process does not offer, and for code that is not needed any more. `quiet`: there
   * is no such call.
   */
  look(): Promise<'busy' | 'quiet'>;
  /** The hashes of the code that runs here. */
  running(): string[];
  /** Takes nothing new from now on, and waits for what is under way. Again waits for the same. */
  stop(): Promise<void>;
}

interface Running {
  worker: Worker;
  over: Promise<void>;
  /** How many looks in a row have found no open call. */
  quiet: number;
}

/** Runs `offered` until it is stopped. */
export async function startToolWorkers(
  parts: Dependencies,
  connection: NativeConnection,
  offered: ToolBundle[],
): Promise<ToolWorkers> {
  const { config, storage, logger } = parts;
  const { namespace, taskQueue } = config.temporal;
  const client = new Client({ connection, namespace });
  const running = new Map<string, Running>();
  const own = new Set(offered.map(({ hash }) => hash));
  const stuck = createStuckCalls({ client, logger });
  /** Workers that have failed, and have not stopped yet. */
  const failed = new Set<Promise<void>>();
  // Starting it writes it down, too.
  let touchedAt = Date.now();
  let stopping: Promise<void> | undefined;
  let starting: Promise<void> | undefined;
  let restarting: NodeJS.Timeout | undefined;

  async function run(bundle: ToolBundle): Promise<void> {
    const { hash } = bundle;
    const worker = await createToolWorker(parts, connection, bundle, stuck.check);
    if (stopping) return discardWorker(worker);
    const watch = setInterval(() => {
      if (worker.getState() !== 'RUNNING') replace();
    }, lookAtStateMs);
    const over = worker
      .run()
      .catch((err: unknown) => logger.error({ err, bundle: hash }, 'a worker of tools stopped'))
      .finally(replace);
    running.set(hash, { worker, over, quiet: 0 });
    stuck.checkAll(openCallsOf(hash));

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

  /** Those that do not run: at the start all of them, later one whose worker has failed. */
  function runOffered(): Promise<void> {
    starting ??= start().finally(() => (starting = undefined));
    return starting;

    async function start(): Promise<void> {
      for (const bundle of offered) if (!stopping && !running.has(bundle.hash)) await run(bundle);
    }
  }

  function restartLater(): void {
    clearTimeout(restarting);
    if (stopping) return;
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
    logger.error({ bundle: hash }, 'a worker of tools does not stop, and is left behind');
  }

  function openCallsOf(hash: string): string {
    return `TaskQueue = '${toolQueueName(taskQueue, hash)}' AND ExecutionStatus = 'Running'`;
  }

  /** Whether it has to be looked after again soon. */
  async function lookAfter({ hash, usedAt }: { hash: string; usedAt: number }): Promise<boolean> {
    if (stopping) return false;
    const open = (await client.workflow.count(openCallsOf(hash))).count;
    const ran = running.get(hash);
    if (ran) {
      ran.quiet = open > 0 ? 0 : ran.quiet + 1;
      if (ran.quiet >= quietLooks) await end(hash);
      return running.has(hash);
    }
    if (open > 0) {
      await runAgain(hash);
      return true;
    }
    const before = Date.now() - keptMs;
    if (usedAt < before) await storage.toolBundles.drop(hash, before);
    return false;
  }

  async function runAgain(hash: string): Promise<void> {
    const bundle = await readBundle(parts, hash);
    if (!bundle) return;
    await run(bundle);
    logger.info(
      { bundle: hash },
      'calls of tools are open that began with code of another time: it runs, too',
    );
  }

  function stop(): Promise<void> {
    stopping ??= endAll();
    return stopping;
  }

  async function endAll(): Promise<void> {
    clearTimeout(restarting);
    // One that is just being started again is not left behind.
    const started = starting?.catch(() => undefined);
    await Promise.all([...[...running.keys()].map(end), ...failed, started]);
    await stuck.idle();
  }

  try {
    for (const bundle of offered) await keepBundle(parts, bundle);
    await runOffered();
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    async look() {
      await runOffered();
      let isBusy = false;
      for (const kept of await storage.toolBundles.list()) {
        if (own.has(kept.hash)) continue;
        const isNeeded = await lookAfter(kept).catch((err: unknown) => {
          logger.error({ err, bundle: kept.hash }, 'could not look after code of tools');
          return true;
        });
        isBusy ||= isNeeded;
      }
      if (Date.now() - touchedAt >= touchEveryMs) {
        await storage.toolBundles.touch([...running.keys()]);
        touchedAt = Date.now();
      }
      return isBusy ? 'busy' : 'quiet';
    },
    running: () => [...running.keys()],
    stop,
  };
}
