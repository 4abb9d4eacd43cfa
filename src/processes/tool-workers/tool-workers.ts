/**
 * The workers of tools in TypeScript: one for each bundle that this process offers, and for every other one that still
 * has open calls. A call goes on with the code that it began with, so somebody has to run that until the last one is over.
 */
import { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { ToolBundle } from '../../tool-bundles/tool-bundle.ts';
import { toolQueueName } from '../../workflows/tool-queue.ts';
import type { Dependencies } from '../dependencies.ts';
import { keepBundle, readBundle } from './kept-bundles.ts';
import { createRunningWorkers } from './running-workers.ts';
import { createStuckCalls } from './stuck-calls.ts';
import { createToolWorker } from './tool-worker.ts';

/** How long code is kept that nobody runs and that has no open calls. */
const keptMs = 7 * 24 * 60 * 60_000;
/** How often it is written down that code runs. */
const touchEveryMs = 60 * 60_000;
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

/** Runs `offered` until it is stopped. */
export async function startToolWorkers(
  parts: Dependencies,
  connection: NativeConnection,
  offered: ToolBundle[],
): Promise<ToolWorkers> {
  const { config, storage, logger } = parts;
  const { namespace, taskQueue } = config.temporal;
  const client = new Client({ connection, namespace });
  const openCallsOf = (hash: string) =>
    `TaskQueue = '${toolQueueName(taskQueue, hash)}' AND ExecutionStatus = 'Running'`;
  const stuck = createStuckCalls({ client, logger });
  const workers = createRunningWorkers({
    config,
    logger,
    offered,
    async create(bundle) {
      const worker = await createToolWorker(parts, connection, bundle, stuck.check);
      stuck.checkAll(openCallsOf(bundle.hash));
      return worker;
    },
  });
  const own = new Set(offered.map(({ hash }) => hash));
  /** Of code that runs: how many looks in a row have found no open call. */
  const quiet = new Map<string, number>();
  // Starting it writes it down, too.
  let touchedAt = Date.now();
  let stopping: Promise<void> | undefined;

  /** Whether it has to be looked after again soon. */
  async function lookAfter({ hash, usedAt }: { hash: string; usedAt: number }): Promise<boolean> {
    if (stopping) return false;
    const open = (await client.workflow.count(openCallsOf(hash))).count;
    if (workers.isRunning(hash)) {
      const looks = open > 0 ? 0 : (quiet.get(hash) ?? 0) + 1;
      quiet.set(hash, looks);
      if (looks >= quietLooks) await workers.end(hash);
      return workers.isRunning(hash);
    }
    quiet.delete(hash);
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
    await workers.run(bundle);
    logger.info(
      { bundle: hash },
      'open calls of tools began with another version of the code: a worker for it is started',
    );
  }

  function stop(): Promise<void> {
    stopping ??= endAll();
    return stopping;
  }

  async function endAll(): Promise<void> {
    await workers.stop();
    await stuck.idle();
  }

  try {
    for (const bundle of offered) await keepBundle(parts, bundle);
    await workers.runOffered();
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    async look() {
      await workers.runOffered();
      let isBusy = false;
      for (const kept of await storage.toolBundles.list()) {
        if (own.has(kept.hash)) continue;
        const isNeeded = await lookAfter(kept).catch((err: unknown) => {
          logger.error({ err, bundle: kept.hash }, 'the bundle of tools could not be checked or started');
          return true;
        });
        isBusy ||= isNeeded;
      }
      if (Date.now() - touchedAt >= touchEveryMs) {
        await storage.toolBundles.touch(workers.hashes());
        touchedAt = Date.now();
      }
      return isBusy ? 'busy' : 'quiet';
    },
    running: workers.hashes,
    stop,
  };
}
