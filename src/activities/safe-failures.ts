/**
 * Nothing an activity throws by accident reaches workflow history: errors of drivers, fetch and SDKs carry
 * addresses, headers and bodies. Failures made on purpose pass; everything else is logged here and becomes
 * one that says nothing.
 */
import { CompleteAsyncError } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import type { Logger } from 'pino';

export function safeFailures(logger: Logger): ActivityInterceptorsFactory {
  return (context) => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          if (error instanceof TemporalFailure || error instanceof CompleteAsyncError) throw error;
          const { activityType, attempt } = context.info;
          const { workflowId } = context.info.workflowExecution ?? {};
          logger.error(
            { err: outline(error), activity: activityType, attempt, workflowId },
            'activity failed',
          );
          throw ApplicationFailure.retryable(
            `${activityType} failed; the worker's log says why.`,
            'ActivityFailed',
          );
        }
      },
    },
  });
}

/** Drivers attach the row, the query or the response to their errors; the log gets what names the fault. */
function outline(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  return { type: name, message, stack, ...('code' in error && { code: error.code }) };
}
