/**
 * Terminates threads that hang. Temporal's SDK runs workflows in threads, cuts off code that keeps one busy for seconds, and
 * relies on a failing thread to exit. V8 drops a cut-off that arrives while it notifies Node of a promise that is rejected and
 * has no handler yet: the code keeps running, with or without an error from the thread, a request to terminate is dropped in
 * the same way, and the SDK waits for the thread's reply. Once the thread has exited, the SDK lets its worker fail.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';

interface Options {
  logger: Pick<Logger, 'error'>;
  /** A thread that is neither idle nor sends a message for so long is terminated. Well above what a workflow task may take. */
  silentMs?: number;
}

const looks = 20;
/** A request to terminate can be dropped like a cut-off, so it is repeated until the thread exits. */
const askAgainMs = 50;

const starting = new AsyncLocalStorage<Required<Options>>();

/** Watches the threads that `start` starts, until they exit. */
export function withoutHungThreads<T>({ logger, silentMs = 30_000 }: Options, start: () => T): T {
  if (!process.listeners('worker').includes(onStarted)) process.on('worker', onStarted);
  return starting.run({ logger, silentMs }, start);
}

function onStarted(thread: Worker): void {
  const options = starting.getStore();
  if (options) lookAfter(thread, options);
}

function lookAfter(thread: Worker, { logger, silentMs }: Required<Options>): void {
  const { threadId } = thread;
  let silentLooks = 0;
  let idle = 0;
  let ending: NodeJS.Timeout | undefined;

  // Looks are counted instead of time, which also passes while this process is stopped.
  const looking = setInterval(() => {
    const { idle: idleNow, active } = thread.performance.eventLoopUtilization();
    const isBusy = active > 0 && idleNow === idle;
    idle = idleNow;
    silentLooks = isBusy ? silentLooks + 1 : 0;
    if (silentLooks < looks) return;
    logger.error({ threadId, silentMs }, 'a thread of workflows hangs and is terminated');
    end();
  }, silentMs / looks).unref();

  function end(): void {
    clearInterval(looking);
    ending ??= setInterval(() => void thread.terminate(), askAgainMs).unref();
  }

  // Each request to end listens for the end.
  thread.setMaxListeners(0);
  thread.on('message', () => (silentLooks = 0));
  thread.once('error', end);
  thread.once('exit', () => {
    clearInterval(looking);
    clearInterval(ending);
  });
}
