/** `tasks/get`, `tasks/update` and `tasks/cancel`, for clients that declare the extension with the request. */
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ClientIdSchema } from '../../../contract/ids.ts';
import type { FoundTurn } from '../../../service/own-turn.ts';
import type { ToolLayer } from '../tools/tool-layer.ts';
import type { Caller } from '../tools/tool.ts';
import { toResponse } from './input-required.ts';
import { keepsTasks, tasksExtension, toTask } from './task.ts';

const TaskParams = z.looseObject({ taskId: z.string() });

/** How long the log is read for what has happened so far. Clients poll. */
const readingMs = 200;
/** More than a turn can have open; each is looked up. */
const mostAnswers = 100;

export function serveTasks(
  server: Server,
  layer: ToolLayer,
  { callerOf, signal }: { callerOf: (ctx: ServerContext) => Caller; signal: AbortSignal },
): void {
  const params = { params: TaskParams };

  server.setRequestHandler('tasks/get', params, async ({ taskId }, ctx) => {
    const caller = callerOf(ctx);
    const { turn, createdAt } = await findTask(layer, caller, taskId, ctx);
    const stage = await layer.follow(turn, { signal, holdMs: readingMs });
    return toTask(turn, createdAt, stage, caller);
  });

  server.setRequestHandler('tasks/update', params, async ({ taskId }, ctx) => {
    const caller = callerOf(ctx);
    const { turn } = await findTask(layer, caller, taskId, ctx);
    const given = Object.entries(ctx.mcpReq.inputResponses ?? {});
    if (given.length > mostAnswers)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Send at most ${mostAnswers} responses at once.`,
      );
    const misfits = await Promise.all(
      given.map(async ([elicitationId, content]) => {
        const response = toResponse(content);
        const verdict = response && (await layer.answer(caller, turn, { elicitationId, response }));
        return verdict?.kind === 'misfit' ? [`${elicitationId}: ${verdict.reasons}`] : [];
      }),
    );
    const reasons = misfits.flat();
    // Not an acknowledgement: what is acknowledged is never asked again under its key.
    if (reasons.length > 0)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `These answers do not fit their questions, which stay open. ${reasons.join(' ')}`,
      );
    return {};
  });

  server.setRequestHandler('tasks/cancel', params, async ({ taskId }, ctx) => {
    const caller = callerOf(ctx);
    const { turn } = await findTask(layer, caller, taskId, ctx);
    await layer.cancel(caller, turn);
    return {};
  });
}

async function findTask(
  layer: ToolLayer,
  caller: Caller,
  taskId: string,
  { mcpReq }: ServerContext,
): Promise<FoundTurn> {
  if (!keepsTasks(mcpReq.envelope))
    throw new MissingRequiredClientCapabilityError({
      requiredCapabilities: { extensions: { [tasksExtension]: {} } },
    });
  const isId = ClientIdSchema.safeParse(taskId).success;
  const found = isId ? await layer.find(caller, { turnId: taskId }) : null;
  if (found) return found;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'You have no task of this id.');
}
