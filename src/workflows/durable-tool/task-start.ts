/**
 * Reports when each task of a call begins, by the clock: a module of interceptors in every bundle of tools. Reports arrive
 * even when the task is cut off, so the worker learns which call keeps its thread busy.
 */
import { proxySinks, workflowInfo } from '@temporalio/workflow';
import type { WorkflowInterceptors } from '@temporalio/workflow';
import type { ToolSinks } from './sinks.ts';

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
