/** One poll of a task that has asked: a login that was finished elsewhere, and a question that is not asked any more. */
import { TaskState } from '@a2a-js/sdk';
import type { RemoteTask, ServerQuestion } from '../input-required.ts';
import type { Observation } from '../remote-servers.ts';
import { connectAgent } from './connect.ts';
import type { Target } from './connect.ts';
import { fingerprintOf, isAsking } from './read-status.ts';
import { isGone } from './request-failure.ts';

const timeoutMs = 10_000;

/** Backoff: most people are done with a page within a minute; nothing but a message moves a form on. */
const firstPauseMs = 1_000;
const longestPauseMs = 15_000;

export async function observeTask(
  target: Target,
  task: RemoteTask,
  questions: ServerQuestion[],
  count: number,
): Promise<Observation> {
  const signal = AbortSignal.any([target.signal, AbortSignal.timeout(timeoutMs)]);
  const again = { kind: 'unchanged', againMs: pauseMs(task, count) } as const;
  const agent = await connectAgent({ ...target, signal });
  if (agent.kind !== 'connected') return again;
  const keys = questions.map(({ key }) => key);
  try {
    const { status } = await agent.client.getTask(
      { tenant: '', id: task.taskId, historyLength: 0 },
      agent.options,
    );
    if (status && isAsking(status) && fingerprintOf(status) === task.asked?.fingerprint) return again;
    const isDone = task.asked?.mode === 'url' && status !== undefined && !isLost(status.state);
    return { kind: 'changed', change: isDone ? 'page_done' : 'server_gave_up', keys };
  } catch (error) {
    return isGone(error) ? { kind: 'changed', change: 'server_gone', keys } : again;
  }
}

/** The page cannot have done what it was for. */
function isLost(state: TaskState): boolean {
  return (
    state === TaskState.TASK_STATE_CANCELED ||
    state === TaskState.TASK_STATE_FAILED ||
    state === TaskState.TASK_STATE_REJECTED
  );
}

function pauseMs({ asked }: RemoteTask, count: number): number {
  return asked?.mode === 'url' ? Math.min(firstPauseMs * 1.3 ** count, longestPauseMs) : longestPauseMs;
}
