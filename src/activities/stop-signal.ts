/**
 * Whether a turn still wants what an activity does for it. Temporal says so in its answer to a heartbeat, seconds later;
 * the database says so at once, to whatever process the work is done in.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { Context, cancellationDetails, cancellationSignal } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { Storage } from '../storage/storage.ts';
import type { TurnRef } from '../turn/turn.ts';

interface Wanted {
  /** Aborts when the activity is to stop, for whatever reason. */
  stop: AbortSignal;
  ending: AbortSignal;
  /** Aborted when the worker leaves before Temporal's SDK says so. */
  leaving: AbortController;
}

const current = new AsyncLocalStorage<Wanted>();

export async function whileWanted<T>(
  turns: Pick<Storage['turns'], 'whenEnding'>,
  turn: TurnRef,
  work: () => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const leaving = new AbortController();
  const done = new AbortController();
  const stop = AbortSignal.any([cancellationSignal(), ending.signal, leaving.signal]);
  void turns.whenEnding(turn, done.signal).then((isEnding) => {
    if (isEnding) ending.abort(new Error('The turn is ending.'));
  });
  try {
    return await current.run({ stop, ending: ending.signal, leaving }, work);
  } finally {
    done.abort();
  }
}

/** Inside `whileWanted`: aborts when the turn is ending, was cancelled, or the worker is about to leave. */
export function stopSignal(): AbortSignal {
  return current.getStore()?.stop ?? cancellationSignal();
}

/** Not when only this worker leaves: then the work goes on elsewhere. */
export function isTurnEnding(): boolean {
  return cancellationDetails()?.cancelRequested === true || current.getStore()?.ending.aborted === true;
}

/** Stops the work because its worker leaves; to be asked for inside the activity, and called at any time. */
export function leaver(): () => void {
  const { leaving } = current.getStore() ?? {};
  return () => leaving?.abort(new Error('The worker is leaving.'));
}

/** The turn goes on elsewhere. */
export function isWorkerLeaving(): boolean {
  return (
    cancellationDetails()?.workerShutdown === true || current.getStore()?.leaving.signal.aborted === true
  );
}

/** How work ends that has stopped because of `stopSignal`, where there is nothing to say of it. */
export async function stopped(): Promise<never> {
  if (cancellationSignal().aborted) return Context.current().cancelled;
  throw ApplicationFailure.create({
    message: 'The turn is ending.',
    type: 'TurnEnding',
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
  });
}
