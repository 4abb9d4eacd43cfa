/**
 * What every activity needs while it runs: heartbeats, its attempt number, and the signal to stop. An activity stops when
 * its turn is ending, it was cancelled, or the worker shuts down. Temporal reports a cancellation seconds later, with a
 * heartbeat; the database reports the end of the turn at once.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  activityInfo,
  cancellationDetails,
  cancellationSignal,
  Context,
  heartbeat,
} from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Storage } from '../storage/storage.ts';
import type { Repetition } from '../turn/step.ts';
import type { TurnRef } from '../turn/turn.ts';

interface StopSignals {
  /** Aborts when the activity must stop, for any reason. */
  stop: AbortSignal;
  ending: AbortSignal;
  /** Aborted by `shutdownAborter`, before Temporal's SDK reports the shutdown. */
  leaving: AbortController;
}

/** Node fires longer timers at once. */
export const longestTimerMs = 2 ** 31 - 1;

const current = new AsyncLocalStorage<StopSignals>();

interface StopOptions {
  /** The work continues after Temporal has missed heartbeats and has started another attempt. */
  outlivesHeartbeats?: boolean;
  /** Limit of its own, for work that ends before its activity, or that outlives heartbeats: Temporal reports both ends alike. */
  limitMs?: number;
}

/** Runs (part of) an activity so that `stopSignal`, `isTurnEnding` and the others work in it. */
export async function withStopSignal<T>(
  turns: Storage['turns'],
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
 * Ends this attempt, and frees its slot, when Temporal has replaced it by another one. `work` continues; it must have been
 * started with `outlivesHeartbeats`.
 */
export function whileNotReplaced<T>(work: Promise<T>): Promise<T> {
  const context = Context.current();
  const replaced = context.cancelled.catch((error: unknown) => {
    if (isReplaced(context)) throw error;
    return work;
  });
  return Promise.race([work, replaced]);
}

/** Temporal has given the activity to another attempt. That alone is no reason to stop the work. */
function isReplaced({ cancellationDetails }: Context): boolean {
  const { notFound = false, timedOut = false } = cancellationDetails ?? {};
  return notFound || timedOut;
}

function cancelledUnlessReplaced(): AbortSignal {
  // Read here, because the signal aborts outside the activity's async context.
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

/** False when only this worker shuts down; then another worker continues the turn. */
export function isTurnEnding(): boolean {
  return cancellationDetails()?.cancelRequested === true || current.getStore()?.ending.aborted === true;
}

/** Returns a function that stops the work because the worker shuts down. Call `shutdownAborter` inside the activity. */
export function shutdownAborter(): () => void {
  const { leaving } = current.getStore() ?? {};
  return () => leaving?.abort(new Error('The worker is leaving.'));
}

/** True when another worker will continue the turn. */
export function isWorkerShuttingDown(): boolean {
  return (
    cancellationDetails()?.workerShutdown === true || current.getStore()?.leaving.signal.aborted === true
  );
}

/** Throws what ends an activity that stopped because of `stopSignal`. */
export async function stopped(): Promise<never> {
  if (cancellationSignal().aborted) return Context.current().cancelled;
  throw ApplicationFailure.create({
    message: 'The turn is ending.',
    type: 'TurnEnding',
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
  });
}

/**
 * Heartbeats only prove that the worker is alive; the end of the turn comes from the database. So they can be rare:
 * Temporal Cloud bills each one.
 */
export const heartbeatMs = 5_000;

/** Sends heartbeats until `work` has ended. Local activities need none, because their workflow's task proves the same. */
export async function whileHeartbeating<T>(work: () => Promise<T>): Promise<T> {
  if (activityInfo().isLocal) return work();
  const timer = setInterval(heartbeat, heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** The attempt number for rows: it keeps growing when an activity repeats another one (see `Repetition`); Temporal's restarts. */
export function attemptNumber({ repeats }: Repetition): number {
  return (repeats?.attempts ?? 0) + activityInfo().attempt;
}

/** How long an author's code may take to end once it was asked to stop. */
const gracePeriodMs = 2_000;

/** Limits the time of an author's code, inside `withStopSignal`. `work` must not reject. */
export async function withinTime<T>(
  work: Promise<T>,
  timeoutMs: number,
): Promise<T | 'time-out' | 'stopped'> {
  const over = new AbortController();
  const outcome = await Promise.race([
    work,
    sleep(timeoutMs, 'time-out' as const, { signal: over.signal }).catch(() => 'time-out' as const),
    stoppedFor(gracePeriodMs, over.signal),
  ]);
  over.abort();
  return outcome;
}

async function stoppedFor(ms: number, signal: AbortSignal): Promise<'stopped'> {
  const stop = stopSignal();
  const heard =
    stop.aborted || new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true, signal }));
  await heard;
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  return 'stopped';
}
