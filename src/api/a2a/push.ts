/**
 * Push notification configs of A2A: translates between the SDK's types and the service's. Secrets (`token`, `credentials`) are
 * write-only: they are stored and never returned.
 */
import type { TaskPushNotificationConfig } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import { ClientIdSchema } from '../../contract/ids.ts';
import type { OwnTurn } from '../../service/own-turn.ts';
import type { OwnPush, WantedPush } from '../../service/push-configs.ts';
import type { Service } from '../../service/service.ts';
import { callerOf } from './caller.ts';
import { isLegacy } from './versions.ts';

type PushService = Pick<Service, 'pushes'>;
export type PushMethods = Pick<
  A2ARequestHandler,
  | 'createTaskPushNotificationConfig'
  | 'getTaskPushNotificationConfig'
  | 'listTaskPushNotificationConfigs'
  | 'deleteTaskPushNotificationConfig'
>;

/** `ownTurn`: throws for a task that the caller does not have. */
export function createPushMethods(
  { pushes }: PushService,
  ownTurn: (id: string, context: ServerCallContext) => Promise<OwnTurn>,
): PushMethods {
  return {
    async createTaskPushNotificationConfig(config, context) {
      const turn = await ownTurn(config.taskId, context);
      return keepConfig({ pushes }, turn, config, context);
    },
    async getTaskPushNotificationConfig({ taskId, id }, context) {
      const turn = await ownTurn(taskId, context);
      const { principal } = callerOf(context);
      const found = await pushes.get(principal, turn, idOf({ id }, turn));
      if (!found) throw new TaskNotFoundError(`You have no push notification config ${id} for this task.`);
      return toConfig(found, turn);
    },
    async listTaskPushNotificationConfigs({ taskId }, context) {
      const turn = await ownTurn(taskId, context);
      const found = await pushes.list(callerOf(context).principal, turn);
      return { configs: found.map((push) => toConfig(push, turn)), nextPageToken: '' };
    },
    async deleteTaskPushNotificationConfig({ taskId, id }, context) {
      const turn = await ownTurn(taskId, context);
      await pushes.remove(callerOf(context).principal, turn, idOf({ id }, turn));
    },
  };
}

export async function keepConfig(
  { pushes }: PushService,
  turn: OwnTurn,
  config: TaskPushNotificationConfig,
  context: ServerCallContext,
): Promise<TaskPushNotificationConfig> {
  const { principal, isStructured } = callerOf(context);
  const wanted: WantedPush = {
    id: idOf(config, turn),
    target: targetOf(config),
    wire: isLegacy(context.requestedVersion) ? '0.3' : '1.0',
    isStructured,
  };
  return toConfig(await pushes.put(principal, turn, wanted), turn);
}

/** Called before a message is accepted: no turn starts whose notifications cannot be sent as its sender asked. */
export function checkConfig({ pushes }: PushService, config: TaskPushNotificationConfig | undefined): void {
  if (!config) return;
  if (config.id !== '') checkId(config.id);
  pushes.check(targetOf(config));
}

/** A client with one target per task may leave the id out: it is the task's id then. */
function idOf({ id }: { id: string | undefined }, { turnId }: OwnTurn): string {
  if (id === '' || id === undefined) return turnId;
  checkId(id);
  return id;
}

function checkId(id: string): void {
  if (!ClientIdSchema.safeParse(id).success)
    throw new RequestMalformedError('id: use 1–128 characters of A-Z, a-z, 0-9, ".", "_", ":" and "-".');
}

function targetOf({ url, token, authentication }: TaskPushNotificationConfig): WantedPush['target'] {
  const { scheme = '', credentials = '' } = authentication ?? {};
  // A scheme without credentials: the notification is authorized by the service's own signature, if it has a key.
  return { url, token, authentication: credentials === '' ? null : { scheme, credentials } };
}

function toConfig({ id, url, scheme }: OwnPush, { turnId }: OwnTurn): TaskPushNotificationConfig {
  const authentication = scheme === null ? undefined : { scheme, credentials: '' };
  return { tenant: '', id, taskId: turnId, url, token: '', authentication };
}
