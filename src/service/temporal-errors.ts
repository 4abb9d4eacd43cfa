/** What an error of Temporal's client says about Temporal. */
import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { grpcStatus, grpcStatusOf } from '../temporal/grpc-status.ts';

const { cancelled, deadlineExceeded, unavailable } = grpcStatus;
/** The call was given up, took too long, or found nobody. */
const noAnswer: number[] = [cancelled, deadlineExceeded, unavailable];

/** Whether it is Temporal's own trouble; anything else is a bug. */
export function isOfTemporal(error: unknown): boolean {
  return (
    error instanceof ServiceError || error instanceof NamespaceNotFoundError || isGrpcServiceError(error)
  );
}

/** Whether Temporal was there to say what it said. */
export function wasAnswered(error: unknown): boolean {
  if (error instanceof NamespaceNotFoundError) return true;
  const status = grpcStatusOf(error instanceof ServiceError ? error.cause : error);
  return status !== undefined && !noAnswer.includes(status);
}
