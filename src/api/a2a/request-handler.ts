/**
 * One agent for the SDK's transports. A task is a turn, a context is a conversation. Nothing is kept here, so any process can
 * answer for any task.
 */
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';
import type { AgentCard, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import {
  ExtendedAgentCardNotConfiguredError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { FastifyBaseLogger } from 'fastify';
import { ClientIdSchema } from '@interlude-ai/core/contract/http.ts';
import type { Service } from '../../service/service.ts';
import { isTerminal } from './vocabulary/task-view.ts';
import { callerOf, keepOutage } from './caller.ts';
import { internalError, isForLater, toA2AError } from './errors.ts';
import { listTasks } from './list-tasks.ts';
import { openTask, settledTask, streamTask } from './open-task.ts';
import type { OpenTask } from './open-task.ts';
import { checkConfig, deleteConfig, getConfig, listConfigs, putConfig } from './push.ts';
import { takeMessage } from './send-message.ts';

/** How long `cancelTask` waits for the task to end. */
const cancelWithinMs = 10_000;

export function createRequestHandler(
  service: Service,
  { agent, card, logger }: { agent: string; card: AgentCard; logger: FastifyBaseLogger },
): A2ARequestHandler {
  async function ownTask(id: string, context: ServerCallContext): Promise<OpenTask> {
    const { principal, isStructured } = callerOf(context);
    if (id.trim() === '') throw new RequestMalformedError('id: send the id of a task.');
    const found = ClientIdSchema.safeParse(id).success
      ? await service.findTurn(principal, { turnId: id })
      : null;
    const task = found?.agent === agent ? await openTask(service, found.turn, { isStructured }) : null;
    if (!task) throw new TaskNotFoundError(`You have no task ${id} with this agent.`);
    return task;
  }

  async function take(params: SendMessageRequest, context: ServerCallContext): Promise<OpenTask> {
    const config = params.configuration?.taskPushNotificationConfig;
    checkConfig(service, config);
    const task = await takeMessage(service, agent, callerOf(context), params);
    if (config) await putConfig(service, task.turn, config, context);
    return task;
  }

  /** Turns errors into those of the protocol; unexpected ones are logged and masked. */
  async function guarded<T>(context: ServerCallContext, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw explained(error, context);
    }
  }

  async function* guardedStream(
    context: ServerCallContext,
    work: () => Promise<AsyncGenerator<StreamResponse, void, undefined>>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      yield* await work();
    } catch (error) {
      throw explained(error, context);
    }
  }

  function explained(error: unknown, context: ServerCallContext): unknown {
    const known = toA2AError(error);
    if (known) return known;
    if (isForLater(error)) {
      keepOutage(context, error);
      return error;
    }
    logger.error({ err: error }, 'an A2A request failed');
    return internalError();
  }

  return {
    getAgentCard: async () => card,
    getAuthenticatedExtendedAgentCard: async () => {
      throw new ExtendedAgentCardNotConfiguredError();
    },
    sendMessage: (params, context) =>
      guarded(context, async () => {
        const caller = callerOf(context);
        const task = await take(params, context);
        const answered = params.configuration?.returnImmediately
          ? task.view.task()
          : await settledTask(service, task, caller.signal);
        return withHistory(answered, params.configuration?.historyLength);
      }),
    sendMessageStream: (params, context) =>
      guardedStream(context, async () => {
        const caller = callerOf(context);
        return streamTask(service, await take(params, context), { signal: caller.signal });
      }),
    getTask: ({ id, historyLength }, context) =>
      guarded(context, async () => withHistory((await ownTask(id, context)).view.task(), historyLength)),
    listTasks: (params, context) =>
      guarded(context, () => listTasks(service, agent, callerOf(context), params)),
    cancelTask: ({ id }, context) =>
      guarded(context, async () => {
        const { principal, signal } = callerOf(context);
        const task = await ownTask(id, context);
        if (isTerminal(task.view.state())) throw new TaskNotCancelableError('The task is over.');
        const { conversation, turnId } = task.turn;
        await service.cancelTurn(principal, { conversation, turnId });
        const until = AbortSignal.any([signal, AbortSignal.timeout(cancelWithinMs)]);
        for await (const entries of service.followTurn(task.turn, { signal: until, after: task.position }))
          task.view.add(entries);
        return task.view.task();
      }),
    resubscribe: ({ id }, context) =>
      guardedStream(context, async () => {
        const task = await ownTask(id, context);
        if (isTerminal(task.view.state()))
          throw new UnsupportedOperationError('The task is over; get it instead.');
        return streamTask(service, task, { signal: callerOf(context).signal, isWatching: true });
      }),
    createTaskPushNotificationConfig: (config, context) =>
      guarded(context, async () =>
        putConfig(service, (await ownTask(config.taskId, context)).turn, config, context),
      ),
    getTaskPushNotificationConfig: ({ taskId, id }, context) =>
      guarded(context, async () => getConfig(service, (await ownTask(taskId, context)).turn, id, context)),
    listTaskPushNotificationConfigs: ({ taskId }, context) =>
      guarded(context, async () => listConfigs(service, (await ownTask(taskId, context)).turn, context)),
    deleteTaskPushNotificationConfig: ({ taskId, id }, context) =>
      guarded(context, async () => deleteConfig(service, (await ownTask(taskId, context)).turn, id, context)),
  };
}

/** Keeps the newest `historyLength` messages; all of them if it is undefined. */
function withHistory(task: Task, historyLength: number | undefined): Task {
  if (historyLength === undefined) return task;
  if (historyLength < 0) throw new RequestMalformedError('historyLength: send 0 or more.');
  return { ...task, history: historyLength === 0 ? [] : task.history.slice(-historyLength) };
}
