/** Finds the workflows of turns. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { searchAttributes } from '../src/workflows/messages.ts';

/** The workflow of the conversation's latest turn, once Temporal lists it. */
export async function workflowOf(client: Client, conversation: string): Promise<WorkflowHandle> {
  const query = `WorkflowType = "agentTurn" and ${searchAttributes.conversation.name} = "${conversation}"`;
  for (;;) {
    let latest: { id: string; startedAt: Date } | undefined;
    for await (const { workflowId: id, startTime: startedAt } of client.workflow.list({ query }))
      if (!id.includes('/agent/') && !(latest && latest.startedAt > startedAt)) latest = { id, startedAt };
    if (latest) return client.workflow.getHandle(latest.id);
  }
}
