/**
 * Nothing an activity throws by accident reaches workflow history: errors of drivers, fetch and SDKs carry
 * addresses, headers and bodies. Failures made on purpose pass; everything else is logged here and becomes
 * one that says nothing but whether it was the database's trouble, which passes.
 */
import { CompleteAsyncError } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { ApplicationFailure, ApplicationFailureCategory, TemporalFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { isDatabaseTrouble } from '../storage/transient-errors.ts';
import { WriteRefused } from '../storage/write-refused.ts';
import { activityFailed, databaseTrouble } from '../turn/failure-types.ts';

/** A mistake does not go away; what looks like one and is not may. */
const maxLocalAttempts = 5;

export function safeFailures(logger: Logger): ActivityInterceptorsFactory {
  return (context) => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          if (error instanceof TemporalFailure || error instanceof CompleteAsyncError) throw error;
          if (error instanceof WriteRefused) throw over(error);
          const { activityType, attempt, isLocal } = context.info;
          const { workflowId } = context.info.workflowExecution ?? {};
          logger.error(
            { err: outline(error), activity: activityType, attempt, workflowId },
            'activity failed',
          );
          const message = `${activityType} failed; the worker's log says why.`;
          if (isDatabaseTrouble(error)) throw ApplicationFailure.retryable(message, databaseTrouble);
          // Other activities are limited by their retry policy; local ones are to outlast the database's trouble.
          const nonRetryable = isLocal && attempt >= maxLocalAttempts;
          throw ApplicationFailure.create({ message, type: activityFailed, nonRetryable });
        }
      },
    },
  });
}

/** Nobody is to read of it or to try again: the turn is over, or goes on elsewhere. */
function over({ message, name }: WriteRefused): ApplicationFailure {
  const category = ApplicationFailureCategory.BENIGN;
  return ApplicationFailure.create({ type: name, message, nonRetryable: true, category });
}

/** Drivers attach the row, the query or the response to their errors; the log gets what names the fault. */
function outline(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack } = error;
  return { type: name, message, stack, ...('code' in error && { code: error.code }) };
}
