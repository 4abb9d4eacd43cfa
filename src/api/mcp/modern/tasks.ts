/**
 * Turns as tasks of the extension `io.modelcontextprotocol/tasks`, for clients that declare it with the request. The task's id
 * is the turn's, so nothing is stored for it. https://modelcontextprotocol.io/seps/2663
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolErrorCode,
  MissingRequiredClientCapabilityError,
  ProtocolError,
} from '@modelcontextprotocol/server';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ClientIdSchema } from '@interlude-ai/core/contract/http.ts';
import type { FoundTurn } from '../../../service/own-turn.ts';
import type { TurnName } from '../tools/call-result.ts';
import type { CallStage } from '../tools/follow-call.ts';
import { pendingResult } from '../tools/fallback.ts';
import type { Caller, ToolResult } from '../tools/tool.ts';
import { isShowable, toInputRequests, toResponse } from '../tools/questions.ts';
import type { ToolLayer } from '../tools/tool-layer.ts';

export const tasksExtension = 'io.modelcontextprotocol/tasks';

type Task = {
  taskId: string;
  status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  createdAt: string;
  lastUpdatedAt: string;
  /** Kept as long as the conversation. */
  ttlMs: null;
  pollIntervalMs: number;
};

export type CreatedTask = Task & { resultType: 'task' };

const pollIntervalMs = 1_000;

export function keepsTasks(envelope: Record<string, unknown> | undefined): boolean {
  const declared = envelope?.[CLIENT_CAPABILITIES_META_KEY] as { extensions?: object } | undefined;
  return declared?.extensions !== undefined && tasksExtension in declared.extensions;
}

/** Its `createdAt` is now, although the turn may be older. */
export function createdTask(turn: TurnName, at: number): CreatedTask {
  return { resultType: 'task', ...taskOf(turn, { createdAt: at, at, status: 'working' }) };
}

/** The result of `tasks/get`. */
export function toTask(
  turn: TurnName,
  createdAt: number,
  stage: CallStage,
  { shows }: Pick<Caller, 'shows'>,
) {
  const task = (status: Task['status']) => taskOf(turn, { createdAt, at: stage.at, status });
  const completed = (result: object) => ({
    ...task('completed'),
    result: { resultType: 'complete', ...result },
  });
  switch (stage.kind) {
    case 'done':
      if (stage.status === 'cancelled') return task('cancelled');
      if (stage.status === 'failed' && !stage.direct)
        return { ...task('failed'), error: errorOf(stage.result) };
      return completed((stage.direct ?? stage).result);
    case 'asks': {
      const shown = stage.questions.filter(isShowable(shows));
      if (shown.length === 0) return completed(pendingResult(turn, stage.questions));
      return { ...task('input_required'), inputRequests: toInputRequests(shown, new Map()) };
    }
    case 'working':
      return task('working');
    default:
      return stage satisfies never;
  }
}

/** A failed turn has no result, so its text becomes the error. */
function errorOf({ content }: ToolResult) {
  return { code: ProtocolErrorCode.InternalError, message: content[0]?.text ?? 'The turn failed.' };
}

function taskOf(
  { turnId }: TurnName,
  { createdAt, at, status }: { createdAt: number; at: number; status: Task['status'] },
): Task {
  return {
    taskId: turnId,
    status,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(Math.max(createdAt, at)).toISOString(),
    ttlMs: null,
    pollIntervalMs,
  };
}

/** `tasks/get`, `tasks/update` and `tasks/cancel`, for clients that declare the extension with the request. */
const TaskParams = z.looseObject({ taskId: z.string() });

/** How long `tasks/get` reads the log. Clients poll. */
const readingMs = 200;
/** More questions than a turn can have open. */
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
    // An error, because a client never shows an acknowledged question again.
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
