/**
 * What a tool reports while it runs: lines for the worker's log, and its progress. Neither is part of history, and a replay
 * reports nothing again.
 */
import { proxySinks } from '@temporalio/workflow';
import type { Sink, Sinks } from '@temporalio/workflow';
import type { DurableToolInput } from '../messages.ts';
import { toJson } from '../../turn/code-result.ts';
import { readProgress } from '../../turn/tool-code.ts';
import type { LogLevel, ToolProgress, ToolRunContext } from '../../turn/tool-code.ts';

export interface ToolSinks extends Sinks {
  durableTool: Sink & {
    log(call: DurableToolInput, level: LogLevel, message: string, details: Record<string, unknown>): void;
    progress(call: DurableToolInput, progress: ToolProgress): void;
    /** At this time by the clock, in milliseconds. */
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

/** What cannot be copied, such as a function, would take the worker down on its way out of the workflow's thread. */
function asData(details: unknown): Record<string, unknown> {
  const json = toJson(details);
  return json.kind === 'json' ? (json.value as Record<string, unknown>) : { problem: json.problem };
}
