/**
 * The workers that run in this process, one for each code. The code that this process brings is started again when its worker
 * fails; other code is started again by the next look (see code-workers.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from '@temporalio/worker';
import type { Config } from '../../config/config.ts';
import type { KeptCode } from '../../storage/ports/workflow-code.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import type { Dependencies } from '../dependencies.ts';

/** A worker that failed is started again after this. */
const restartAfterMs = 1_000;
/** How often the state of the workers is checked: one that has failed stops much later. */
const lookAtStateMs = 500;
/** On top of the time that a worker is given to stop: one that still has not has a thread that never answers. */
const lateMs = 5_000;

/** How long a worker may take to stop: activities that are cancelled after the grace period get five seconds to end. */
export const longestStopMs = ({ shutdownGraceMs }: Pick<Config, 'shutdownGraceMs'>) =>
  shutdownGraceMs + 5_000;

export interface RunningWorkers<Code> {
  run(code: Code): Promise<void>;
  /** Own code that does not run: at the start all of it, later what has failed. */
  runOwn(): Promise<void>;
  isRunning(id: string): boolean;
  ids(): string[];
  /** Whether this code runs, and no other of this kind, nor is another being started. */
  isAlone(id: string): boolean;
  /** Activities that are under way. */
  inFlight(): number;
  end(id: string): Promise<void>;
  /** Waits for what is under way. */
  stop(): Promise<void>;
}

interface Parts<Code> extends Pick<Dependencies, 'config' | 'logger'> {
  own: Code[];
  create(code: Code): Promise<CreatedWorker>;
  /** Own code has failed. Absent: it is started again. */
  onOwnFailure?: ((code: Code, error: unknown) => void) | undefined;
}

export interface CreatedWorker {
  worker: Worker;
  onStopped?: () => void;
}

interface Running {
  worker: Worker;
  over: Promise<void>;
}

export function createRunningWorkers<Code extends Pick<KeptCode, 'id' | 'kind'>>({
  config,
  logger,
  own,
  create,
  onOwnFailure,
}: Parts<Code>): RunningWorkers<Code> {
  const running = new Map<string, Running>();
  /** Workers that have failed, and have not stopped yet. */
  const failed = new Set<Promise<void>>();
  /** Of those that are being created: the SDK may hand them tasks before they run. */
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
      // It was ended on purpose, or is replaced already.
      if (running.get(id)?.worker !== worker) return;
      logger.error({ code: id, kind }, 'a worker has failed');
      running.delete(id);
      if (onOwnFailure && own.includes(code)) return onOwnFailure(code, failure);
      const leaving = untilOver({ over, id }).finally(() => failed.delete(leaving));
      failed.add(leaving);
      restartLater();
    }
  }

  function runOwn(): Promise<void> {
    starting ??= start().finally(() => (starting = undefined));
    return starting;

    async function start(): Promise<void> {
      for (const code of own) if (!isStopped && !running.has(code.id)) await runOnceFree(code);
    }
  }

  /** The SDK runs a version once in a process: a worker that is replaced, as with new certificates, has to stop first. */
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
    await untilOver({ over: ended.over, id });
  }

  async function untilOver({ over, id }: Pick<Running, 'over'> & { id: string }): Promise<void> {
    const isOver = over.then(() => true);
    if (await withTimeout(isOver, longestStopMs(config) + lateMs, false)) return;
    logger.error({ code: id }, 'a worker does not stop; this process no longer waits for it');
  }

  return {
    run,
    runOwn,
    isRunning: (id) => running.has(id),
    ids: () => [...running.keys()],
    isAlone: (id) => running.size === 1 && running.has(id) && creating === 0,
    inFlight: () =>
      [...running.values()].reduce((sum, { worker }) => sum + worker.getStatus().numInFlightActivities, 0),
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

/** A worker that never ran keeps its connection from being closed. Does nothing to one that has run. */
async function discardWorker(worker: Worker): Promise<void> {
  if (worker.getState() !== 'INITIALIZED') return;
  const running = worker.run();
  worker.shutdown();
  await running;
}
