/** What an error of Temporal's client says about Temporal. */
import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';

/** gRPC's codes for calls that were given up, took too long, or found nobody. */
const noAnswer = [1, 4, 14];

/** Whether it is Temporal's own trouble; anything else is a bug. */
export function isOfTemporal(error: unknown): boolean {
  return (
    error instanceof ServiceError || error instanceof NamespaceNotFoundError || isGrpcServiceError(error)
  );
}

/** Whether Temporal was there to say what it said. */
export function wasAnswered(error: unknown): boolean {
  if (error instanceof NamespaceNotFoundError) return true;
  const status = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(status) && !noAnswer.includes(Number(status.code));
}
