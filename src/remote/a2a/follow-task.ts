/**
 * Follows a task until it ends or asks something. The task as it is read counts; a stream only says when to read it. An
 * agent that cannot be reached is waited for, because its task goes on without us.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { TaskState } from '@a2a-js/sdk';
import type { StreamResponse, Task, TaskStatus } from '@a2a-js/sdk';
import { isTerminal } from '../../api/a2a/vocabulary/task-view.ts';
import { textOf } from '../../api/a2a/vocabulary/parts.ts';
import { plainLine } from '@interlude-ai/core/elicitation/plain-text.ts';
import type { CallListener, CallOutcome, Observation } from '../remote-servers.ts';
import { outcomeWith } from '../network-failure.ts';
import { nameOf } from '../server-name.ts';
import { connectAgent } from './connect.ts';
import type { ConnectedAgent, Target } from './connect.ts';
import { fingerprintOf, isAsking } from './messages.ts';
import { isGone, outcomeOfFailure } from './outcome.ts';
import type { RemoteTask, ServerQuestion } from '@interlude-ai/core/mcp/input-required.ts';

export type Followed =
  | { kind: 'task'; task: Task; status: TaskStatus }
  | { kind: 'outcome'; outcome: CallOutcome };

interface Following {
  taskId: string;
  /** The question that was answered, or that needs no message: it does not count as news. */
  answered: string | undefined;
  listener: Pick<CallListener, 'onProgress'>;
}

const firstPauseMs = 200;
const longestPauseMs = 5_000;

/** Rejects only when the operation's signal aborts. */
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
    // Without a pause between equal reads, an agent whose stream contradicts its task would be polled in a tight loop.
    const current = JSON.stringify(task);
    const isChanged = heard && current !== last;
    last = current;
    if (isChanged) count = 0;
    else await sleep(Math.min(firstPauseMs * 1.5 ** count, longestPauseMs), undefined, { signal });
  }
}

async function readTask(agent: ConnectedAgent, id: string): Promise<Task | null | Followed> {
  try {
    return await agent.client.getTask({ tenant: '', id, historyLength: 0 }, agent.options);
  } catch (error) {
    signalOf(agent).throwIfAborted();
    if (isGone(error)) {
      const server = nameOf(agent.server);
      return { kind: 'outcome', outcome: outcomeWith('unknown', { code: 'task_unknown', server }) };
    }
    const outcome = outcomeOfFailure(agent, error);
    if (outcome.kind === 'refused' && outcome.otherwise) {
      // Reading failed, but the task goes on: whether it ran is unknown.
      const otherwise = { ...outcome.otherwise, kind: 'unknown' as const };
      return outcome.status === 400 ? null : { kind: 'outcome', outcome: { ...outcome, otherwise } };
    }
    return outcome.kind === 'refused' || outcome.kind === 'rejected' ? { kind: 'outcome', outcome } : null;
  }
}

/** Whether the stream had news. False when the agent has no stream. */
async function listen(agent: ConnectedAgent, following: Following): Promise<boolean> {
  try {
    const stream = agent.client.resubscribeTask({ tenant: '', id: following.taskId }, agent.options);
    return (await readUntilNews(stream, following)) !== null;
  } catch {
    signalOf(agent).throwIfAborted();
    return false;
  }
}

/** The first status that is news; null when the stream ends without one. */
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

/** Reports the agent's status messages as progress, each time they change. Agents send no numbers. */
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

const observationTimeoutMs = 10_000;

/** Backoff between observations: most people are done with a page within a minute. A form only changes by a message. */
const firstObservationPauseMs = 1_000;
const longestObservationPauseMs = 15_000;

/** One observation of a task with an open question: whether a login was finished elsewhere, or the question was closed. */
export async function observeTask(
  target: Target,
  task: RemoteTask,
  questions: ServerQuestion[],
  count: number,
): Promise<Observation> {
  const signal = AbortSignal.any([target.signal, AbortSignal.timeout(observationTimeoutMs)]);
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

/** The task ended without what the page was for. */
function isLost(state: TaskState): boolean {
  return (
    state === TaskState.TASK_STATE_CANCELED ||
    state === TaskState.TASK_STATE_FAILED ||
    state === TaskState.TASK_STATE_REJECTED
  );
}

function pauseMs({ asked }: RemoteTask, count: number): number {
  return asked?.mode === 'url'
    ? Math.min(firstObservationPauseMs * 1.3 ** count, longestObservationPauseMs)
    : longestObservationPauseMs;
}

const cancelTimeoutMs = 5_000;

/** Best effort. A task that has ended refuses to be cancelled, which is ignored. */
export async function cancelTask(
  { server, credential, cards }: Pick<Target, 'server' | 'credential' | 'cards'>,
  { taskId }: RemoteTask,
): Promise<void> {
  const signal = AbortSignal.timeout(cancelTimeoutMs);
  const agent = await connectAgent({ server, credential, signal, cards });
  if (agent.kind !== 'connected') return;
  await agent.client.cancelTask({ tenant: '', id: taskId, metadata: undefined }, agent.options);
}
