/**
 * Tools whose code never yields, such as an endless loop. The worker cuts such a workflow task off after some seconds, and
 * the server hands it out again and again: the failed task in the history and the number of attempts show it. Code that
 * fills the memory first takes the worker's thread or the process with it: then the task times out.
 */
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client } from '@temporalio/client';

/** Why the workflow was terminated, in its history. */
const reason = 'its code does not give control back';

/** A machine that is short of time may cut off a task that would have come to its end. */
const mostAttempts = 3;
/** A task may be lost because another one took the worker with it; hardly so often in a row. */
const mostLost = 5;

/** Terminates the workflow if it is stuck; resolves to whether it was. Idempotent. */
export async function endIfStuck(client: Client, workflowId: string): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowId);
  const { raw, runId } = await handle.describe();
  const attempt = raw.pendingWorkflowTask?.attempt ?? 0;
  if (attempt < mostAttempts) return false;
  const events = await lastEvents(client, { workflowId, runId }, 5);
  // Words of Node and of the SDK. A task may fail for other reasons, which an operator can mend.
  const failedWith = (words: string) =>
    events.some(({ workflowTaskFailedEventAttributes: failed }) => failed?.failure?.message?.includes(words));
  const isLost =
    failedWith('Workflow Worker Thread exited') ||
    events.some(({ workflowTaskTimedOutEventAttributes: timeout }) => timeout != null);
  if (!failedWith('Script execution timed out') && !(isLost && attempt >= mostLost)) return false;
  await handle.terminate(reason);
  return true;
}

/** Its call was given up before any worker began it: nobody needs the code any more. It may have ended meanwhile. */
export async function endUnbegun(client: Client, workflowId: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).terminate('no worker has begun it');
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}

/** Whether this workflow, which has ended, was ended by `endIfStuck`. */
export async function wasStuck(client: Client, workflowId: string): Promise<boolean> {
  const [last] = await lastEvents(client, { workflowId }, 1);
  return last?.workflowExecutionTerminatedEventAttributes?.reason === reason;
}

async function lastEvents(
  client: Client,
  execution: { workflowId: string; runId?: string },
  maximumPageSize: number,
) {
  const { namespace } = client.options;
  const request = { namespace, execution, maximumPageSize };
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse(request);
  return history?.events ?? [];
}
