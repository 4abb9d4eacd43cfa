/**
 * What a tool reports while it runs: lines for the worker's log, its progress, and when each workflow task begins. None of
 * it is part of history, and a replay reports nothing again. Reports arrive even if the task is aborted, so the worker knows
 * which call keeps its thread busy.
 */
import { proxySinks, workflowInfo } from '@temporalio/workflow';
import type { Sink, Sinks, WorkflowInterceptors } from '@temporalio/workflow';
import { readProgress, toJson } from '../../turn/tool-code.ts';
import type { LogLevel, ToolProgress, ToolRunContext } from '../../turn/tool-code.ts';
import type { DurableToolInput } from '../messages.ts';

export interface ToolSinks extends Sinks {
  durableTool: Sink & {
    log(call: DurableToolInput, level: LogLevel, message: string, details: Record<string, unknown>): void;
    progress(call: DurableToolInput, progress: ToolProgress): void;
    /** `atMs`: real time, in epoch milliseconds. */
    taskBegan(atMs: number): void;
  };
}

export function createReports(call: DurableToolInput): Pick<ToolRunContext, 'log' | 'progress'> {
  const { durableTool } = proxySinks<ToolSinks>();
  const at =
    (level: LogLevel) =>
    (message: string, details: Record<string, unknown> = {}): void =>
      durableTool.log(call, level, String(message), asData(details));
  return {
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    progress: (given) => {
      const progress = readProgress(given);
      if (progress) durableTool.progress(call, progress);
    },
  };
}

/** A value that cannot be cloned, such as a function, would crash the worker when it leaves the workflow's thread. */
function asData(details: unknown): Record<string, unknown> {
  const json = toJson(details);
  return json.kind === 'json' ? (json.value as Record<string, unknown>) : { problem: json.problem };
}

/** Every bundle of tools exports this: it reports when each workflow task of a call begins. */
export function interceptors(): WorkflowInterceptors {
  const { durableTool } = proxySinks<ToolSinks>();
  return {
    internals: [
      {
        activate(input, next) {
          durableTool.taskBegan(workflowInfo().unsafe.now());
          next(input);
        },
      },
    ],
  };
}
