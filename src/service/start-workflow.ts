/**
 * Starting a turn, at most once for each message. It is prepared in the database first, then its workflow is started. A
 * start that Temporal refuses is withdrawn at once. When it is not known whether Temporal has accepted it, the turn stays
 * prepared: the same message sent again joins it under the same workflow id, and the reconciler ends it if there is no
 * such workflow. A workflow whose turn was withdrawn or has ended finds that out before it does anything.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Logger } from 'pino';
import type { NewTurn, TurnRow } from '../storage/ports/turns.ts';
import { routedByTemporal } from '../storage/ports/versions.ts';
import type { Storage } from '../storage/storage.ts';
import { wordsOf } from '../turn/page-context.ts';
import type { TurnRef } from '../turn/turn.ts';
import { agentTurnWorkflow } from '../workflows/messages.ts';
import type { OnBusy, OpenTurns } from './open-turn.ts';
import { startOptions } from './start-options.ts';
import type { StartConfig } from './start-options.ts';
import type { TemporalCalls } from './temporal-calls.ts';
import type { TemporalClock } from './temporal-clock.ts';
import { isOfTemporal, wasRefused } from './temporal-errors.ts';

// The client's own retries may overrun a deadline by a second; callers are answered within five, or within eleven where the
// turn before theirs ends or says nothing.
const startDeadlineMs = 3_500;
/**
 * For a start that waits for a turn that is ending, which waits for its calls for two seconds at most; and for one whose
 * worker was killed just now, which another worker takes over after `taskTimeouts`.
 */
const stopAndStartDeadlineMs = 10_000;
/** A turn that may end for the message has to begin so long before that deadline: its end takes time, and clocks differ. */
const endingMs = 2_500;
/** How long another request with the same message is left to start the turn that it prepared. */
const otherRequestMs = 1_000;
/** Left of the start's deadline when a turn that is to make room has not: enough to say so. */
const marginMs = 500;
/** About what a workflow takes from writing its turn's end to closing. */
const closingMs = 20;

type Start =
  | { kind: 'started'; turn: TurnRef }
  /** The same client message again: this is the turn it started the first time. */
  | { kind: 'joined'; turn: TurnRef }
  | { kind: 'busy'; turnId: string; isEnding: boolean }
  | { kind: 'foreign-conversation' }
  /** No worker has ever started: there is no code to start a turn with. */
  | { kind: 'no-version' }
  /** The client's message id belongs to a message with other words. */
  | { kind: 'other-message' };

interface Parts {
  client: Client;
  calls: Pick<TemporalCalls, 'within' | 'unavailable'>;
  clock: Pick<TemporalClock, 'whileStarting'>;
  openTurns: OpenTurns;
  storage: Storage;
  config: StartConfig;
  /** A turn ends to make room for another. */
  onLeaving: (turn: TurnRef) => void;
  logger: Logger;
}

/**
 * A live turn that only waits for a person makes room for this one; `onBusy` says what to do with one that is at
 * work. `busy` and `isEnding`: it makes room, or has been asked to stop, and has not ended in time.
 */
export type StartWorkflow = (turn: NewTurn, how: StartRequest) => Promise<Start>;

export interface StartRequest {
  onBusy: OnBusy;
  /** Whether the caller can send the same message again under the same name, and so join the turn. */
  isRepeatable: boolean;
}

const unknownOutcome =
  'It is not known whether the turn has started. To send the same message again, under the same id, does no harm: it joins that turn.';

export function createStartWorkflow(parts: Parts): StartWorkflow {
  const { client, calls, clock, openTurns, storage, config, onLeaving, logger } = parts;
  const { openTurn, makeRoom, stillLeaves } = openTurns;

  async function start(turn: NewTurn, how: StartRequest): Promise<Start> {
    const claim = await claimMessage(parts, turn);
    if (claim.kind !== 'to-start') return claim;
    const { turn: next, buildId } = claim;
    try {
      return await startWorkflow(next, buildId, how.onBusy);
    } catch (error) {
      logger.warn({ err: error, turnId: next.turnId }, 'a turn could not be started');
      // An earlier request with this message may have started it.
      const mayRun = claim.isRepeat || (isOfTemporal(error) && !wasRefused(error));
      const isKept = mayRun && how.isRepeatable;
      if (isKept ? await hasBegun(next) : !(await storage.turns.withdraw(next)))
        return { kind: 'started', turn: next };
      throw await calls.unavailable(error, isKept ? unknownOutcome : 'The turn was not started.');
    }
  }

  async function hasBegun(turn: NewTurn): Promise<boolean> {
    return (await storage.turns.get(turn))?.status === 'running';
  }

  async function startWorkflow(turn: NewTurn, buildId: string, onBusy: OnBusy): Promise<Start> {
    const begunAt = Date.now();
    // For the workflow, which compares it with Temporal's time: closer to the database's than to that of a wrong clock here.
    const until = storage.now() + stopAndStartDeadlineMs - endingMs;
    let deadline = begunAt + startDeadlineMs;
    const inTime = <T>(call: () => Promise<T>): Promise<T> => calls.within(deadline - Date.now(), call);
    const leaving = new Set<string>();
    for (;;) {
      try {
        await clock.whileStarting(() =>
          inTime(() => client.workflow.start(agentTurnWorkflow, startOptions(turn, { buildId, config }))),
        );
        return { kind: 'started', turn };
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
      const open = await inTime(() => openTurn(turn));
      if (open.kind === 'abandoned') await inTime(open.terminate);
      if (open.kind === 'live') {
        if (open.turnId === turn.turnId) return { kind: 'started', turn };
        const leaves = leaving.has(open.turnId) ? stillLeaves : makeRoom;
        const outlook = await inTime(() => leaves(open, { onBusy, until }));
        // It closes its questions, or may still do so: to refuse the message then would leave its sender with nothing.
        if (outlook !== 'no') deadline = begunAt + stopAndStartDeadlineMs;
        if (outlook === 'no' || Date.now() > deadline - marginMs) {
          await storage.turns.withdraw(turn);
          return { kind: 'busy', turnId: open.turnId, isEnding: outlook === 'yes' };
        }
        if (outlook === 'yes')
          onLeaving({ tenant: turn.tenant, conversation: turn.conversation, turnId: open.turnId });
        leaving.add(open.turnId);
      }
      // Who read a turn's end may go on at once. The deadline bounds the tries.
      await delay(closingMs);
    }
  }

  return start;
}

/** One turn per client message: the given one, or the one that an earlier request with this message prepared. */
async function claimMessage(
  parts: Pick<Parts, 'storage' | 'config'>,
  turn: NewTurn,
): Promise<Start | { kind: 'to-start'; turn: NewTurn; buildId: string; isRepeat: boolean }> {
  const { storage, config } = parts;
  const prepared = await storage.turns.prepare(turn, config.temporal.deployment.name);
  if (typeof prepared === 'object') {
    const { buildId } = prepared;
    return { kind: 'to-start', turn, buildId, isRepeat: false };
  }
  if (prepared !== 'known') return { kind: prepared };
  const earlier = await earlierTurn(storage, turn);
  if (!earlier) return claimMessage(parts, turn);
  if (!(await saysTheSame(storage, turn, earlier))) return { kind: 'other-message' };
  if (earlier.status !== 'starting') return { kind: 'joined', turn: earlier };
  // The request that prepared it has died, is slow, or does not know: starting the same turn twice is harmless.
  const buildId = earlier.buildId ?? routedByTemporal;
  return { kind: 'to-start', turn: { ...earlier, messages: [] }, buildId, isRepeat: true };
}

/** The turn that another request prepared for this message, once that has started it; null when it was withdrawn. */
async function earlierTurn(storage: Storage, turn: NewTurn): Promise<TurnRow | null> {
  const deadline = Date.now() + otherRequestMs;
  for (;;) {
    const earlier = await storage.turns.byClientMessage(turn, turn.clientMessageId);
    if (earlier?.status !== 'starting' || Date.now() > deadline) return earlier;
    await delay(closingMs);
  }
}

/** Whether it is the earlier turn's message that is sent again. */
async function saysTheSame(storage: Storage, turn: NewTurn, earlier: TurnRow): Promise<boolean> {
  const before = await storage.turns.given(earlier);
  const now = turn.messages.at(-1)?.content;
  return before === null || now === undefined || wordsOf(before) === wordsOf(now);
}
