/** What an error of Temporal's client says about Temporal. */
import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { grpcStatus, grpcStatusOf } from '../platform/temporal/grpc-status.ts';

const {
  cancelled,
  deadlineExceeded,
  failedPrecondition,
  invalidArgument,
  notFound,
  permissionDenied,
  resourceExhausted,
  unauthenticated,
  unavailable,
  unimplemented,
} = grpcStatus;
/** The call was cancelled, took too long, or did not reach Temporal. */
const noAnswer: number[] = [cancelled, deadlineExceeded, unavailable];
/** The call certainly had no effect. After other errors, such as an internal error of Temporal, that is uncertain. */
const refusals: number[] = [
  invalidArgument,
  notFound,
  permissionDenied,
  resourceExhausted,
  failedPrecondition,
  unimplemented,
  unauthenticated,
];

/** Whether it is an error of Temporal; other errors are bugs. */
export function isOfTemporal(error: unknown): boolean {
  return (
    error instanceof ServiceError || error instanceof NamespaceNotFoundError || isGrpcServiceError(error)
  );
}

/** Whether Temporal itself responded. */
export function wasAnswered(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && !noAnswer.includes(status);
}

/** Whether the error of a call to Temporal says for certain that the call had no effect. */
export function wasRefused(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && refusals.includes(status);
}

export function statusOf(error: unknown): number | undefined {
  if (error instanceof NamespaceNotFoundError) return notFound;
  // Errors of a native connection are instances of `ServiceError` themselves.
  return grpcStatusOf(error) ?? (error instanceof ServiceError ? grpcStatusOf(error.cause) : undefined);
}
