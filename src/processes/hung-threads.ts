/**
 * Ends threads that cannot go on. Temporal's SDK runs workflows in threads, cuts off what keeps one busy for seconds, and
 * counts on a thread that fails to end. A cut-off that comes while V8 tells Node of a promise that was rejected before anybody
 * handles it is dropped there: the code goes on for ever, with or without an error that leaves the thread, a request to end is
 * dropped in the same way, and the SDK waits for its answer. Once the thread has ended, the SDK lets its worker fail.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';

interface Options {
  logger: Pick<Logger, 'error'>;
  /** A thread that neither rests nor says anything for so long is ended. Well above what one task of a workflow may take. */
  silentMs?: number;
}

const looks = 20;
/** The end of a thread is dropped like a cut-off, so it is asked for until it comes. */
const askAgainMs = 50;

const starting = new AsyncLocalStorage<Required<Options>>();

/** Looks after the threads that `start` starts, until they end. */
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
    logger.error({ threadId, silentMs }, 'a thread of workflows does not come to an end, and is ended');
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
