/**
 * Follows a task until it is over or asks something. What counts is the task as it is read; streams only say when to read it.
 * An agent that cannot be reached for a while is waited for: its task goes on without us.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamResponse, Task, TaskStatus } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import { isTerminal } from '../../a2a/task-view.ts';
import { textOf } from '../../a2a/parts.ts';
import { plainLine } from '../../elicitation/plain-text.ts';
import type { CallListener } from '../call-listener.ts';
import { nameOf } from '../server-name.ts';
import type { CallOutcome } from '../tool-call.ts';
import type { ConnectedAgent } from './connect.ts';
import { fingerprintOf, isAsking } from './read-status.ts';
import { isGone, outcomeOfFailure } from './request-failure.ts';

export type Followed =
  | { kind: 'task'; task: Task; status: TaskStatus }
  | { kind: 'outcome'; outcome: CallOutcome };

export interface Following {
  taskId: string;
  /** The question that was answered, or needs no message: the task goes on from it by itself. */
  answered: string | undefined;
  listener: Pick<CallListener, 'onProgress'>;
}

const firstPauseMs = 200;
const longestPauseMs = 5_000;

/** Rejects only when the operation is over. */
export async function followTask(agent: ConnectedAgent, following: Following): Promise<Followed> {
  const signal = signalOf(agent);
  let last = '';
  for (let count = 0; ; count++) {
    const task = await readTask(agent, following.taskId);
    if (task !== null) {
      if ('kind' in task) return task;
      const { status } = task;
      if (status && isNews(status, following)) return { kind: 'task', task, status };
    }
    const heard = agent.isStreaming && task !== null ? await listen(agent, following) : false;
    // An agent whose stream says what its task does not would be asked without a pause.
    const current = JSON.stringify(task);
    const isChanged = heard && current !== last;
    last = current;
    if (isChanged) count = 0;
    else await sleep(Math.min(firstPauseMs * 1.5 ** count, longestPauseMs), undefined, { signal });
  }
}

/** Null when it could not be read this time. */
async function readTask(agent: ConnectedAgent, id: string): Promise<Task | null | Followed> {
  try {
    return await agent.client.getTask({ tenant: '', id, historyLength: 0 }, agent.options);
  } catch (error) {
    signalOf(agent).throwIfAborted();
    if (isGone(error)) {
      const message = `${nameOf(agent.server)} does not know its task any more.`;
      return { kind: 'outcome', outcome: { kind: 'unknown', message } };
    }
    const outcome = outcomeOfFailure(agent, error);
    if (outcome.kind === 'refused' && outcome.otherwise) {
      // The task goes on, whatever the answer means.
      const { message } = outcome.otherwise;
      const otherwise = { kind: 'unknown' as const, message };
      return outcome.status === 400 ? null : { kind: 'outcome', outcome: { ...outcome, otherwise } };
    }
    return outcome.kind === 'refused' || outcome.kind === 'rejected' ? { kind: 'outcome', outcome } : null;
  }
}

/** Whether there is something to be read. False when the agent has nothing to listen to. */
async function listen(agent: ConnectedAgent, following: Following): Promise<boolean> {
  try {
    const stream = agent.client.resubscribeTask({ tenant: '', id: following.taskId }, agent.options);
    return (await readUntilNews(stream, following)) !== null;
  } catch {
    signalOf(agent).throwIfAborted();
    return false;
  }
}

/** The status that is news; null when the stream ended without any. */
export async function readUntilNews(
  stream: AsyncIterable<StreamResponse>,
  following: Pick<Following, 'answered' | 'listener'>,
): Promise<TaskStatus | null> {
  const note = createProgress(following.listener);
  for await (const { payload } of stream) {
    if (payload?.$case !== 'task' && payload?.$case !== 'statusUpdate') continue;
    const { status } = payload.value;
    if (!status) continue;
    if (isNews(status, following)) return status;
    if (status.state === TaskState.TASK_STATE_WORKING) note(status);
  }
  return null;
}

export function isNews(status: TaskStatus, { answered }: Pick<Following, 'answered'>): boolean {
  if (isTerminal(status.state)) return true;
  return isAsking(status) && fingerprintOf(status) !== answered;
}

/** What the agent says of its work, as often as it changes. It has no numbers. */
function createProgress({ onProgress }: Pick<CallListener, 'onProgress'>) {
  let progress = 0;
  let latest = '';
  return ({ message }: TaskStatus) => {
    const words = plainLine((message && textOf(message)) ?? '').slice(0, 200);
    if (words === '' || words === latest) return;
    latest = words;
    onProgress?.({ progress: ++progress, message: words });
  };
}

function signalOf({ options }: ConnectedAgent): AbortSignal {
  return options.signal ?? new AbortController().signal;
}
