/** Push notification configs over HTTP+JSON: `tasks/{id}/pushNotificationConfigs[/{config}]`. */
import { ListTaskPushNotificationConfigsResponse, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { decoded } from './rest-call.ts';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';

export interface PushPath {
  taskId: string;
  /** Empty: all of the task. */
  id: string;
}

interface Call {
  handler: A2ARequestHandler;
  context: ServerCallContext;
}

const pattern = /^([^/]+)\/pushNotificationConfigs(?:\/([^/]+))?$/;

/** Of what stands behind `tasks/`; null for the address of anything else. */
export function pushPath(path: string): PushPath | null {
  const [, taskId, id = ''] = pattern.exec(path) ?? [];
  return taskId === undefined ? null : { taskId, id };
}

export async function readPushConfigs({ taskId, id }: PushPath, { handler, context }: Call): Promise<object> {
  if (id !== '')
    return TaskPushNotificationConfig.toJSON(
      await handler.getTaskPushNotificationConfig({ tenant: '', taskId, id }, context),
    ) as object;
  const all = { tenant: '', taskId, pageSize: 0, pageToken: '' };
  const listed = await handler.listTaskPushNotificationConfigs(all, context);
  return ListTaskPushNotificationConfigsResponse.toJSON(listed) as object;
}

export async function createPushConfig(
  { taskId }: PushPath,
  body: unknown,
  { handler, context }: Call,
): Promise<object> {
  const given = decoded(TaskPushNotificationConfig.fromJSON, body);
  const made = await handler.createTaskPushNotificationConfig({ ...given, taskId }, context);
  return TaskPushNotificationConfig.toJSON(made) as object;
}

export async function deletePushConfig(
  { taskId, id }: PushPath,
  { handler, context }: Call,
): Promise<object> {
  await handler.deleteTaskPushNotificationConfig({ tenant: '', taskId, id }, context);
  return {};
}
