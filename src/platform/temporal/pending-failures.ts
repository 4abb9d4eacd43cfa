/**
 * Activities of a running turn that failed and are repeated. Their messages may be shown: activities/safe-failures.ts keeps all
 * others out of history. Calls of an author's code are workflows of their own, which are not read.
 */
import { Client, WorkflowNotFoundError } from '@temporalio/client';
import type { Config } from '../config/config.ts';
import { agentTurnWorkflow } from '../../workflows/messages.ts';
import { connectLazily, withAddress } from './connection.ts';

export interface PendingFailure {
  message: string;
  /** Attempts that have failed. */
  attempts: number;
  /** When the next begins, in epoch milliseconds; null: it has begun. */
  nextAt: number | null;
}

const timeoutMs = 5_000;

/** Null: Temporal does not answer. */
export async function readPendingFailures(
  temporal: Config['temporal'],
  workflowId: string,
): Promise<PendingFailure[] | null> {
  const options = { interceptors: [], connectTimeout: timeoutMs };
  const { connection, close } = connectLazily(withAddress(temporal), options);
  const client = new Client({ connection, namespace: temporal.namespace });
  try {
    return await client.withDeadline(Date.now() + timeoutMs, () => failuresOf(client, workflowId));
  } catch {
    return null;
  } finally {
    await close();
  }
}

/** Also those of delegated agents, whose workflows are children. Empty for a workflow that has not begun, or is lost. */
async function failuresOf(client: Client, workflowId: string): Promise<PendingFailure[]> {
  const described = await client.workflow
    .getHandle(workflowId)
    .describe()
    .catch((error: unknown) => {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    });
  if (described === null) return [];
  const { raw } = described;
  const own = (raw.pendingActivities ?? []).flatMap(
    ({ lastFailure, attempt, nextAttemptScheduleTime: next }): PendingFailure[] => {
      if (!lastFailure) return [];
      const isOurs = Boolean(lastFailure.applicationFailureInfo ?? lastFailure.timeoutFailureInfo);
      return [
        {
          message: (isOurs && lastFailure.message) || 'It failed.',
          attempts: (attempt ?? 1) - 1,
          nextAt: next ? Number(next.seconds) * 1000 + (next.nanos ?? 0) / 1e6 : null,
        },
      ];
    },
  );
  const agents = (raw.pendingChildren ?? []).filter((child) => child.workflowTypeName === agentTurnWorkflow);
  const theirs = agents.map((child) => failuresOf(client, child.workflowId ?? ''));
  return [own, ...(await Promise.all(theirs))].flat();
}
