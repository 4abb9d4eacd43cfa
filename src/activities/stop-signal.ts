/**
 * Tells a running activity to stop: its turn is ending, the activity was cancelled, or the worker shuts down. Temporal
 * reports a cancellation seconds later, with a heartbeat; the database reports the end of the turn at once.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Context, cancellationDetails, cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Storage } from '../storage/storage.ts';
import type { TurnRef } from '../turn/turn.ts';

interface StopSignals {
  /** Aborts when the activity is to stop, for whatever reason. */
  stop: AbortSignal;
  ending: AbortSignal;
  /** Aborted by `shutdownAborter`, before Temporal's SDK reports the shutdown. */
  leaving: AbortController;
}

/** A longer one would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

const current = new AsyncLocalStorage<StopSignals>();

interface StopOptions {
  /** The work goes on when Temporal has received no heartbeats for too long, and has given the activity to another attempt. */
  outlivesHeartbeats?: boolean;
  /** For work whose time is up before its activity's, or that outlives heartbeats: Temporal reports both ends alike. */
  limitMs?: number;
}

/** Runs the work of an activity, or a part of it, in which the other functions of this file can be used. */
export async function withStopSignal<T>(
  turns: Pick<Storage['turns'], 'whenEnding'>,
  turn: TurnRef,
  work: () => Promise<T>,
  { outlivesHeartbeats = false, limitMs }: StopOptions = {},
): Promise<T> {
  const ending = new AbortController();
  const leaving = new AbortController();
  const done = new AbortController();
  const stop = AbortSignal.any([
    outlivesHeartbeats ? cancelledUnlessReplaced() : cancellationSignal(),
    ...(limitMs === undefined ? [] : [AbortSignal.timeout(Math.min(limitMs, longestTimerMs))]),
    ending.signal,
    leaving.signal,
  ]);
  void turns.whenEnding(turn, done.signal).then((isEnding) => {
    if (isEnding) ending.abort(new Error('The turn is ending.'));
  });
  try {
    return await current.run({ stop, ending: ending.signal, leaving }, work);
  } finally {
    done.abort();
  }
}

/**
 * Ends this attempt when Temporal has started another one in its place, so that it keeps no slot. `work`, which has to be
 * started with `outlivesHeartbeats`, goes on.
 */
export function whileNotReplaced<T>(work: Promise<T>): Promise<T> {
  const context = Context.current();
  const replaced = context.cancelled.catch((error: unknown) => {
    if (isReplaced(context)) throw error;
    return work;
  });
  return Promise.race([work, replaced]);
}

/** Temporal no longer knows this attempt, which does not mean that the work should stop. */
function isReplaced({ cancellationDetails }: Context): boolean {
  const { notFound = false, timedOut = false } = cancellationDetails ?? {};
  return notFound || timedOut;
}

function cancelledUnlessReplaced(): AbortSignal {
  // Taken here: the signal aborts outside the activity's own async context.
  const context = Context.current();
  const { cancellationSignal: signal } = context;
  const cancelled = new AbortController();
  const onAbort = () => {
    if (!isReplaced(context)) cancelled.abort(signal.reason);
  };
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return cancelled.signal;
}

/** Inside `withStopSignal`: aborts when the turn is ending, the activity was cancelled, or the worker shuts down. */
export function stopSignal(): AbortSignal {
  return current.getStore()?.stop ?? cancellationSignal();
}

/** False when only this worker shuts down: then another worker continues. */
export function isTurnEnding(): boolean {
  return cancellationDetails()?.cancelRequested === true || current.getStore()?.ending.aborted === true;
}

/** A function that stops the work because the worker shuts down. Create it inside the activity; call it from anywhere. */
export function shutdownAborter(): () => void {
  const { leaving } = current.getStore() ?? {};
  return () => leaving?.abort(new Error('The worker is leaving.'));
}

/** Then another worker continues the turn. */
export function isWorkerShuttingDown(): boolean {
  return (
    cancellationDetails()?.workerShutdown === true || current.getStore()?.leaving.signal.aborted === true
  );
}

/** Ends an activity that has stopped because of `stopSignal` and has no result. */
export async function stopped(): Promise<never> {
  if (cancellationSignal().aborted) return Context.current().cancelled;
  throw ApplicationFailure.create({
    message: 'The turn is ending.',
    type: 'TurnEnding',
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
  });
}
