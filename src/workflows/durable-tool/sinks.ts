/**
 * What a tool says while it runs and nobody waits for: lines of the worker's log, and how far it has come. Neither is
 * part of history; said again by nobody when the history is replayed.
 */
import { proxySinks } from '@temporalio/workflow';
import type { Sink, Sinks } from '@temporalio/workflow';
import type { DurableToolInput } from '../messages.ts';
import type { LogLevel, ToolProgress, ToolRunContext } from './tool-code.ts';

export interface ToolSinks extends Sinks {
  durableTool: Sink & {
    log(call: DurableToolInput, level: LogLevel, message: string, details: Record<string, unknown>): void;
    progress(call: DurableToolInput, progress: ToolProgress): void;
    /** At this time by the clock, in milliseconds. Code that was bundled before does not say it. */
    taskBegan(atMs: number): void;
  };
}

export function createSayings(call: DurableToolInput): Pick<ToolRunContext, 'log' | 'progress'> {
  const { durableTool } = proxySinks<ToolSinks>();
  const at =
    (level: LogLevel) =>
    (message: string, details: Record<string, unknown> = {}): void =>
      durableTool.log(call, level, String(message), details);
  return {
    log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    progress: (given) => {
      const told = typeof given === 'number' ? { progress: given } : given;
      durableTool.progress(call, told);
    },
  };
}
