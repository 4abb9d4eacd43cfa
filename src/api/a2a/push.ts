/**
 * Push notification configs of A2A: translates between the SDK's types and the service's. Secrets (`token`, `credentials`) are
 * write-only: they are stored and never returned.
 */
import type { TaskPushNotificationConfig, ListTaskPushNotificationConfigsResponse } from '@a2a-js/sdk';
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors';
import type { ServerCallContext } from '@a2a-js/sdk/server';
import { ClientIdSchema } from '@interlude-ai/core/contract/http.ts';
import type { OwnTurn } from '../../service/own-turn.ts';
import type { OwnPush, WantedPush } from '../../service/push-configs.ts';
import type { Service } from '../../service/service.ts';
import { callerOf, isLegacy } from './caller.ts';

export async function putConfig(
  { pushes }: Service,
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

export async function getConfig(
  { pushes }: Service,
  turn: OwnTurn,
  id: string,
  context: ServerCallContext,
): Promise<TaskPushNotificationConfig> {
  const found = await pushes.get(callerOf(context).principal, turn, idOf({ id }, turn));
  if (!found) throw new TaskNotFoundError(`You have no push notification config ${id} for this task.`);
  return toConfig(found, turn);
}

export async function listConfigs(
  { pushes }: Service,
  turn: OwnTurn,
  context: ServerCallContext,
): Promise<ListTaskPushNotificationConfigsResponse> {
  const found = await pushes.list(callerOf(context).principal, turn);
  return { configs: found.map((push) => toConfig(push, turn)), nextPageToken: '' };
}

export async function deleteConfig(
  { pushes }: Service,
  turn: OwnTurn,
  id: string,
  context: ServerCallContext,
): Promise<void> {
  await pushes.remove(callerOf(context).principal, turn, idOf({ id }, turn));
}

/** Called before a message is accepted, so that no turn starts whose notifications could not be sent as asked. */
export function checkConfig({ pushes }: Service, config: TaskPushNotificationConfig | undefined): void {
  if (!config) return;
  if (config.id !== '') checkId(config.id);
  pushes.check(targetOf(config));
}

/** The id is optional: it defaults to the task's. */
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
  // Without credentials the service's own signature authorizes the notification, if it has a key.
  return { url, token, authentication: credentials === '' ? null : { scheme, credentials } };
}

function toConfig({ id, url, scheme }: OwnPush, { turnId }: OwnTurn): TaskPushNotificationConfig {
  const authentication = scheme === null ? undefined : { scheme, credentials: '' };
  return { tenant: '', id, taskId: turnId, url, token: '', authentication };
}
