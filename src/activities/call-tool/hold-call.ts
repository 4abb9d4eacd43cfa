/**
 * Keeps a tool call with the attempt that makes it, as long as that attempt's process is alive.
 *
 * Temporal starts another attempt when it has received no heartbeat for 12 s, also after an outage of its own. The first
 * attempt still has the connection to the server, so it continues, and the other one waits for it. The database records
 * that the first is alive, which works without Temporal and across processes. After an outage of the database the first
 * attempt gets time to renew its hold before the other one takes the call over.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, cancellationDetails, cancellationSignal } from '@temporalio/activity';
import type { CallAttempt } from '../../storage/tables/call-attempt.ts';
import type { Storage } from '../../storage/storage.ts';
import type { TurnRef } from '../../turn/turn.ts';
import { heartbeatMs, stopped, whileNotReplaced, withStopSignal } from '../running-activity.ts';

/** The heartbeat timeout of these activities, so that a dead worker is noticed no later than without holds. */
const heldMs = 12_000;
const lookEveryMs = 500;

interface OwnAttempt {
  turn: TurnRef;
  toolCallId: string;
  by: CallAttempt;
}

/**
 * Makes one attempt at a call once earlier ones are over. Its stop signal aborts after `limitMs` at the latest. It goes on
 * while Temporal is down.
 */
export function attemptHoldingCall<T>(
  storage: Storage,
  own: OwnAttempt,
  make: () => Promise<T>,
  limitMs = activityInfo().startToCloseTimeoutMs,
): Promise<T> {
  const inTurn = async () => {
    await waitForEarlierAttempt(storage, own);
    return whileHolding(storage, own, make);
  };
  return whileNotReplaced(
    withStopSignal(storage.turns, own.turn, inTurn, { outlivesHeartbeats: true, limitMs }),
  );
}

/** Waits while an earlier attempt is alive, then takes the call over. */
async function waitForEarlierAttempt(
  { toolCalls }: Storage,
  { turn, toolCallId, by }: OwnAttempt,
): Promise<void> {
  // There is no earlier attempt.
  if (by.attempt === 1) return;
  while ((await toolCalls.take(turn, toolCallId, by, heldMs))?.isHeld) {
    // A cancelled call is ended by the attempt that holds it. Otherwise this worker shuts down, or this attempt was replaced.
    if (cancellationSignal().aborted && cancellationDetails()?.cancelRequested !== true) await stopped();
    await sleep(lookEveryMs);
  }
}

/** Holds the call until `work` is done. Calls shorter than `heartbeatMs` write nothing. */
async function whileHolding<T>(
  { toolCalls }: Storage,
  { turn, toolCallId, by }: OwnAttempt,
  work: () => Promise<T>,
): Promise<T> {
  let holding: Promise<void> | undefined;
  const timer = setInterval(() => {
    // While the database is down no other attempt can take the call.
    holding = toolCalls.hold(turn, toolCallId, heldMs, by).catch(() => undefined);
  }, heartbeatMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (holding) {
      await holding;
      await toolCalls.hold(turn, toolCallId, 0, by).catch(() => undefined);
    }
  }
}
