/** `ListTasks`: the caller's tasks with one agent, last changed first. */
import { TaskState } from '@a2a-js/sdk';
import type { ListTasksRequest, ListTasksResponse, Task } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { ClientIdSchema } from '@interlude-ai/core/contract/http.ts';
import type { TurnFilter } from '../../service/own-turn.ts';
import type { Service } from '../../service/service.ts';
import { cursorTo, toCursor } from '../http/cursor.ts';
import type { A2ACaller } from './caller.ts';
import { openTask } from './open-task.ts';

const CursorSchema = cursorTo(z.object({ changedAt: z.int().min(0), turnId: ClientIdSchema }), {
  changedAt: 1_795_219_200_000,
  turnId: '5d1f7a52-0c0e-4f6e-b0a5-6a4c7c1d9e11',
});
const mostTasks = 100;

export async function listTasks(
  service: Service,
  agent: string,
  { principal, isStructured }: A2ACaller & { isStructured: boolean },
  params: ListTasksRequest,
): Promise<ListTasksResponse> {
  const { pageSize = 50, pageToken, historyLength = 0, includeArtifacts = false } = params;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > mostTasks)
    throw new RequestMalformedError(`pageSize: send 1 to ${mostTasks}.`);
  if (historyLength < 0) throw new RequestMalformedError('historyLength: send 0 or more.');
  const cursor = CursorSchema.optional().safeParse(pageToken === '' ? undefined : pageToken);
  if (!cursor.success)
    throw new RequestMalformedError('pageToken: send nextPageToken of the page before, as it was.');
  const filter = { agent, ...filterOf(params) };
  const page = await service.listTurns(principal, filter, { after: cursor.data ?? null, limit: pageSize });
  const tasks: Task[] = [];
  for (const turn of page.turns) {
    const task = (await openTask(service, turn, { isStructured }))?.view.task();
    // The list does not know what a running turn waits for.
    if (!task || !isWanted(params.status, task)) continue;
    tasks.push({
      ...task,
      artifacts: includeArtifacts ? task.artifacts : [],
      history: historyLength === 0 ? [] : task.history.slice(-historyLength),
    });
  }
  return {
    tasks,
    nextPageToken: page.next === null ? '' : toCursor(page.next),
    pageSize,
    totalSize: page.total,
  };
}

function filterOf({ contextId, status, statusTimestampAfter }: ListTasksRequest): Omit<TurnFilter, 'agent'> {
  const since = statusTimestampAfter === undefined ? undefined : Date.parse(statusTimestampAfter);
  if (Number.isNaN(since)) throw new RequestMalformedError('statusTimestampAfter: send a time in ISO 8601.');
  if (contextId !== '' && !ClientIdSchema.safeParse(contextId).success)
    throw new RequestMalformedError('contextId: this is not the id of a context.');
  return {
    ...(contextId !== '' && { conversation: contextId }),
    statuses: statusesOf(status),
    ...(since !== undefined && { since }),
  };
}

function isWanted(wanted: TaskState, { status }: Task): boolean {
  return wanted === TaskState.TASK_STATE_UNSPECIFIED || status?.state === wanted;
}

function statusesOf(state: TaskState): TurnFilter['statuses'] {
  switch (state) {
    case TaskState.TASK_STATE_UNSPECIFIED:
      return undefined;
    case TaskState.TASK_STATE_SUBMITTED:
      return ['starting'];
    case TaskState.TASK_STATE_WORKING:
    case TaskState.TASK_STATE_INPUT_REQUIRED:
    case TaskState.TASK_STATE_AUTH_REQUIRED:
      return ['starting', 'running'];
    case TaskState.TASK_STATE_COMPLETED:
    case TaskState.TASK_STATE_REJECTED:
      return ['completed'];
    case TaskState.TASK_STATE_FAILED:
      return ['failed'];
    case TaskState.TASK_STATE_CANCELED:
      return ['cancelled', 'superseded'];
    case TaskState.UNRECOGNIZED:
      throw new RequestMalformedError('status: this is no state of a task.');
    default:
      return state satisfies never;
  }
}
