/**
 * Keeps accidental errors of activities out of workflow history: errors of drivers, fetch and SDKs contain addresses,
 * headers and bodies. Failures made on purpose pass. Everything else is logged here and becomes a failure that only says
 * whether the database was the reason, because workflows wait for the database.
 */
import { CompleteAsyncError } from '@temporalio/activity';
import type { Info } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { ApplicationFailure, ApplicationFailureCategory, TemporalFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { isDatabaseTrouble } from '../storage/transient-errors.ts';
import { WriteRefused } from '../storage/write-refused.ts';
import { activityFailed, databaseTrouble } from '../turn/step.ts';
import { turnOfWorkflow } from '../turn/turn.ts';

/** A bug fails every time; something that only looks like one may succeed on retry. */
const maxLocalAttempts = 5;

export function safeFailures(logger: Logger): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input);
        } catch (error) {
          if (error instanceof TemporalFailure || error instanceof CompleteAsyncError) throw error;
          if (error instanceof WriteRefused) throw over(error);
          const { activityType, attempt } = info;
          const { workflowId } = info.workflowExecution ?? {};
          const turn = turnOfWorkflow(workflowId ?? '');
          const about = { err: error, ...turn, activity: activityType, attempt, workflowId };
          const message = `${activityType} failed; the worker's log says why.`;
          if (isDatabaseTrouble(error)) {
            logger.warn(about, 'an activity waits for the database');
            throw ApplicationFailure.retryable(message, databaseTrouble);
          }
          const isLast = isLastAttempt(info);
          if (isLast) logger.error(about, 'an activity failed');
          else logger.warn(about, 'an activity failed and is repeated');
          throw ApplicationFailure.create({
            message,
            type: activityFailed,
            nonRetryable: info.isLocal && isLast,
          });
        }
      },
    },
  });
}

/** Local activities have no attempt limit in Temporal, because they wait for the database. */
export function isLastAttempt({ isLocal, attempt, retryPolicy }: Info): boolean {
  const limit = isLocal ? maxLocalAttempts : retryPolicy?.maximumAttempts;
  return limit !== undefined && limit > 0 && attempt >= limit;
}

/** Not logged and not retried: the turn is over, or another attempt continues it. */
function over({ message, name }: WriteRefused): ApplicationFailure {
  const category = ApplicationFailureCategory.BENIGN;
  return ApplicationFailure.create({ type: name, message, nonRetryable: true, category });
}
