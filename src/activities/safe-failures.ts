/**
 * Nothing an activity throws by accident reaches workflow history: errors of drivers, fetch and SDKs carry
 * addresses, headers and bodies. Failures made on purpose pass; everything else is logged here and becomes
 * a failure that says only whether the database could not do its work, which is waited for.
 */
import { CompleteAsyncError } from '@temporalio/activity';
import type { Info } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { ApplicationFailure, ApplicationFailureCategory, TemporalFailure } from '@temporalio/common';
import type { Logger } from 'pino';
import { isDatabaseTrouble } from '../storage/transient-errors.ts';
import { WriteRefused } from '../storage/write-refused.ts';
import { activityFailed, databaseTrouble } from '../turn/failure-types.ts';
import { aboutTurnOf } from '../telemetry/events.ts';

/** A mistake does not go away; what looks like one may. */
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
          const turn = aboutTurnOf(workflowId ?? '');
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

/** The attempts of local activities have no limit of their own, because they wait for the database. */
export function isLastAttempt({ isLocal, attempt, retryPolicy }: Info): boolean {
  const limit = isLocal ? maxLocalAttempts : retryPolicy?.maximumAttempts;
  return limit !== undefined && limit > 0 && attempt >= limit;
}

/** Not logged and not retried: the turn is over, or another attempt continues it. */
function over({ message, name }: WriteRefused): ApplicationFailure {
  const category = ApplicationFailureCategory.BENIGN;
  return ApplicationFailure.create({ type: name, message, nonRetryable: true, category });
}
