/**
 * Tools whose code does not give control back, an endless loop say. Temporal's worker stops such a task after five seconds,
 * the server hands it out again, and so on: what says so is the failed task in the history, and the number of attempts.
 */
import type { Client } from '@temporalio/client';

/** A machine that is short of time may stop a task that would have come to its end. */
const mostAttempts = 3;

/** Ends it, if it is one; true then. */
export async function endIfStuck(client: Client, workflowId: string): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowId);
  const { raw, runId } = await handle.describe();
  if ((raw.pendingWorkflowTask?.attempt ?? 0) < mostAttempts) return false;
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 5,
  });
  const failures = history?.events?.map(
    ({ workflowTaskFailedEventAttributes: failed }) => failed?.failure?.message ?? '',
  );
  // Node's words. A task may fail for other reasons, which an operator can mend.
  if (!failures?.some((message) => message.includes('Script execution timed out'))) return false;
  await handle.terminate('its code does not give control back');
  return true;
}
