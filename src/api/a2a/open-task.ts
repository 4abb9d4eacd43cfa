/** A task with all that is known of it, and where its log is followed from. */
import type { StreamResponse, Task } from '@a2a-js/sdk';
import { TaskState } from '@a2a-js/sdk';
import type { OwnTurn } from '../../service/own-turn.ts';
import type { Service } from '../../service/service.ts';
import { createTaskView, isInterrupted, isTerminal } from '../../a2a/task-view.ts';
import type { TaskView } from '../../a2a/task-view.ts';

export interface OpenTask {
  turn: OwnTurn;
  view: TaskView;
  position: number;
}

/** Null when the turn was withdrawn before it began. */
export async function openTask(
  service: Pick<Service, 'turnSoFar' | 'questionPage'>,
  turn: OwnTurn,
  options: { isStructured: boolean },
): Promise<OpenTask | null> {
  const soFar = await service.turnSoFar(turn);
  if (!soFar) return null;
  const view = createTaskView(soFar, { ...options, pageOf: (id) => service.questionPage(id) });
  view.add(soFar.entries);
  return { turn, view, position: soFar.position };
}

/** The task as soon as it is over or somebody has to act; as it stands when `signal` aborts. */
export async function settledTask(
  service: Pick<Service, 'followTurn'>,
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
 * The task, then what changes, until it is over or comes to take a message to go on. A question that is settled elsewhere
 * leaves the stream open: specification 1.0, section 7.6. `isWatching`: whoever subscribes to a task that takes a message
 * knows that, and is told what becomes of it when somebody else sends it.
 */
export async function* streamTask(
  service: Pick<Service, 'followTurn'>,
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
