/**
 * Reconciles the rows of turns with Temporal: ends turns whose workflow could not, because it was terminated, timed out, or
 * is missing, and turns that exceed their time limit. Readers see how they ended, and the next message starts at once.
 *
 * Temporal's list of closed runs shows within seconds what was ended from outside, however many turns wait. Missing runs are
 * in no list; they are found by checking one turn after the other, at a rate that does not grow with their number. The state
 * of a run counts only if the turn's row, read afterwards, has not ended. The age of a turn is computed from its row and the
 * database's clock.
 */
import type { Logger } from 'pino';
import { aboutTurn, short } from '../telemetry/events.ts';
import { traceEnd } from '../telemetry/traces/turn-spans.ts';
import type { Config } from '../config/config.ts';
import { startLeasedLoop } from '../../storage/leased-loop.ts';
import type { DueTurn } from '../../storage/tables/turn-rows.ts';
import type { Storage } from '../../storage/storage.ts';
import type { TurnRef } from '../../turn/turn.ts';
import type { TurnFailure } from '../../turn/turn-failure.ts';
import { turnWorkflowId } from '../../workflows/messages.ts';
import { endTurn } from '../../service/end-turn.ts';
import type { ClosedRun, RunStatus, TurnRuns } from '../../service/turn-runs.ts';

const everyMs = 2_000;
/** Between two checks of one turn. */
const againMs = 4_000;
/** Turns per round, unless lost turns are found: then as many as the loop can check. */
const usually = 25;
const atOnce = 50;
/** A running workflow closes its question itself as soon as it has a worker. */
const overdueMs = 30_000;
const defaultConfirmMs = 90_000;

const failures: Record<Exclude<RunStatus, 'open' | 'unknown' | 'cancelled'>, TurnFailure> = {
  terminated: { code: 'TurnTerminated' },
  'timed-out': { code: 'TurnTimedOut' },
  closed: { code: 'TurnLost' },
  missing: { code: 'TurnLost' },
};

/** For operators: why the turn ended, and what to do. */
const causes: Record<keyof typeof failures | 'cancelled', string> = {
  cancelled: 'it was cancelled in Temporal. To cancel a turn, use its page or interlude cancel.',
  terminated: 'it was terminated in Temporal. To end a turn, use its page or interlude cancel.',
  'timed-out': 'it took longer than a turn may take (TURN_TIMEOUT).',
  closed: 'it closed without writing the end. Its last events in Temporal say why.',
  missing:
    'Temporal does not know it. Its history was deleted, or Temporal has lost data: see interlude installation status.',
};

interface Parts {
  storage: Storage;
  logger: Logger;
  config: Pick<Config, 'turn'>;
  /** Time between two checks that do not find a run. Default 90 seconds. */
  confirmMs?: number;
  /** Whether database and Temporal belong together; not checked if absent. */
  installation?: { isTogether(): boolean };
  /** Restarts the deliveries of the turn, which may be lost too. */
  resumeDeliveries?: (turn: TurnRef) => Promise<void>;
}

export function startReconciler(
  { storage, logger, config, confirmMs = defaultConfirmMs, installation, resumeDeliveries }: Parts,
  runs: TurnRuns,
): { stop(): Promise<void> } {
  const longestMs = config.turn.timeoutMs;
  const { turns, turnLog, elicitations } = storage;
  const closedRuns = runs.createClosed(storage.now);
  const missing = new MissingRuns(confirmMs);
  let hasFound = false;
  const isTogether = () => installation?.isTogether() ?? true;

  async function checkTurn(turn: DueTurn): Promise<void> {
    if (turn.status !== 'starting' && turn.status !== 'running') return turnLog.merge(turn);
    // The outbox cancels its run, if there is one.
    if (storage.now() - turn.createdAt >= longestMs) return end(turn, 'timed-out');
    if (!missing.has(turn)) await checkRun(turn);
  }

  async function checkRun(turn: DueTurn): Promise<void> {
    const runStatus = await runs.statusOf(turnWorkflowId(turn));
    if (runStatus === 'missing' && !missing.note(turn)) {
      hasFound = true;
      return;
    }
    if (runStatus === 'open') await closeOverdue(turn);
    else if (runStatus !== 'unknown') await end(turn, runStatus);
    missing.forget(turn);
  }

  async function end(turn: TurnRef, runStatus: Exclude<RunStatus, 'open' | 'unknown'>): Promise<void> {
    const row = await turns.get(turn);
    if (!row || row.endedAt !== null) return;
    hasFound = true;
    logger.warn(
      { ...aboutTurn(turn), runStatus },
      `turn ${short(turn.turnId)} is ended for its workflow: ${causes[runStatus]}`,
    );
    const status = runStatus === 'cancelled' ? 'cancelled' : 'failed';
    const failure = runStatus === 'cancelled' ? undefined : failures[runStatus];
    if (row.status === 'starting') {
      // A turn that has not begun has nothing in its log to end.
      await turns.end(row, status);
      traceEnd({ storage }, row, { status, code: failure?.code });
    } else await endTurn({ storage, logger }, row, { status, ...(failure && { failure }) });
    await resume(row);
  }

  async function resume(turn: TurnRef): Promise<void> {
    try {
      await resumeDeliveries?.(turn);
    } catch (err) {
      logger.warn(
        { err, ...aboutTurn(turn) },
        'the end of a turn may not be delivered to where it is shown elsewhere',
      );
    }
  }

  /**
   * For a delegated agent or tool that was ended from outside and missed in the list: its turn goes on and would leave the
   * question open until its own end. Questions about accounts are left to their workflow, which looks for the account again.
   */
  async function closeOverdue(turn: TurnRef): Promise<void> {
    const pending = await elicitations.ofConversation(turn, 'pending');
    const overdue = pending.filter(
      ({ turnId, server, deadline }) =>
        turnId === turn.turnId && server === null && deadline < storage.now() - overdueMs,
    );
    const ids = overdue.map(({ id }) => id);
    if (ids.length > 0) await elicitations.settle(ids, { type: 'deadline-passed' });
  }

  async function close({ turn, isOwn, workflowId, runStatus }: ClosedRun): Promise<void> {
    // A workflow that was reset has a newer run.
    if (runStatus === 'open' || runStatus === 'unknown' || (await runs.statusOf(workflowId)) === 'open')
      return;
    if (isOwn) await end(turn, runStatus);
    else await elicitations.leave(turn, { workflowId });
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
        work: checkTurn,
      },
      logger,
    ),
    startLeasedLoop<DueTurn>(
      {
        name: 'turns that take too long',
        everyMs,
        atOnce,
        claim: async (free) => (isTogether() ? turns.claimOverdue(free, againMs, longestMs) : []),
        work: checkTurn,
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
        work: checkRun,
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

/** More missing runs are only remembered once there is room. */
const mostMissing = 10_000;

/**
 * Turns whose run Temporal did not find. One check is not enough to end a turn, because a Temporal server that has just
 * started gives the same answer. The same process checks again, after `confirmMs` of its own monotonic clock. This is kept
 * in memory: a new process checks twice again.
 */
class MissingRuns {
  readonly #confirmMs: number;
  /** In the order of `since`. */
  readonly #missing = new Map<string, { turn: DueTurn; since: number }>();

  constructor(confirmMs: number) {
    this.#confirmMs = confirmMs;
  }

  /** Call this when the run was not found. True if it was also missing at least `confirmMs` ago. */
  note(turn: DueTurn): boolean {
    const known = this.#missing.get(turn.turnId);
    if (known) return this.#isDue(known.since);
    if (this.#missing.size < mostMissing) this.#missing.set(turn.turnId, { turn, since: performance.now() });
    return false;
  }

  forget({ turnId }: DueTurn): void {
    this.#missing.delete(turnId);
  }

  /** Whether the run was missing once. */
  has({ turnId }: DueTurn): boolean {
    return this.#missing.has(turnId);
  }

  /** The turns to check again. */
  due(limit: number): DueTurn[] {
    const turns: DueTurn[] = [];
    for (const { turn, since } of this.#missing.values()) {
      if (turns.length === limit || !this.#isDue(since)) break;
      turns.push(turn);
    }
    return turns;
  }

  #isDue(since: number): boolean {
    return performance.now() - since >= this.#confirmMs;
  }
}
