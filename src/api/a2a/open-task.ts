/** A task, its log read so far, and following it from there. */
import type { StreamResponse, Task } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import type { OwnTurn } from '../../service/own-turn.ts';
import type { Service } from '../../service/service.ts';
import { createTaskView, isInterrupted, isTerminal } from './vocabulary/task-view.ts';
import type { TaskView } from './vocabulary/task-view.ts';

export interface OpenTask {
  turn: OwnTurn;
  view: TaskView;
  position: number;
}

/** Null if the turn was withdrawn before it began. */
export async function openTask(
  service: Service,
  turn: OwnTurn,
  options: { isStructured: boolean },
): Promise<OpenTask | null> {
  const soFar = await service.turnSoFar(turn);
  if (!soFar) return null;
  const view = createTaskView(soFar, { ...options, pageOf: (id) => service.questionPage(id) });
  view.add(soFar.entries);
  return { turn, view, position: soFar.position };
}

/** Waits until the task is over, a person has to act, or `signal` aborts. */
export async function settledTask(
  service: Service,
  { turn, view, position }: OpenTask,
  signal: AbortSignal,
): Promise<Task> {
  const isSettled = () => isTerminal(view.state()) || isInterrupted(view.state());
  if (!isSettled())
    for await (const entries of service.followTurn(turn, { signal, after: position })) {
      view.add(entries);
      if (isSettled()) break;
    }
  return view.task();
}

/**
 * Yields the task, then its changes, until it is over or needs a message. A question that is answered elsewhere leaves the
 * stream open (specification 1.0, section 7.6). `isWatching`: the caller subscribed to a task that already needs a message, and
 * follows what happens when another client sends it.
 */
export async function* streamTask(
  service: Service,
  { turn, view, position }: OpenTask,
  { signal, isWatching = false }: { signal: AbortSignal; isWatching?: boolean },
): AsyncGenerator<StreamResponse, void, undefined> {
  yield { payload: { $case: 'task', value: view.task() } };
  const takesMessage = () => view.state() === TaskState.TASK_STATE_INPUT_REQUIRED;
  const isDone = () => isTerminal(view.state()) || takesMessage();
  if (isTerminal(view.state()) || (takesMessage() && !isWatching)) return;
  for await (const entries of service.followTurn(turn, { signal, after: position })) {
    const changes = view.add(entries);
    yield* changes;
    if (changes.length > 0 && isDone()) return;
  }
}
