/** Resets a workflow, as operators do in Temporal's UI: a new run goes on from one of its workflow tasks. */
import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';

/** The workflow task that is made anew: the first one precedes every question, the latest one follows them. */
export const resetPoints = ['first', 'latest'] as const;
export type ResetPoint = (typeof resetPoints)[number];

export async function resetWorkflow(client: Client, workflowId: string, to: ResetPoint): Promise<void> {
  const workflow = client.workflow.getHandle(workflowId);
  const { runId } = await workflow.describe();
  const { events } = await workflow.fetchHistory();
  const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  const task = to === 'first' ? tasks[0] : tasks.at(-1);
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, runId },
    workflowTaskFinishEventId: task?.eventId ?? null,
    requestId: randomUUID(),
    reason: 'by an operator',
  });
}
