/** What Temporal knows of the runs of turns, and what they can say when they are over: for the reconciler. */
import { WorkflowNotFoundError, isGrpcServiceError } from '@temporalio/client';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import type { ConversationRef, TurnRef } from '../turn/turn.ts';
import {
  agentTurnWorkflow,
  durableToolWorkflow,
  elicitationQuery,
  turnWorkflowId,
} from '../workflows/messages.ts';

/** `unknown`: Temporal does not answer. `lost`: it does, and knows of no such run. */
export type RunStatus = 'open' | 'unknown' | 'lost' | 'cancelled' | 'terminated' | 'timed-out';

export interface ClosedRun {
  runId: string;
  workflowId: string;
  conversation: ConversationRef;
  /** Null for the run of a delegated agent or of a tool. */
  turnId: string | null;
  runStatus: RunStatus;
}

const describeDeadlineMs = 2_000;
const listDeadlineMs = 5_000;
const queryDeadlineMs = 2_000;
/** Lists lag behind what they list, by seconds on some clusters. */
const lagMs = 30_000;

/** A turn or a tool that ends itself, however it ends, has completed as a workflow. */
const closedFromOutside = `WorkflowType IN ('${agentTurnWorkflow}', '${durableToolWorkflow}') AND ExecutionStatus IN ('Failed', 'Canceled', 'Terminated', 'TimedOut')`;

export type TurnRuns = ReturnType<typeof createTurnRuns>;

export function createTurnRuns(client: Client) {
  /** `turnId`: of the turn whose run it has to be; the latest run may be another turn's. */
  async function statusOf(workflowId: string, turnId?: string): Promise<RunStatus> {
    try {
      const describe = () => client.workflow.getHandle(workflowId).describe();
      const run = await client.withDeadline(Date.now() + describeDeadlineMs, describe);
      return turnId === undefined || run.memo?.['turnId'] === turnId ? toRunStatus(run) : 'lost';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'lost';
      if (isGrpcServiceError(error)) return 'unknown';
      throw error;
    }
  }

  return {
    statusOf,
    statusOfTurn: (turn: TurnRef) => statusOf(turnWorkflowId(turn), turn.turnId),

    /**
     * A question as the workflow that asked it knows it, also when that is closed: it still answers queries as long as there
     * is a worker that can read its history. Null when nobody can tell.
     */
    questionOf(workflowId: string, elicitationId: string): Promise<Elicitation | null> {
      const query = () => client.workflow.getHandle(workflowId).query(elicitationQuery, elicitationId);
      return client.withDeadline(Date.now() + queryDeadlineMs, query).catch(() => null);
    },

    /** Runs that did not come to their own end, each once. What ended before the first call is found with its turn. */
    createClosed() {
      const seen = new Map<string, number>();
      let since = Date.now() - lagMs;
      return async (limit: number): Promise<ClosedRun[]> => {
        const at = Date.now();
        const query = `${closedFromOutside} AND CloseTime > '${new Date(since).toISOString()}'`;
        const found: ClosedRun[] = [];
        const list = async (): Promise<boolean> => {
          for await (const run of client.workflow.list({ query, pageSize: 200 })) {
            if (seen.has(run.runId)) continue;
            if (found.length === limit) return false;
            seen.set(run.runId, at);
            const closed = toClosedRun(run);
            if (closed) found.push(closed);
          }
          return true;
        };
        try {
          if (!(await client.withDeadline(at + listDeadlineMs, list))) return found;
        } catch (error) {
          if (isGrpcServiceError(error)) return found;
          throw error;
        }
        since = at - lagMs;
        for (const [runId, seenAt] of seen) if (seenAt < since - lagMs) seen.delete(runId);
        return found;
      };
    },
  };
}

function toClosedRun(run: WorkflowExecutionInfo): ClosedRun | null {
  const [, tenant, conversation] = run.workflowId.split('/');
  if (tenant === undefined || conversation === undefined) return null;
  const ref = { tenant: decodeURIComponent(tenant), conversation };
  const isOwn = run.workflowId === turnWorkflowId(ref);
  const turnId = run.memo?.['turnId'];
  const { runId, workflowId } = run;
  return {
    runId,
    workflowId,
    conversation: ref,
    turnId: isOwn && typeof turnId === 'string' ? turnId : null,
    runStatus: toRunStatus(run),
  };
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
      return 'lost';
  }
}
