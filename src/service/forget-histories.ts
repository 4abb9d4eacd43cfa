/** Has Temporal delete the histories of an erased turn. */
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { grpcStatus, grpcStatusOf } from '../platform/temporal/grpc-status.ts';
import type { Mark } from '../storage/schema/question-tables.ts';
import { searchAttributes } from '../workflows/messages.ts';
import { statusOf } from './temporal-errors.ts';

/** Only administrators may delete histories in some installations. Their namespace's retention deletes them. */
const notOurs: (number | undefined)[] = [grpcStatus.permissionDenied, grpcStatus.unimplemented];
/** The same, or the search attributes are missing, or not known to Temporal yet. */
const notListed = [...notOurs, grpcStatus.invalidArgument];
/** Attempts of the outbox in two hours. Then the namespace's retention deletes what could not be listed. */
const mostFailures = 20;

type Forgotten = Pick<Mark & { kind: 'forget' }, 'workflowId' | 'turn' | 'failures'>;

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

  let isWarned = false;
  /** Throws until it has failed too often. */
  function refused(error: unknown, { workflowId, failures }: Forgotten): void {
    const isFinal = failures >= mostFailures;
    if (isFinal || !isWarned)
      logger.warn(
        { err: error, workflowId },
        isFinal
          ? 'Temporal does not list the histories of an erased turn; its retention deletes them'
          : `Temporal refuses to list histories of erased turns. Let this service list workflows of namespace ${namespace}, and see that it has the search attribute ${searchAttributes.rootTurn.name}`,
      );
    isWarned = true;
    if (!isFinal) throw error;
  }

  return async (mark: Forgotten): Promise<number> => {
    const { workflowId, turn } = mark;
    let found = (await deleteRun(workflowId)) ? 1 : 0;
    const query = `${searchAttributes.rootTurn.name} = '${turn.turnId}'`;
    try {
      for await (const run of workflow.list({ query }))
        if (await deleteRun(run.workflowId, run.runId)) found += 1;
    } catch (error) {
      if (!notListed.includes(statusOf(error))) throw error;
      refused(error, mark);
    }
    return found;
  };
}
