/**
 * A turn as a task of the extension `io.modelcontextprotocol/tasks`. The id of the task is the turn's, so that nothing is
 * stored for it and any process knows it. https://modelcontextprotocol.io/seps/2663 Pure.
 */
import { CLIENT_CAPABILITIES_META_KEY, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { TurnRef } from '../../../turn/turn.ts';
import type { CallStage } from '../tools/follow-call.ts';
import { pendingResult } from '../tools/fallback.ts';
import type { Caller, ToolResult } from '../tools/tool.ts';
import { isShowable } from '../tools/showable.ts';
import { toInputRequests } from './input-required.ts';

export const tasksExtension = 'io.modelcontextprotocol/tasks';

type Ids = Pick<TurnRef, 'conversation' | 'turnId'>;

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

/** Begun when it is handed out: the turn may have been at work before. */
export function createdTask(turn: Ids, at: number): CreatedTask {
  return { resultType: 'task', ...taskOf(turn, { createdAt: at, at, status: 'working' }) };
}

/** As `tasks/get` tells it. */
export function toTask(turn: Ids, createdAt: number, stage: CallStage, { shows }: Pick<Caller, 'shows'>) {
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

/** A turn that broke off has no result of its own: its words are those of an error. */
function errorOf({ content }: ToolResult) {
  return { code: ProtocolErrorCode.InternalError, message: content[0]?.text ?? 'The turn failed.' };
}

function taskOf(
  { turnId }: Ids,
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
