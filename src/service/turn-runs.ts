/** What Temporal knows of the runs of turns, for the reconciler. */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { TurnRef } from '../turn/turn.ts';
import { turnOfWorkflow } from '../turn/turn.ts';
import { agentTurnWorkflow, durableToolWorkflow, turnWorkflowId } from '../workflows/messages.ts';
import { isOfTemporal } from './temporal-errors.ts';

/**
 * `unknown`: Temporal does not respond, or is not well. `missing`: Temporal is well and has no such run; one check is not
 * enough to believe it. `closed`: the run has failed, or has ended without writing the turn's end.
 */
export type RunStatus = 'open' | 'unknown' | 'missing' | 'closed' | 'cancelled' | 'terminated' | 'timed-out';

export interface ClosedRun {
  runId: string;
  workflowId: string;
  turn: TurnRef;
  /** False for the run of a delegated agent or of a tool. */
  isOwn: boolean;
  runStatus: RunStatus;
}

const describeDeadlineMs = 2_000;
const listDeadlineMs = 5_000;
/** Lists lag behind by seconds on some clusters. */
const lagMs = 30_000;
/** The largest difference between the clocks of this process and of Temporal, for the first list. */
const clockMarginMs = 10 * 60_000;

/** A turn or tool that ends itself, however it ends, completes as a workflow. */
const closedFromOutside = `WorkflowType IN ('${agentTurnWorkflow}', '${durableToolWorkflow}') AND ExecutionStatus IN ('Failed', 'Canceled', 'Terminated', 'TimedOut')`;

export type TurnRuns = ReturnType<typeof createTurnRuns>;

export function createTurnRuns(client: Client) {
  const within = <T>(call: () => Promise<T>): Promise<T> =>
    client.withDeadline(Date.now() + describeDeadlineMs, call);

  /** The status of the workflow's latest run. */
  async function statusOf(workflowId: string): Promise<RunStatus> {
    try {
      return toRunStatus(await within(() => client.workflow.getHandle(workflowId).describe()));
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) return unknownIfTemporals(error);
    }
    return (await isWell()) ? 'missing' : 'unknown';
  }

  /** Temporal also answers for its namespace, so it is neither starting nor stopping. */
  async function isWell(): Promise<boolean> {
    const { connection, options } = client;
    try {
      await within(() => connection.workflowService.describeNamespace({ namespace: options.namespace }));
      return true;
    } catch (error) {
      unknownIfTemporals(error);
      return false;
    }
  }

  return {
    statusOf,

    /**
     * Runs that did not end by themselves, each once. Those that ended before the first call are found with their turns.
     * Positions are Temporal's own times: a wrong clock of this process only makes the first list longer, or empty for a
     * while.
     */
    createClosed(now: () => number) {
      const seen = new Map<string, number>();
      let since = now() - clockMarginMs;
      return async (limit: number): Promise<ClosedRun[]> => {
        const query = `${closedFromOutside} AND CloseTime > '${new Date(since).toISOString()}'`;
        const found: ClosedRun[] = [];
        let newest = since + lagMs;
        const list = async (): Promise<boolean> => {
          for await (const run of client.workflow.list({ query, pageSize: 200 })) {
            if (seen.has(run.runId)) continue;
            if (found.length === limit) return false;
            const closedAt = run.closeTime?.getTime() ?? newest;
            newest = Math.max(newest, closedAt);
            seen.set(run.runId, closedAt);
            const closed = toClosedRun(run);
            if (closed) found.push(closed);
          }
          return true;
        };
        try {
          if (!(await client.withDeadline(Date.now() + listDeadlineMs, list))) return found;
        } catch (error) {
          unknownIfTemporals(error);
          return found;
        }
        since = newest - lagMs;
        for (const [runId, closedAt] of seen) if (closedAt < since) seen.delete(runId);
        return found;
      };
    },
  };
}

/** Rethrows errors that are not Temporal's. */
function unknownIfTemporals(error: unknown): 'unknown' {
  if (isOfTemporal(error)) return 'unknown';
  throw error;
}

function toClosedRun(run: WorkflowExecutionInfo): ClosedRun | null {
  const turn = turnOfWorkflow(run.workflowId);
  if (!turn) return null;
  const { runId, workflowId } = run;
  return { runId, workflowId, turn, isOwn: workflowId === turnWorkflowId(turn), runStatus: toRunStatus(run) };
}

function toRunStatus({ status }: Pick<WorkflowExecutionInfo, 'status'>): RunStatus {
  switch (status.name) {
    case 'RUNNING':
    case 'PAUSED':
      return 'open';
    case 'CANCELLED':
      return 'cancelled';
    case 'TERMINATED':
      return 'terminated';
    case 'TIMED_OUT':
      return 'timed-out';
    default:
      return 'closed';
  }
}
