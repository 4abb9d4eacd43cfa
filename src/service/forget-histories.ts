/** Has Temporal delete the histories of an erased turn. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { grpcStatus, grpcStatusOf } from '../platform/temporal/grpc-status.ts';
import type { TurnRef } from '../turn/turn.ts';
import { searchAttributes } from '../workflows/messages.ts';

/** Only administrators may delete histories in some installations. Their namespace's retention deletes them. */
const notOurs: (number | undefined)[] = [grpcStatus.permissionDenied, grpcStatus.unimplemented];

/**
 * Deletes all runs of the workflow, and those of the turn's delegates and tools. Returns the number of runs that were found:
 * Temporal deletes them later, and lists them until then.
 */
export function createForgetHistories({ workflow, workflowService, options }: Client, logger: Logger) {
  const { namespace } = options;

  async function deleteRun(workflowId: string, runId?: string): Promise<boolean> {
    try {
      await workflowService.deleteWorkflowExecution({
        namespace,
        workflowExecution: { workflowId, ...(runId !== undefined && { runId }) },
      });
      return true;
    } catch (error) {
      const status = grpcStatusOf(error);
      if (status === grpcStatus.notFound) return false;
      if (!notOurs.includes(status)) throw error;
      logger.warn(
        { workflowId },
        'Temporal does not let us delete histories; its retention deletes this one',
      );
      return false;
    }
  }

  return async (workflowId: string, { turnId }: Pick<TurnRef, 'turnId'>): Promise<number> => {
    let found = (await deleteRun(workflowId)) ? 1 : 0;
    const query = `${searchAttributes.rootTurn.name} = '${turnId}'`;
    for await (const run of workflow.list({ query }))
      if (await deleteRun(run.workflowId, run.runId)) found += 1;
    return found;
  };
}
