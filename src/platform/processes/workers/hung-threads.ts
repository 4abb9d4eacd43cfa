/**
 * Terminates hung threads. Temporal's SDK runs workflows in threads, interrupts code that keeps a thread busy for
 * seconds, and relies on a failing thread to exit. V8 loses an interrupt that arrives while it notifies Node of a
 * rejected promise without a handler: the code keeps running, with or without an error from the thread, a request to
 * terminate is lost in the same way, and the SDK waits for the thread's reply. Once the thread has exited, the SDK
 * fails its worker.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';

interface Options {
  logger: Pick<Logger, 'error'>;
  /**
   * A thread that is neither idle nor sends a message for this long is terminated. Far more than a workflow task may
   * take.
   */
  silentMs?: number;
}

const looks = 20;
/** A request to terminate can be lost as well, so it is repeated until the thread exits. */
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

  // Counts checks instead of time, which also passes while this process is stopped.
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

  // Each request to terminate adds a listener.
  thread.setMaxListeners(0);
  thread.on('message', () => (silentLooks = 0));
  thread.once('error', end);
  thread.once('exit', () => {
    clearInterval(looking);
    clearInterval(ending);
  });
}
