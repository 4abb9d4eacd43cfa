/**
 * Reconciles the rows of turns with Temporal: ends turns whose workflow could not, because it was terminated, timed out,
 * or is missing, and turns that take longer than a turn may take. Their readers are shown how they ended, and the next
 * message starts at once.
 *
 * Temporal's list of closed runs shows within seconds what was ended from outside, however many turns wait. Runs that are
 * gone are in no list; they are found by looking at each turn in turn, at a rate that does not grow with their number, and
 * only a second look is believed (see missing-runs.ts). The state of a run counts only if the turn's row, read afterwards,
 * has not ended. How long a turn takes is judged by its row and the database's clock.
 */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { createTurnActivities } from '../activities/turns.ts';
import { startLeasedLoop } from '../storage/leased-loop.ts';
import type { LeasedLoop } from '../storage/leased-loop.ts';
import type { DueTurn } from '../storage/ports/turns.ts';
import type { Storage } from '../storage/storage.ts';
import type { Turn, TurnFailure, TurnRef } from '../turn/turn.ts';
import { turnWorkflowId } from '../workflows/messages.ts';
import { decidedOutcome, decidedOutcomes } from './decided-outcomes.ts';
import type { ClosedRun, RunStatus, TurnRuns } from '../service/turn-runs.ts';
import { createMissingRuns } from './missing-runs.ts';

const everyMs = 2_000;
/** Of each turn, and so the rate for few turns. */
const againMs = 4_000;
/** The rate for many. As long as lost turns are found, it is what the loop can do. */
const usually = 25;
const atOnce = 50;
/** A workflow that is alive closes its question itself, as soon as it has a worker. */
const overdueMs = 30_000;
const defaultConfirmMs = 90_000;

const remedy = 'Ask again to go on.';
const lost: TurnFailure = {
  code: 'TurnLost',
  message: `The turn was lost before the answer was finished. ${remedy}`,
};
const failures: Record<Exclude<RunStatus, 'open' | 'unknown' | 'cancelled'>, TurnFailure> = {
  terminated: {
    code: 'TurnTerminated',
    message: `The turn was ended from outside before the answer was finished. ${remedy}`,
  },
  'timed-out': {
    code: 'TurnTimedOut',
    message: `The turn took longer than a turn may take, and was ended. ${remedy}`,
  },
  closed: lost,
  missing: lost,
};

interface Parts {
  storage: Storage;
  logger: Logger;
  config: Pick<Config, 'turn'>;
  /** Between two looks that do not find a run; 90 seconds by default. */
  confirmMs?: number;
  /** Tells servers that nobody waits for the turn's calls any more. */
  abandonCalls?: (turn: Turn) => Promise<void>;
  /** Absent: whether database and Temporal belong together is not asked. */
  installation?: { isTogether(): boolean };
  /** Starts what tells somebody outside of the turn's end, and may be lost as well. */
  resumeDeliveries?: (turn: TurnRef) => Promise<void>;
}

export function startReconciler(
  {
    storage,
    logger,
    config,
    confirmMs = defaultConfirmMs,
    installation,
    abandonCalls,
    resumeDeliveries,
  }: Parts,
  runs: TurnRuns,
): Pick<LeasedLoop, 'stop'> {
  const longestMs = config.turn.timeoutMs;
  const { turns, turnLog, elicitations } = storage;
  const { endTurn } = createTurnActivities({ storage, logger, ...(abandonCalls && { abandonCalls }) });
  const closedRuns = runs.createClosed(storage.now);
  const missing = createMissingRuns<DueTurn>(confirmMs);
  let hasFound = false;
  const isTogether = () => installation?.isTogether() ?? true;

  async function lookAfter(turn: DueTurn): Promise<void> {
    if (turn.status !== 'starting' && turn.status !== 'running') return turnLog.merge(turn);
    if (storage.now() - turn.createdAt >= longestMs) return endOverdue(turn);
    if (!missing.has(turn)) await lookAtRun(turn);
  }

  async function lookAtRun(turn: DueTurn): Promise<void> {
    const runStatus = await runs.statusOfTurn(turn);
    if (runStatus === 'missing' && !missing.note(turn)) {
      hasFound = true;
      return;
    }
    if (runStatus === 'open') await closeOverdue(turn);
    else if (runStatus !== 'unknown') await end(turn, runStatus);
    missing.forget(turn);
  }

  /** False where there was nothing to end. */
  async function end(turn: TurnRef, runStatus: Exclude<RunStatus, 'open' | 'unknown'>): Promise<boolean> {
    const row = await turns.get(turn);
    if (!row || row.endedAt !== null) return false;
    hasFound = true;
    logger.warn({ turnId: turn.turnId, runStatus }, 'a turn could not end itself');
    const status = runStatus === 'cancelled' ? 'cancelled' : 'failed';
    // It never began, so that there is nothing in the log to end. To begin it now would end another that has begun since.
    if (row.status === 'starting') {
      await turns.end(row, status);
    } else {
      const why = runStatus !== 'cancelled' && { failure: failures[runStatus] };
      const outcomes = runStatus === 'missing' ? [] : await decidedOutcomes(runs, elicitations, row);
      await endTurn({ turn: row, status, ...why, outcomes, isBegun: true });
    }
    await resume(row);
    return true;
  }

  /** With or without a worker. Its run, should there be one, finds that nothing is left to write. */
  async function endOverdue(turn: DueTurn): Promise<void> {
    if (await end(turn, 'timed-out')) await runs.cancel(turn);
  }

  async function resume(turn: TurnRef): Promise<void> {
    try {
      await resumeDeliveries?.(turn);
    } catch (err) {
      const { turnId } = turn;
      logger.warn({ err, turnId }, 'whoever is told of turns elsewhere may not hear of the end of one');
    }
  }

  /** Of a delegated agent that was ended from outside: its turn goes on, and would leave the question open till its own end. */
  async function closeOverdue(turn: TurnRef): Promise<void> {
    const own = turnWorkflowId(turn);
    for (const { id, turnId, workflowId, deadline } of await elicitations.ofConversation(turn, 'pending')) {
      const isOverdue = turnId === turn.turnId && workflowId !== own && deadline < storage.now() - overdueMs;
      if (!isOverdue) continue;
      const runStatus = await runs.statusOf(workflowId);
      if (runStatus !== 'open' && runStatus !== 'unknown') await elicitations.settle(id, 'expired', null);
    }
  }

  async function close({ turnId, conversation, workflowId, runStatus }: ClosedRun): Promise<void> {
    if (runStatus === 'open' || runStatus === 'unknown') return;
    if (turnId !== null) {
      await end({ ...conversation, turnId }, runStatus);
      return;
    }
    for (const question of await elicitations.ofConversation(conversation, 'pending')) {
      if (question.workflowId !== workflowId) continue;
      const outcome = await decidedOutcome(runs, question);
      if (outcome) await elicitations.settleAll([outcome]);
      else await elicitations.settle(question.id, 'cancel', null);
    }
  }

  const loops = [
    startLeasedLoop<DueTurn>(
      {
        name: 'turns to look after',
        everyMs,
        atOnce,
        async claim(free) {
          if (!isTogether()) return [];
          const limit = hasFound ? free : Math.min(free, usually);
          hasFound = false;
          return turns.claimDue(limit, againMs);
        },
        work: lookAfter,
      },
      logger,
    ),
    startLeasedLoop<DueTurn>(
      {
        name: 'turns that take too long',
        everyMs,
        atOnce,
        claim: async (free) => (isTogether() ? turns.claimOverdue(free, againMs, longestMs) : []),
        work: lookAfter,
      },
      logger,
    ),
    startLeasedLoop<DueTurn>(
      {
        name: 'missing runs',
        everyMs: Math.min(everyMs, confirmMs),
        atOnce,
        claim: async (free, underWay) =>
          isTogether() ? missing.due(free + underWay.length).filter((turn) => !underWay.includes(turn)) : [],
        work: lookAtRun,
      },
      logger,
    ),
    startLeasedLoop<ClosedRun>(
      {
        name: 'closed runs',
        everyMs,
        atOnce,
        claim: async (free) => (isTogether() ? closedRuns(free) : []),
        work: close,
      },
      logger,
    ),
  ];
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) };
}
