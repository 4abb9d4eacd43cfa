/**
 * Removes two features from the threads in which the SDK runs the workflows of turns, which share a context. Each costs more
 * processor time than the workflows themselves (docs/decisions/0100-threads-of-turns.md). Tools in TypeScript, which have a
 * context each, keep both. In debug mode there are no such threads.
 */
import workerThreads from 'node:worker_threads';
import type { WorkerOptions } from 'node:worker_threads';
import { ThreadedVMWorkflowCreator } from '@temporalio/worker/lib/workflow/threaded-vm.js';

const threadFile = new URL('./workflow-thread.ts', import.meta.url);
const { Worker } = workerThreads;
const { create } = ThreadedVMWorkflowCreator;
type Options = Parameters<typeof create>[0];

/** Affects all workers that this process creates from now on. Idempotent. */
export function lightenWorkflowThreads(): void {
  ThreadedVMWorkflowCreator.create = (options) =>
    options.reuseV8Context
      ? withThreads(LightThread, () => createFrom(withoutTimeout(options)))
      : createFrom(options);
}

function createFrom(options: Options): Promise<ThreadedVMWorkflowCreator> {
  return create.call(ThreadedVMWorkflowCreator, options);
}

/** With a time limit, Node starts a thread for every call into a context, only to watch the clock. */
function withoutTimeout(options: Options): Options {
  return { ...options, isolateExecutionTimeoutMs: undefined } as object as Options;
}

/** `create` starts its threads before it waits for anything. */
function withThreads<T>(thread: typeof Worker, create: () => T): T {
  Object.assign(workerThreads, { Worker: thread });
  try {
    return create();
  } finally {
    Object.assign(workerThreads, { Worker });
  }
}

class LightThread extends Worker {
  constructor(file: string | URL, options?: WorkerOptions) {
    super(threadFile, { ...options, workerData: String(file) });
  }
}
